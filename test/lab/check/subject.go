package check

import (
	"context"
	"fmt"
	"strconv"
	"time"

	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/cache"

	"github.com/kubewright/kubewright/test/lab/cluster"
)

// subject is an informer whose laws are checked, with its handlers.
type subject struct {
	*built
	world   *world
	number  int
	kind    *cluster.Kind
	options options
	scope   scope
	cancel  context.CancelFunc

	// twins are a typed and an untyped handler. They are added together, before the start, and stay.
	twins [2]*observer
	// observers are all that are registered, the twins included.
	observers []*observer
	handlers  int
	delivered delivered
	// version is the last LastSyncResourceVersion. synced is set once the informer has synced.
	version int64
	synced  bool
	// left means that a namespace has left the set.
	left bool
}

func (s *subject) String() string {
	return fmt.Sprintf("informer %d of %s", s.number, s.kind.Resource)
}

// watch makes an informer with the twins and starts it.
func (w *world) watch(o options, seed uint64) {
	w.made++
	k := w.cluster.Kinds()[o.kind]
	s := &subject{world: w, number: w.made, kind: k, options: o, scope: o.scope()}
	config := rest.CopyConfig(w.proxy.Config())
	config.UserAgent, config.WarningHandler = s.client(), rest.NoWarnings{}
	config.Timeout = o.timeout
	config.Transport = &meter{subject: s, next: w.proxy}
	b, err := w.implementation.make(types[k.Resource], w, config, k, o)
	if err == nil && o.transform {
		err = b.informer.SetTransform(w.transformOf(o))
	}
	if err != nil {
		w.fail(works, "%v is made: %v", s, err)
		return
	}
	s.built = b
	for i := range s.twins {
		s.twins[i] = s.register(handlerOptions{typed: i == 0, resync: o.resync}, seed)
	}
	var ctx context.Context
	ctx, s.cancel = context.WithCancel(w.ctx)
	s.start(ctx)
	w.subjects = append(w.subjects, s)
}

// client returns the name of the informer in the proxy's requests.
func (s *subject) client() string { return fmt.Sprintf("i%d", s.number) }

// register adds a handler. It returns nil if that fails.
func (s *subject) register(o handlerOptions, seed uint64) *observer {
	if s.set != nil && (o.manner == slow || o.manner == blocked) {
		// Handlers of a set are called under a mutex. While a goroutine waits for a mutex, the clock of a bubble
		// stands still.
		o.manner = quick
	}
	s.handlers++
	b := newObserver(s, s.handlers, o, seed)
	registration, err := s.handle(b)
	if err != nil {
		s.world.fail(works, "%v is added: %v", b, err)
		return nil
	}
	b.registration = registration
	s.observers = append(s.observers, b)
	return b
}

// remove removes a handler other than the twins, and waits until its calls are over.
func (s *subject) remove(i int) {
	b := s.observers[i]
	s.observers = append(s.observers[:i:i], s.observers[i+1:]...)
	b.release()
	if err := s.informer.RemoveEventHandler(b.registration); err != nil {
		s.world.fail(works, "%v is removed: %v", b, err)
	}
	if r, ok := b.registration.(interface{ ShutdownChan() <-chan struct{} }); ok {
		if !arrives(r.ShutdownChan()) {
			s.world.fail(Hangs, "%v was removed, and its calls don't end", b)
		}
		b.gone.Store(true)
	}
	s.complain(b)
}

// untilStopped is how long a stop may take: the longest call of a handler, and the pause after its panic.
const untilStopped = 2 * time.Second

// end stops the informer and waits for its end.
func (s *subject) end() {
	for _, b := range s.observers {
		b.release()
	}
	since := time.Now()
	s.cancel()
	over := make(chan struct{})
	go func() {
		defer close(over)
		s.stop()
	}()
	if !arrives(over) {
		s.world.fail(Hangs, "%v was stopped, and it doesn't end:\n%s", s, bubbleStacks())
		return
	}
	if took := time.Since(since); took > untilStopped {
		s.world.fail(Hangs, "%v takes %v to stop", s, took)
	}
	for _, b := range s.observers {
		b.gone.Store(true)
		s.complain(b)
	}
	if !s.informer.IsStopped() && s.set == nil {
		s.world.fail(saysStopped, "%v has stopped, and says that it hasn't", s)
	}
	s.look("after its end")
}

// arrives reports whether a channel is closed within a day.
func arrives(c <-chan struct{}) bool {
	select {
	case <-c:
		return true
	case <-time.After(24 * time.Hour):
		return false
	}
}

// wanted returns what the informer should hold for a state of its type.
func (s *subject) wanted(state cluster.State) map[cache.ObjectName]cluster.Object {
	in := func(namespace string) bool { return s.options.namespace == "" || s.options.namespace == namespace }
	if s.built != nil && s.set != nil {
		names := map[string]bool{}
		for _, name := range s.set.Names() {
			names[name] = true
		}
		in = func(namespace string) bool { return names[namespace] }
	}
	wanted := map[cache.ObjectName]cluster.Object{}
	for name, obj := range state {
		if in(name.Namespace) && s.scope.includes(obj) {
			wanted[name] = obj
		}
	}
	return wanted
}

// contents returns the version and the contents of the store. If the informer has no snapshots, call it only
// while all goroutines wait.
func (s *subject) contents() (string, map[cache.ObjectName]cluster.Object) {
	if s.snapshot != nil {
		return s.snapshot()
	}
	objects := map[cache.ObjectName]cluster.Object{}
	for _, obj := range s.informer.GetStore().List() {
		o := obj.(cluster.Object)
		objects[cache.MetaObjectToName(o)] = o
	}
	return s.informer.LastSyncResourceVersion(), objects
}

// look checks that a snapshot is what the server had. It is safe for concurrent use.
func (s *subject) look(when string) {
	if s.snapshot != nil && !s.world.wrong {
		version, objects := s.snapshot()
		s.compare(when, version, objects)
	}
}

// compare checks the contents of a store at a version.
func (s *subject) compare(when, version string, got map[cache.ObjectName]cluster.Object) {
	if version == "" {
		if len(got) > 0 {
			s.world.law(shows, "%v %s: without a version it has %s", s, when, show(got))
		}
		return
	}
	state, known := s.kind.At(version)
	if !known {
		s.world.law(shows, "%v %s: it is at %s, which the server never was", s, when, version)
		return
	}
	want := s.wanted(state)
	same := len(got) == len(want)
	for name, obj := range want {
		same = same && got[name] != nil && got[name].GetResourceVersion() == obj.GetResourceVersion()
	}
	if !same {
		s.world.law(shows, "%v %s: at %s it has [%s], the server had [%s]", s, when, version, show(got),
			show(want))
	}
}

func show(objects map[cache.ObjectName]cluster.Object) string {
	var all []cluster.Object
	for _, obj := range objects {
		all = append(all, obj)
	}
	return names(all)
}

// number parses a version. It returns 0 if there is none.
func number(version string) int64 {
	v, _ := strconv.ParseInt(version, 10, 64)
	return v
}
