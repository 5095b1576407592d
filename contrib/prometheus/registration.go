package kwprometheus

import (
	"runtime"
	"sync"
)

// registration registers the metrics of a provider when they are first needed. After a
// panic it tries again the next time, which sync.Once wouldn't.
type registration struct {
	// ahead is held while client-go registers first. mu guards the rest.
	ahead, mu sync.Mutex
	done      bool
}

// ensure calls register unless it has succeeded before. First it calls clientGo, which makes
// client-go create a queue or store with a name: component-base registers its metrics at the
// first of these, and panics if metrics of the same names are registered.
//
// If the provider is client-go's, too, clientGo calls ensure again, on the same goroutine.
// That call registers at once.
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

// goAhead calls clientGo. isAhead looks for it on the stack.
//
//go:noinline
func goAhead(clientGo func()) { clientGo() }

// isAhead reports whether this goroutine is in goAhead.
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
