package runtimetest_test

import (
	"context"
	"flag"
	"fmt"
	"io"
	"math/rand/v2"
	"net/url"
	"strconv"
	"sync"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"
	clientgo "k8s.io/client-go/tools/cache"

	"github.com/kubewright/kubewright/internal/bubble"
	"github.com/kubewright/kubewright/runtime/runtimetest"
)

var (
	modelSeeds = flag.Int("model.seeds", 100, "how many random walks TestModel makes")
	modelFirst = flag.Int("model.first", 0, "the seed of the first one")
	modelSteps = flag.Int("model.steps", 1000, "how many steps each has")
)

// Whatever happens, in whatever order, the laws of an informer hold after each
// step: see model.check, observer and model.converge.
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

// names is how many objects there can be: few enough that much happens to each.
const names = 8

// state is the version of each object, zero for one that isn't there.
type state [names]int

// write is one write to the server.
type write struct {
	name    int
	deleted bool
	// refused says that the transform fails for this state.
	refused bool
}

// model is a server whose every state is remembered, an informer of it, and its
// handlers.
type model struct {
	t    *testing.T
	seed uint64
	r    *rand.Rand
	step int
	did  string

	// mu guards what handlers and hooks look at while the walk goes on.
	mu     sync.Mutex
	chance *rand.Rand // of writes
	server *runtimetest.ConfigMaps
	first  int // the version of states[0]
	states []state
	// tainted says for each version of which objects the last write was refused.
	tainted  [][names]bool
	writes   []*write // nil where a version is nobody's here
	exists   [names]bool
	bad      [names]bool
	lists    int // requests for lists, streamed ones included
	violated string

	kind     int // of transform
	subject  *subject
	watcher  *observer // the first handler, which never leaves
	resyncer *observer
	others   []*observer
	ticked   bool // a resync was seen
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
	m := &model{t: t, seed: seed, r: rand.New(rand.NewPCG(seed, 11)), chance: rand.New(rand.NewPCG(seed, 12)), server: runtimetest.NewConfigMaps()}
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

// start makes an informer, with its two handlers that stay, and runs it.
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
		if err := m.subject.informer.SetTransform(func(obj any) (any, error) { return f(obj.(*corev1.ConfigMap)) }); err != nil {
			m.t.Fatal(err)
		}
	}
}

var errRefusedState = fmt.Errorf("this state is refused")

// name and number are those of an object.
func name(n int) string { return "o" + strconv.Itoa(n) }

func number(name string) int { n, _ := strconv.Atoi(name[1:]); return n }

// write makes one write to the server. Any goroutine may.
func (m *model) write() {
	m.mu.Lock()
	defer m.mu.Unlock()
	n := m.chance.IntN(names)
	cm := configMap(name(n))
	cm.Labels = map[string]string{"color": []string{"red", "green", "blue"}[m.chance.IntN(3)]}
	w := &write{name: n, refused: m.kind == refuses && m.chance.IntN(12) == 0}
	if w.refused {
		cm.Labels["refused"] = "yes"
	}
	switch {
	case !m.exists[n]:
		m.server.Create(cm)
	case m.chance.IntN(3) == 0:
		// What is deleted is the last state.
		w.deleted, w.refused = true, m.bad[n]
		m.server.Delete("ns", name(n))
	default:
		m.server.Update(cm)
	}
	m.exists[n], m.bad[n] = !w.deleted, w.refused
	next, tainted := m.states[len(m.states)-1], m.tainted[len(m.tainted)-1]
	if next[n] = 0; !w.deleted {
		next[n] = m.first + len(m.states)
	}
	tainted[n] = w.refused
	m.states, m.tainted, m.writes = append(m.states, next), append(m.tainted, tainted), append(m.writes, w)
}

// skip makes a version that is nobody's here.
func (m *model) skip() {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.server.Skip(1)
	last := len(m.states) - 1
	m.states, m.tainted, m.writes = append(m.states, m.states[last]), append(m.tainted, m.tainted[last]), append(m.writes, nil)
}

// failures are what a server answers.
var failures = []error{
	apierrors.NewResourceExpired("too old"), apierrors.NewGone("gone"), apierrors.NewInternalError(io.ErrUnexpectedEOF),
	apierrors.NewTooManyRequests("busy", 0), apierrors.NewUnauthorized("who?"), apierrors.NewForbidden(schema.GroupResource{}, "", nil),
	apierrors.NewNotFound(schema.GroupResource{}, ""), io.ErrUnexpectedEOF,
	&url.Error{Op: "Get", URL: "http://server", Err: syscall.ECONNREFUSED},
}

