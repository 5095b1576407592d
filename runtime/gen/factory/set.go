package factory

import (
	"context"
	"errors"
	"maps"
	"slices"
	"sync"
	"time"

	utilruntime "k8s.io/apimachinery/pkg/util/runtime"
	"k8s.io/client-go/tools/cache"
	"k8s.io/klog/v2"

	"github.com/kubewright/kubewright/runtime/informer"
	"github.com/kubewright/kubewright/runtime/internal/unwrap"
)

// Set keeps one informer for each key, starts informers, waits for their first sync and shuts them down
// together. A [Factory] has a Set by Go type. Package runtime/factory accepts any factory that embeds the
// [Handle] of a set.
//
// All methods are safe for concurrent use. The zero Set is ready for use.
type Set[K comparable] struct {
	// mu guards the fields below. No function of OnCreate is called, and no informer waited for, under it.
	mu        sync.Mutex
	informers map[K]*entry
	// identities are the identities in metrics of released informers. The next
	// informer of the key takes the identity over.
	identities map[K]func() cache.InformerNameAndResource
	// configuration is nil if the informers have the default options.
	configuration *configuration
	// stopping is set by Shutdown. No informer is started after that.
	stopping bool
	// running has the informers that were started and have not returned; returned counts them.
	running  map[*entry]struct{}
	returned sync.WaitGroup
}

// identified is an informer that has an identity in metrics, like those of package informer.
type identified interface {
	Identity() func() cache.InformerNameAndResource
	SetIdentity(func() cache.InformerNameAndResource)
}

// entry is an informer of a set.
type entry struct {
	informer cache.SharedIndexInformer
	// isSetUp is set once the functions of OnCreate have returned. The informer runs after that.
	isSetUp, started bool
	// ctx is the informer's context, and stop ends it. Both are nil before the start.
	ctx  context.Context
	stop context.CancelFunc
	// holds counts the users.
	holds int
}

// Handle returns the handle that a generated factory embeds.
func (s *Set[K]) Handle() Handle { return Handle{s} }

// Get returns the informer of a key. The first call for a key makes it by make,
// which must not call back into the set. Later calls return the same informer and
// ignore make, even while the functions of OnCreate run: these may call the set. Get does not start the
// informer.
func (s *Set[K]) Get(key K, make func() cache.SharedIndexInformer) cache.SharedIndexInformer {
	e, setUps := s.enter(key, make)
	if setUps == nil {
		return e.informer
	}
	panics := true
	defer func() { s.finishSetUp(key, e, panics) }()
	for _, setUp := range setUps {
		if err := setUp(e.informer); err != nil {
			utilruntime.HandleErrorWithContext(context.Background(), err,
				"Setting up an informer failed", "informer", nameOf(e.informer))
		}
	}
	panics = false
	return e.informer
}

// finishSetUp records that a new informer is set up. If that has panicked, the set forgets the informer; if
// it was started meanwhile and the set was shut down, nobody will run it.
func (s *Set[K]) finishSetUp(key K, e *entry, panics bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	e.isSetUp = !panics
	if panics && s.informers[key] == e {
		delete(s.informers, key)
	}
	if s.run(e); e.started && (panics || s.stopping) {
		e.stop()
		discard(e.informer)
	}
}

// enter returns the entry of a key. If it is new, setUps has what is to be called with its informer.
func (s *Set[K]) enter(key K, make func() cache.SharedIndexInformer) (
	e *entry, setUps []func(cache.SharedIndexInformer) error,
) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if e, ok := s.informers[key]; ok {
		return e, nil
	}
	e = &entry{informer: make()}
	if identity := s.identities[key]; identity != nil {
		if successor, ok := unwrap.As[identified](e.informer); ok {
			successor.SetIdentity(identity)
		}
		if again, ok := unwrap.As[interface{ ListNewest() }](e.informer); ok {
			again.ListNewest() // What was seen of the released informer must not go back in time.
		}
	}
	if s.informers == nil {
		s.informers, s.running = map[K]*entry{}, map[*entry]struct{}{}
	}
	s.informers[key] = e
	if s.configuration != nil {
		setUps = s.configuration.setUps(e.informer)
	}
	e.isSetUp = len(setUps) == 0
	return e, setUps
}

// StartWithContext starts every informer that this set has not started before, each on a goroutine of its
// own, and returns at once. They run until ctx is done. Call it again after requesting more informers. After
// Shutdown it does nothing.
func (s *Set[K]) StartWithContext(ctx context.Context) {
	s.mu.Lock()
	defer s.mu.Unlock()

	if s.stopping {
		return
	}
	if s.configuration != nil {
		s.configuration.logUnmatched(ctx)
	}
	for _, e := range s.informers {
		if !e.started {
			e.started = true
			e.ctx, e.stop = context.WithCancel(ctx)
			s.run(e)
		}
	}
}

