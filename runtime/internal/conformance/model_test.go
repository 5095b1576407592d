package conformance_test

import (
	"context"
	"flag"
	"fmt"
	"math/rand/v2"
	"strconv"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	corev1 "k8s.io/api/core/v1"
	clientgo "k8s.io/client-go/tools/cache"

	"github.com/kubewright/kubewright/internal/guarantee"
	"github.com/kubewright/kubewright/runtime/internal/conformance"
	"github.com/kubewright/kubewright/runtime/runtimetest"
)

var (
	modelSeeds = flag.Int("model.seeds", 10, "how many random walks TestModel makes")
	modelFirst = flag.Int("model.first", 0, "the seed of the first one")
	modelSteps = flag.Int("model.steps", 1000, "how many steps each has")
)

// TestModel performs random actions in random order and checks the laws of an informer after each: see
// model.check, observer and model.converge.
func TestModel(t *testing.T) {
	for seed := *modelFirst; seed < *modelFirst+*modelSeeds; seed++ {
		t.Run(fmt.Sprint("seed ", seed), func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				m := newModel(t, uint64(seed))
				for step := range *modelSteps {
					m.step, m.did = step, ""
					m.act()
					m.check()
				}
				m.converge()
				m.stop()
			})
		})
	}
}

// names is the number of objects: few, so that each changes often.
const names = 8

// state has the version of each object, or zero for an object that doesn't exist.
type state [names]int

// write is one write to the server.
type write struct {
	name    int
	deleted bool
	// refused is set if the transform fails for this state.
	refused bool
}

// model is a server, of which it remembers every state, with an informer and its handlers.
type model struct {
	t    *testing.T
	seed uint64
	r    *rand.Rand
	step int
	did  string

	// mu guards the fields that handlers and hooks use while the walk continues.
	mu     sync.Mutex
	chance *rand.Rand // decides writes
	server *conformance.ConfigMaps
	first  int // the version of states[0]
	states []state
	// tainted has, for each version, the objects whose last write the transform rejected.
	tainted  [][names]bool
	writes   []*write // nil for a version without a write
	exists   [names]bool
	bad      [names]bool
	lists    int // number of requests for lists, streamed ones included
	violated string

	kind     int // the kind of transform
	subject  *subject
	watcher  *observer // the first handler, which never leaves
	resyncer *observer
	others   []*observer
	ticked   bool // set when a resync was seen
	period   time.Duration
	cancel   context.CancelFunc
	over     chan struct{}

	lastVersion int
	checked     checked
	held        func() state
	heldState   state
}

// The kinds of transforms.
const (
	noTransform = iota
	dropsVersions
	refuses
	kinds
)

func newModel(t *testing.T, seed uint64) *model {
	m := &model{t: t, seed: seed, r: rand.New(rand.NewPCG(seed, 11)), chance: rand.New(rand.NewPCG(seed, 12)),
		server: conformance.NewConfigMaps()}
	m.first, _ = strconv.Atoi(m.server.Version())
	m.states, m.tainted, m.writes = make([]state, 1), make([][names]bool, 1), make([]*write, 1)
	m.kind = m.r.IntN(kinds)
	m.server.MaxPage(int64(m.r.IntN(4)))
	switch m.r.IntN(4) {
	case 0:
		m.server.NoWatchList()
	case 1:
		m.server.NoWatchListClient()
	}
	m.server.Observe(func(r runtimetest.Request) {
		if r.Verb == "LIST" || r.Options.SendInitialEvents != nil {
			m.mu.Lock()
			defer m.mu.Unlock()
			m.lists++
		}
	})
	for range m.r.IntN(8) {
		m.write()
	}
	m.start()
	return m
}

// start makes an informer with the two handlers that stay, and runs it.
func (m *model) start() {
	m.period = time.Duration(m.r.IntN(3)) * 20 * time.Second
	if m.subject = newTyped(m.server, m.period); m.r.IntN(2) == 0 {
		m.subject = newUntyped(m.server, m.period)
	}
	m.transform()
	m.ticked, m.others, m.lastVersion, m.held, m.checked = false, nil, 0, nil, checked{}
	m.watcher = m.register(0, 0)
	m.resyncer = m.register(m.period, 0)
	var ctx context.Context
	ctx, m.cancel = context.WithCancel(m.t.Context())
	m.over = make(chan struct{})
	go func() {
		defer close(m.over)
		m.subject.informer.RunWithContext(ctx)
	}()
}

func (m *model) transform() {
	transforms := map[int]func(*corev1.ConfigMap) (any, error){
		dropsVersions: func(cm *corev1.ConfigMap) (any, error) {
			if cm.ResourceVersion != "" {
				cm.Data = map[string]string{"version": cm.ResourceVersion}
			}
			cm.ResourceVersion = ""
			return cm, nil
		},
		refuses: func(cm *corev1.ConfigMap) (any, error) {
			if cm.Labels["refused"] != "" {
				return nil, errRefusedState
			}
			return cm, nil
		},
	}
	if f := transforms[m.kind]; f != nil {
		if err := m.subject.informer.SetTransform(
			func(obj any) (any, error) { return f(obj.(*corev1.ConfigMap)) },
		); err != nil {
			m.t.Fatal(err)
		}
	}
}

var errRefusedState = fmt.Errorf("this state is refused")

// name returns the name of an object, number the number of a name.
func name(n int) string { return "o" + strconv.Itoa(n) }

func number(name string) int { n, _ := strconv.Atoi(name[1:]); return n }

// register adds a handler.
func (m *model) register(resync time.Duration, manner int) *observer {
	o := newObserver(m, manner)
	if m.watcher != nil {
		// The watcher may be in a call at the moment.
		m.watcher.mu.Lock()
		o.from = len(m.watcher.log)
		m.watcher.mu.Unlock()
	}
	registration, err := m.subject.informer.AddEventHandlerWithOptions(
		o, clientgo.HandlerOptions{ResyncPeriod: &resync})
	if err != nil {
		m.t.Fatal(err)
	}
	o.registration.Store(&registration)
	return o
}

func (m *model) remove(i int) {
	o := m.others[i]
	m.others = append(m.others[:i], m.others[i+1:]...)
	if err := m.subject.informer.RemoveEventHandler(*o.registration.Load()); err != nil {
		m.t.Fatal(err)
	}
	o.release()
	<-(*o.registration.Load()).(interface{ ShutdownChan() <-chan struct{} }).ShutdownChan()
	o.gone.Store(true)
}

// stop stops the informer and checks the laws that hold afterwards.
func (m *model) stop() {
	m.cancel()
	for _, o := range m.others {
		o.release()
	}
	<-m.over
	all := append([]*observer{m.watcher, m.resyncer}, m.others...)
	for _, o := range all {
		o.gone.Store(true)
	}
	if !m.subject.informer.IsStopped() {
		m.fail(guarantee.NoLeak, "an informer that has stopped says that it hasn't")
	}
	if _, err := m.subject.informer.AddEventHandler(newObserver(m, 0)); err == nil {
		m.fail(guarantee.NoLeak, "an informer that has stopped takes a handler")
	}
	m.look()
	m.watcher = nil
}
