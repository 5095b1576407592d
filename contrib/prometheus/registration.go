package kwprometheus

import (
	"runtime"
	"sync"
)

// registration registers the metrics of a provider when they are first asked
// for. One that panicked is tried again the next time: sync.Once would take it
// for done.
type registration struct {
	// ahead is held while client-go goes ahead, mu guards the rest.
	ahead, mu sync.Mutex
	done      bool
}

// ensure registers unless that has been done. Before that it lets client-go
// register its own: component-base does so when client-go makes its first queue
// or store with a name, and panics if something of its metrics' names is there
// by then.
//
// Making client-go do that can come back here, when the provider is client-go's
// too. Then there is nobody to go ahead.
func (r *registration) ensure(clientGo, register func()) {
	if !r.isDone() && !isAhead() {
		r.ahead.Lock()
		defer r.ahead.Unlock()
		if !r.isDone() {
			goAhead(clientGo)
		}
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if !r.done {
		register()
		r.done = true
	}
}

func (r *registration) isDone() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.done
}

// goAhead is what isAhead looks for.
//
//go:noinline
func goAhead(clientGo func()) { clientGo() }

// isAhead tells whether this goroutine is in a goAhead.
func isAhead() bool {
	callers := make([]uintptr, 64)
	frames := runtime.CallersFrames(callers[:runtime.Callers(1, callers)])
	for {
		frame, more := frames.Next()
		if frame.Function == "github.com/kubewright/kubewright/contrib/prometheus.goAhead" {
			return true
		}
		if !more {
			return false
		}
	}
}
