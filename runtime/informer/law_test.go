package informer_test

import (
	"context"
	"fmt"
	"maps"
	"math/rand/v2"
	"strconv"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"k8s.io/client-go/tools/cache"

	"github.com/kubewright/kubewright/internal/bubble"
	"github.com/kubewright/kubewright/runtime/informer"
)

// model is a handler that follows the changes in a map and complains about the
// first one that doesn't fit: a change that was missed, repeated or reordered.
type model struct {
	t     *testing.T
	store *informer.Indexer[cache.ObjectName, any]
	// pause lets a call take its time.
	pause func()

	inside  atomic.Int32
	removed atomic.Bool
	// objects are the versions by name.
	objects map[string]string
	initial bool
	// latest says that the handler is told of the latest states only: what it
	// knew of an object that is gone may not be the last that was known.
	latest bool
	// synced says that a loop has come to the end of the initial list.
	synced bool
}

func newModel(t *testing.T, i made, pause func()) *model {
	return &model{t: t, store: i.GetIndexer().(*informer.Indexer[cache.ObjectName, any]), pause: pause, objects: map[string]string{}, initial: true}
}

// enter checks what holds for every call and returns what ends it.
func (m *model) enter(obj *configMap, gone bool) func() {
	if m.inside.Add(1) != 1 {
		m.t.Error("two calls of one handler at the same time")
	}
	if m.removed.Load() {
		m.t.Error("a call after the removal")
	}
	if stored, version, ok := m.store.Store().Lookup(cache.MetaObjectToName(obj)); ok && !gone && versionOf(stored.(*configMap)) < versionOf(obj) {
		m.t.Errorf("%s was reported while the store was at %s", describe(obj), version)
	}
	m.pause()
	return func() { m.inside.Add(-1) }
}

func (m *model) OnAdd(obj *configMap, initial bool) {
	defer m.enter(obj, false)()
	if old, ok := m.objects[obj.Name]; ok {
		m.t.Errorf("%s was added, it was there at %s", describe(obj), old)
	}
	if initial && !m.initial {
		m.t.Errorf("%s belongs to the initial list, which was over", describe(obj))
	}
	m.initial = initial
	m.objects[obj.Name] = obj.ResourceVersion
}

func (m *model) OnUpdate(oldObj, newObj *configMap) {
	defer m.enter(newObj, false)()
	if old := m.objects[newObj.Name]; old != oldObj.ResourceVersion {
		m.t.Errorf("%s was updated to %s, it was at %q", describe(oldObj), newObj.ResourceVersion, old)
	}
	if versionOf(newObj) < versionOf(oldObj) {
		m.t.Errorf("%s went back to %s", describe(oldObj), newObj.ResourceVersion)
	}
	m.initial = false
	m.objects[newObj.Name] = newObj.ResourceVersion
}

func (m *model) OnDelete(gone cache.DeletedObject[*configMap]) {
	defer m.enter(gone.OptionalObj, true)()
	name := gone.GetName()
	old, ok := m.objects[name]
	if !ok {
		m.t.Errorf("%s was deleted, it wasn't there", gone.GetKey())
	}
	if !m.latest && gone.FinalStateUnknown != nil && gone.OptionalObj.ResourceVersion != old {
		m.t.Errorf("%s is the last known state of %s, which was at %s", describe(gone.OptionalObj), gone.GetKey(), old)
	}
	m.initial = false
	delete(m.objects, name)
}

// direct is a model as a handler of the typed core.
type direct struct{ *model }

func (d direct) OnDelete(gone informer.Deleted[cache.ObjectName, *configMap]) {
	deleted := cache.DeletedObject[*configMap]{OptionalObj: gone.Object}
	if gone.Missed {
		deleted.FinalStateUnknown = &cache.DeletedFinalStateUnknown{Key: gone.Key.String(), Obj: gone.Object}
	}
	d.model.OnDelete(deleted)
}