// act does one thing at random.
func (m *model) act() {
	r := m.r
	say := func(what string, do func()) {
		m.did += what + "; "
		do()
	}
	if r.IntN(3) == 0 {
		// The next thing happens while this one is under way.
		say("a write", m.write)
	}
	switch n := r.IntN(40); {
	case n < 14:
		for range 1 + r.IntN(4) {
			say("a write", m.write)
		}
	case n == 14:
		say("a bookmark", func() { m.skip(); m.server.Bookmark() })
	case n == 15:
		say("a bookmark of no news", m.server.Bookmark)
	case n == 16:
		say("the end of a streamed list", m.endStream)
	case n == 17:
		say("a cut", m.server.CloseWatches)
	case n == 18:
		err := failures[r.IntN(7)].(apierrors.APIStatus)
		say("an error on the watch", func() { m.server.FailWatches(err) })
	case n == 19:
		say("history is gone", func() { m.skip(); m.server.Compact(); m.server.CloseWatches() })
	case n == 20:
		verb := []string{"LIST", "WATCH"}[r.IntN(2)]
		say("a "+verb+" will fail", func() { m.server.Fail(verb, failures[r.IntN(len(failures))]) })
	case n == 21:
		omit := r.IntN(3) == 0
		say(fmt.Sprint("streams without an end ", omit), func() { m.server.OmitEndBookmark(omit) })
	case n == 22:
		say("pages", m.hook)
	case n == 23 && len(m.others) < 6:
		say("a handler", func() { m.others = append(m.others, m.register(time.Duration(r.IntN(3))*20*time.Second, r.IntN(3))) })
	case n == 24 && len(m.others) > 0:
		say("a handler leaves", func() { m.remove(r.IntN(len(m.others))) })
	case n == 25 && len(m.others) > 0:
		say("a handler goes on", func() { m.others[r.IntN(len(m.others))].release() })
	case n == 26 && len(m.others) > 0:
		o := m.others[r.IntN(len(m.others))]
		say("a handler will leave by itself", func() { o.leave.Store(true) })
	case n == 27:
		say("an index", m.subject.addIndex)
	case n == 28 && r.IntN(4) == 0:
		say("a stop and a start", func() { m.stop(); m.start() })
	case n < 33:
		d := time.Duration(r.Int64N(int64(2 * time.Second)))
		say(d.String(), func() { bubble.Pass(d) })
	case n < 36:
		d := time.Duration(r.Int64N(int64(70 * time.Second)))
		say(d.String(), func() { bubble.Pass(d) })
	}
}

// endStream sends the bookmark that ends a streamed list, if one was kept back.
func (m *model) endStream() {
	m.mu.Lock()
	m.lists++
	m.mu.Unlock()
	m.server.EndInitialEvents()
}

// hook decides what happens before requests from now on.
func (m *model) hook() {
	what := m.r.IntN(6)
	m.server.OnRequest(func(_ context.Context, r runtimetest.Request) error {
		m.look()
		if r.Options.Continue == "" && what != 5 {
			return nil
		}
		switch what {
		case 1, 5:
			m.write()
		case 2:
			m.skip()
			m.server.Compact()
		case 3:
			return failures[2]
		case 4:
			return failures[0]
		}
		return nil
	})
}

// register adds a handler.
func (m *model) register(resync time.Duration, manner int) *observer {
	o := newObserver(m, manner)
	if m.watcher != nil {
		// It may be in a call at the moment.
		m.watcher.mu.Lock()
		o.from = len(m.watcher.log)
		m.watcher.mu.Unlock()
	}
	registration, err := m.subject.informer.AddEventHandlerWithOptions(o, clientgo.HandlerOptions{ResyncPeriod: &resync})
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

// stop ends the informer and checks what holds afterwards.
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
		m.fail("an informer that has stopped says that it hasn't")
	}
	if _, err := m.subject.informer.AddEventHandler(newObserver(m, 0)); err == nil {
		m.fail("an informer that has stopped takes a handler")
	}
	m.look()
	m.watcher = nil
}
