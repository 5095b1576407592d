package informer_test

import (
	"context"
	"fmt"
	"maps"
	"math/rand/v2"
	"strconv"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"k8s.io/client-go/tools/cache"

	"github.com/kubewright/kubewright/internal/bubble"
	"github.com/kubewright/kubewright/internal/guarantee"
	gen "github.com/kubewright/kubewright/runtime/gen/informer"
	"github.com/kubewright/kubewright/runtime/informer"
)

// TestEveryChangeOnceInOrder does everything that an informer allows, randomly and concurrently, and checks
// that each handler receives every change once and in order.
func TestEveryChangeOnceInOrder(t *testing.T) {
	for seed := range uint64(25) {
		t.Run(fmt.Sprint("seed", seed), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) { randomWalk(t, rand.New(rand.NewPCG(seed, 2))) })
		})
	}
}

func randomWalk(t *testing.T, r *rand.Rand) {
	s := newServer()
	i := s.ours(gen.Options{ResyncPeriod: time.Duration(r.IntN(3)) * 10 * time.Second})
	type handler struct {
		*model
		// remove ends the delivery and waits for it.
		remove    func()
		hasSynced func() bool
	}
	var handlers []*handler
	var loops sync.WaitGroup
	register := func() {
		slowest := time.Duration(1)
		if r.IntN(2) == 0 {
			slowest = 300 * time.Millisecond
		}
		// This source is separate, since the handler uses it on another goroutine.
		pauses := rand.New(rand.NewPCG(r.Uint64(), 3))
		m := newModel(t, i, func() { bubble.Pass(time.Duration(pauses.Int64N(int64(slowest)))) })
		var registration cache.ResourceEventHandlerRegistration
		var err error
		h := &handler{model: m}
		switch r.IntN(3) {
		case 0:
			registration, err = i.AddTypedEventHandler(m)
		case 1:
			m.latest = true
			registration, err = i.Core().AddEventHandler(m,
				informer.HandlerOptions{Coalesce: true, ContainPanics: r.IntN(2) == 0})
		default:
			ctx, cancel := context.WithCancel(t.Context())
			ended := make(chan struct{})
			loops.Go(func() {
				defer close(ended)
				for event := range i.Core().Events(ctx) {
					m.follow(event)
				}
			})
			synctest.Wait()
			h.remove = func() { cancel(); <-ended }
			h.hasSynced = func() bool { return m.synced }
		}
		if err != nil {
			t.Fatal(err)
		}
		if registration != nil {
			h.hasSynced = registration.HasSynced
			h.remove = func() {
				if err := i.RemoveEventHandler(registration); err != nil {
					t.Fatal(err)
				}
				<-registration.(interface{ ShutdownChan() <-chan struct{} }).ShutdownChan()
			}
		}
		handlers = append(handlers, h)
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
			h.remove()
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
		t.Errorf("%s: the store has %v, the server %v", guarantee.Converging, stored, want)
	}
	stop()
	loops.Wait()
	for n, h := range handlers {
		if h.removed.Load() {
			continue
		}
		if !maps.Equal(h.objects, want) {
			t.Errorf("%s: handler %d has %v, the server %v", guarantee.Converging, n, h.objects, want)
		}
		if !h.hasSynced() {
			t.Errorf("%s: handler %d hasn't synced", guarantee.SyncedMeansDelivered, n)
		}
	}
}

// TestJoiningWhileEverythingRuns adds handlers while the server changes, on the real clock: the snapshot that
// a handler receives has to fit the changes that follow.
func TestJoiningWhileEverythingRuns(t *testing.T) {
	const rounds, handlers, changes = 20, 10, 500
	for range rounds {
		s := newServer()
		i := s.ours(gen.Options{})
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
				t.Errorf("%s: a handler has %v, the server %v", guarantee.Converging, m.objects, want)
			}
		}
		stop()
	}
}

// finite is a model that ends when it has received the object "last".
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