// follow is a loop over events as a handler.
func (d direct) follow(event informer.Event[*configMap]) {
	switch event.Type {
	case informer.Added:
		d.OnAdd(event.Object, event.Initial)
	case informer.Updated:
		d.OnUpdate(event.Old, event.Object)
	case informer.Removed:
		key := cache.MetaObjectToName(event.Object)
		d.OnDelete(informer.Deleted[cache.ObjectName, *configMap]{Object: event.Object, Missed: event.Missed, Key: key})
	case informer.Synced:
		if d.synced {
			d.t.Error("the end of the initial list came twice")
		}
		d.synced = true
	}
}

// TestEveryChangeOnceInOrder does everything that an informer allows, at
// random and at once, and checks each handler's view of it.
func TestEveryChangeOnceInOrder(t *testing.T) {
	for seed := range uint64(25) {
		t.Run(fmt.Sprint("seed", seed), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) { randomWalk(t, rand.New(rand.NewPCG(seed, 2))) })
		})
	}
}

func randomWalk(t *testing.T, r *rand.Rand) {
	s := newServer()
	i := s.ours(informer.Options{ResyncPeriod: time.Duration(r.IntN(3)) * 10 * time.Second})
	type handler struct {
		*model
		registration cache.ResourceEventHandlerRegistration
	}
	var handlers []*handler
	var loops sync.WaitGroup
	register := func() {
		slowest := time.Duration(1)
		if r.IntN(2) == 0 {
			slowest = 300 * time.Millisecond
		}
		// A source of its own: the handler uses it on another goroutine.
		pauses := rand.New(rand.NewPCG(r.Uint64(), 3))
		m := newModel(t, i, func() { bubble.Pass(time.Duration(pauses.Int64N(int64(slowest)))) })
		var registration cache.ResourceEventHandlerRegistration
		var err error
		switch r.IntN(3) {
		case 0:
			registration, err = i.AddTypedEventHandler(m)
		case 1:
			m.latest = true
			registration, err = i.Core().AddHandler(direct{m}, informer.HandlerOptions{Coalesce: true, ContainPanics: r.IntN(2) == 0})
		default:
			loops.Go(func() {
				for event := range i.Core().Events(t.Context()) {
					direct{m}.follow(event)
				}
			})
			synctest.Wait()
			all := i.Core().Handlers()
			registration = all[len(all)-1]
		}
		if err != nil {
			t.Fatal(err)
		}
		handlers = append(handlers, &handler{m, registration})
	}
	change := func() {
		name := strconv.Itoa(r.IntN(20))
		if r.IntN(3) == 0 {
			s.remove(name)
		} else {
			s.put(name)
		}
	}
	for range r.IntN(3) {
		register()
	}
	for range r.IntN(30) {
		change()
	}
	stop := run(i)
	for range 300 {
		switch n := r.IntN(40); {
		case n < 30:
			change()
		case n < 32:
			register()
		case n < 34 && len(handlers) > 0:
			h := handlers[r.IntN(len(handlers))]
			if err := i.RemoveEventHandler(h.registration); err != nil {
				t.Fatal(err)
			}
			<-h.registration.(interface{ ShutdownChan() <-chan struct{} }).ShutdownChan()
			h.removed.Store(true)
		case n == 34:
			s.cut()
		case n == 35:
			s.expire()
		case n == 36:
			s.forget(func() { change(); change() })
		case n == 37:
			s.bookmark()
		default:
			bubble.Pass(time.Duration(r.Int64N(int64(20 * time.Second))))
		}
	}
	// No back-off and no backlog lasts that long.
	bubble.Pass(10 * time.Minute)
	want := s.state()
	stored := map[string]string{}
	for _, obj := range i.Core().List() {
		stored[obj.Name] = obj.ResourceVersion
	}
	if !maps.Equal(stored, want) {
		t.Errorf("the store has %v, the server %v", stored, want)
	}
	stop()
	loops.Wait()
	for n, h := range handlers {
		if h.removed.Load() {
			continue
		}
		if !maps.Equal(h.objects, want) {
			t.Errorf("handler %d has %v, the server %v", n, h.objects, want)
		}
		if !h.registration.HasSynced() {
			t.Errorf("handler %d hasn't synced", n)
		}
	}
}

