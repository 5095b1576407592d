package kwctrl

import (
	"cmp"
	"runtime"
	"slices"
	"sync"
	"weak"

	toolscache "k8s.io/client-go/tools/cache"
)

// informers are the informers of Caches. It keeps those that run. To the others it has weak pointers, because
// nothing tells it that a cache won't run an informer any more.
type informers struct {
	mu sync.Mutex
	// count is how many were made: they are listed in this order.
	count   int
	idle    map[weak.Pointer[identified]]struct{}
	running map[*identified]struct{}
}

// started is set once any informer of a cache runs. An informer of it that doesn't run by then was removed
// before the start.
type started bool

// add adds an informer, which doesn't run yet.
func (all *informers) add(i *identified) {
	idle := weak.Make(i)
	runtime.AddCleanup(i, all.forget, idle)
	all.mu.Lock()
	defer all.mu.Unlock()
	i.number = all.count
	all.count++
	if all.idle == nil {
		all.idle, all.running = map[weak.Pointer[identified]]struct{}{}, map[*identified]struct{}{}
	}
	all.idle[idle] = struct{}{}
}

func (all *informers) forget(idle weak.Pointer[identified]) {
	all.mu.Lock()
	defer all.mu.Unlock()
	delete(all.idle, idle)
}

// run calls run, which runs an informer, and keeps the informer meanwhile. A second call for an informer
// only calls run.
func (all *informers) run(i *identified, run func()) {
	if all.markRunning(i) {
		defer all.markStopped(i)
	}
	run()
}

// markRunning records that an informer runs, and reports whether it hasn't run before.
func (all *informers) markRunning(i *identified) bool {
	all.mu.Lock()
	defer all.mu.Unlock()
	idle := weak.Make(i)
	if _, ok := all.idle[idle]; !ok {
		return false
	}
	delete(all.idle, idle)
	all.running[i] = struct{}{}
	*i.cacheStarted = true
	return true
}

func (all *informers) markStopped(i *identified) {
	all.mu.Lock()
	defer all.mu.Unlock()
	delete(all.running, i)
}

// now returns the informers that run, and those of caches that haven't started, in the order in which they
// were made.
func (all *informers) now() (list []toolscache.SharedInformer) {
	all.mu.Lock()
	defer all.mu.Unlock()
	for i := range all.running {
		if !i.IsStopped() { // It may still wait for its handlers.
			list = append(list, i)
		}
	}
	for idle := range all.idle {
		if i := idle.Value(); i != nil && !bool(*i.cacheStarted) {
			list = append(list, i)
		}
	}
	slices.SortFunc(list, func(a, b toolscache.SharedInformer) int {
		return cmp.Compare(a.(*identified).number, b.(*identified).number)
	})
	return list
}