// run runs an informer on a goroutine, once it is started and set up. The caller holds mu.
func (s *Set[K]) run(e *entry) {
	if !e.started || !e.isSetUp || s.stopping {
		return
	}
	s.running[e] = struct{}{}
	s.returned.Go(func() {
		defer s.ended(e)
		e.informer.RunWithContext(e.ctx)
	})
}

func (s *Set[K]) ended(e *entry) {
	e.stop()
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.running, e)
}

// WaitForCacheSync blocks, without polling, until every informer that was started before the call has synced
// or stopped, or ctx is done. The result reports for each whether it has synced. It doesn't wait for
// handlers: use their registration's HasSyncedChecker.
func (s *Set[K]) WaitForCacheSync(ctx context.Context) map[K]bool {
	informers := s.started()
	for _, i := range informers {
		var ended <-chan struct{}
		if e, ok := unwrap.As[interface{ Ended() <-chan struct{} }](i); ok {
			ended = e.Ended()
		}
		select {
		case <-i.HasSyncedChecker().Done():
		case <-ended:
		case <-ctx.Done():
			// The loop no longer blocks. The informers' states are read below.
		}
	}
	synced := make(map[K]bool, len(informers))
	for key, i := range informers {
		synced[key] = i.HasSynced()
	}
	return synced
}

// started returns the informers that this set has started.
func (s *Set[K]) started() map[K]cache.SharedIndexInformer {
	s.mu.Lock()
	defer s.mu.Unlock()

	informers := make(map[K]cache.SharedIndexInformer, len(s.informers))
	for key, e := range s.informers {
		if e.started {
			informers[key] = e.informer
		}
	}
	return informers
}

// Shutdown waits until every started informer has returned, and starts no more. It doesn't
// stop informers: end the context that they were started with, before or during the call. Informers wait for
// their handlers and other callbacks, so Shutdown doesn't return in one. After 10 s a log line names the
// handlers that it waits for.
func (s *Set[K]) Shutdown() {
	s.mu.Lock()
	s.stopping = true
	s.mu.Unlock()
	_, idle := s.Informers()
	for _, i := range idle {
		discard(i)
	}

	defer time.AfterFunc(patience, s.logRunning).Stop()
	s.returned.Wait()
}

// patience is how long Shutdown waits for informers before it is logged.
const patience = 10 * time.Second

// logRunning logs the informers that have not returned, with the handlers that they may wait for.
func (s *Set[K]) logRunning() {
	s.mu.Lock()
	running := slices.Collect(maps.Keys(s.running))
	s.mu.Unlock()
	for _, e := range running {
		var handlers []string
		if ours, ok := unwrap.As[interface{ CalledHandlers() []string }](e.informer); ok {
			handlers = ours.CalledHandlers()
		}
		klog.Background().Info("Shutdown still waits for an informer", "informer", nameOf(e.informer),
			"handlers", handlers)
	}
}

// Informers is a method of [Owner].
func (s *Set[K]) Informers() (started, others []cache.SharedIndexInformer) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, e := range s.informers {
		if e.started {
			started = append(started, e.informer)
		} else {
			others = append(others, e.informer)
		}
	}
	return started, others
}

var errNotOfFactory = errors.New("the informer is not of this factory, or was released")

// find returns the entry of an informer. The caller holds mu.
func (s *Set[K]) find(i cache.SharedInformer) (key K, e *entry, err error) {
	for key, e = range s.informers {
		if unwrap.Same(e.informer, i) {
			return key, e, nil
		}
	}
	return key, nil, errNotOfFactory
}

// Retain is a method of [Owner].
func (s *Set[K]) Retain(i cache.SharedInformer) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	_, e, err := s.find(i)
	if err == nil {
		e.holds++
	}
	return err
}

// Release is a method of [Owner].
func (s *Set[K]) Release(i cache.SharedInformer) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	key, e, err := s.find(i)
	if err != nil {
		return err
	}
	if e.holds--; e.holds > 0 {
		return nil
	}
	delete(s.informers, key)
	if released, ok := unwrap.As[identified](i); ok {
		if s.identities == nil {
			s.identities = map[K]func() cache.InformerNameAndResource{}
		}
		s.identities[key] = released.Identity()
	}
	if e.started {
		e.stop()
	} else {
		discard(i)
	}
	return nil
}

// discard stops an informer that nobody will start, if it is one of package informer.
func discard(i cache.SharedInformer) {
	if idle, ok := unwrap.As[interface{ Discard() }](i); ok {
		idle.Discard()
	}
}

func nameOf(i cache.SharedInformer) string {
	status, _ := informer.StatusOf(i)
	return status.Name
}