// TestJoiningWhileEverythingRuns registers handlers while the server changes,
// on the real clock: what joins has to fit to what follows.
func TestJoiningWhileEverythingRuns(t *testing.T) {
	const rounds, handlers, changes = 20, 10, 500
	for range rounds {
		s := newServer()
		i := s.ours(informer.Options{})
		stop := run(i)
		changed := make(chan struct{})
		go func() {
			defer close(changed)
			for n := range changes {
				if name := strconv.Itoa(n % 30); n%7 == 0 {
					s.remove(name)
				} else {
					s.put(name)
				}
			}
		}()
		var models []*finite
		for range handlers {
			m := &finite{model: newModel(t, i, func() {}), last: make(chan struct{})}
			models = append(models, m)
			if _, err := i.AddTypedEventHandler(m); err != nil {
				t.Fatal(err)
			}
		}
		<-changed
		s.put("last")
		for _, m := range models {
			<-m.last
			if want := s.state(); !maps.Equal(m.objects, want) {
				t.Errorf("a handler has %v, the server %v", m.objects, want)
			}
		}
		stop()
	}
}

// finite is a model that is told when it has seen the object "last".
type finite struct {
	*model
	last chan struct{}
}

func (f *finite) OnAdd(obj *configMap, initial bool) {
	f.model.OnAdd(obj, initial)
	if obj.Name == "last" {
		close(f.last)
	}
}

// TestBacklog blocks one handler: another one goes on, and the backlog is what
// the blocked one has not been given.
func TestBacklog(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newServer()
		i := s.ours(informer.Options{})
		gate := make(chan struct{})
		blocked := &recorder{before: func(string) { <-gate }}
		free := &recorder{}
		backlogs := map[*recorder]func() int{}
		for _, handler := range []*recorder{blocked, free} {
			r, err := i.AddEventHandler(handler)
			if err != nil {
				t.Fatal(err)
			}
			backlogs[handler] = r.(interface{ Backlog() int }).Backlog
		}
		stop := run(i)
		const changes = 1500
		for n := range changes {
			s.put(strconv.Itoa(n))
		}
		synctest.Wait()
		if n := len(free.take()); n != changes {
			t.Errorf("the free handler was called %d times", n)
		}
		if n := backlogs[free](); n != 0 {
			t.Errorf("the free handler's backlog is %d", n)
		}
		for called := range 3 {
			// One call is under way.
			if n := backlogs[blocked](); n != changes-called-1 {
				t.Errorf("after %d calls the backlog is %d", called, n)
			}
			gate <- struct{}{}
			synctest.Wait()
		}
		late := &recorder{before: func(string) { <-gate }}
		r, err := i.AddEventHandler(late)
		if err != nil {
			t.Fatal(err)
		}
		synctest.Wait()
		s.put("one more")
		synctest.Wait()
		if n := r.(interface{ Backlog() int }).Backlog(); n != changes {
			t.Errorf("a late handler's backlog is %d", n)
		}
		close(gate)
		synctest.Wait()
		if n := len(late.take()); n != changes+1 {
			t.Errorf("the late handler was called %d times", n)
		}
		stop()
	})
}

// TestStopDropsTheBacklog: a stop waits for the call that is under way only.
func TestStopDropsTheBacklog(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newServer()
		i := s.ours(informer.Options{})
		handler := &recorder{before: func(string) { bubble.Pass(time.Second) }}
		if _, err := i.AddEventHandler(handler); err != nil {
			t.Fatal(err)
		}
		for n := range 10 {
			s.put(strconv.Itoa(n))
		}
		ctx, cancel := context.WithTimeout(t.Context(), 2500*time.Millisecond)
		defer cancel()
		start := time.Now()
		i.RunWithContext(ctx)
		if took := time.Since(start); took != 3*time.Second {
			t.Errorf("Run returned after %v", took)
		}
		if n := len(handler.take()); n != 3 {
			t.Errorf("%d calls", n)
		}
	})
}
