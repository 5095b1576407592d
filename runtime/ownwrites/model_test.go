package ownwrites_test

import (
	"bytes"
	"context"
	"errors"
	"flag"
	"fmt"
	"math/rand/v2"
	"net/http"
	"strconv"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/tools/cache"
	"k8s.io/client-go/util/workqueue"

	"github.com/kubewright/kubewright/internal/bubble"
	"github.com/kubewright/kubewright/runtime/informer"
	"github.com/kubewright/kubewright/runtime/ownwrites"
	"github.com/kubewright/kubewright/runtime/queue"
	own "github.com/kubewright/kubewright/runtime/workqueue"
)

var (
	modelSeeds = flag.Int("model.seeds", 12, "how many seeds the model runs of each kind of round")
	modelFirst = flag.Uint64("model.first", 0, "the first seed of the model")
)

// round is a kind of history.
type round struct {
	// loses: answers are lost. lags: caches are behind for longer than the bound. relists: watches end, and the
	// server forgets its history. restores: the server's data goes back. selects: an informer has selectors.
	// stops: an informer stops.
	loses, lags, relists, restores, selects, stops bool
}

// TestModel runs random histories: keys and others write objects, and caches show that late. No reconcile
// starts on a cache without the writes of its key, except those that are counted, and no addition is lost.
func TestModel(t *testing.T) {
	for name, kind := range map[string]round{
		"plain": {}, "relists": {relists: true}, "lost answers": {loses: true}, "long lags": {lags: true},
		"restores": {restores: true}, "selectors": {selects: true}, "a stop": {stops: true},
		"all": {true, true, true, true, true, true},
	} {
		t.Run(name, func(t *testing.T) {
			seeds := *modelSeeds
			if testing.Short() {
				seeds = min(seeds, 4)
			}
			for n := range uint64(seeds) {
				seed := *modelFirst + n
				synctest.Test(t, func(t *testing.T) {
					m := newModel(t, kind, seed)
					m.run()
					if t.Failed() {
						t.Fatalf("seed %d, with -model.seeds 1 -model.first %[1]d", seed)
					}
				})
				if t.Failed() {
					return
				}
			}
		})
	}
}

// model is one history.
type model struct {
	*testing.T
	dice
	kind    round
	tracker *ownwrites.Tracker
	queue   *queue.Queue[string]
	client  *http.Client
	api     *api
	caches  []*cached
	counts  counts
	keys    []*keyModel
	mu      sync.Mutex
	// stale are the starts on caches that lacked a write. unseen counts those that may lack it, see check.
	stale  []string
	unseen int
	epoch  int
	runs   int
	// quiet is set when nobody writes any more.
	quiet atomic.Bool
}

type cached struct {
	informer mapInformer
	lag      *lagging
	stop     func()
	stopped  bool
	selects  bool
	// noticed is when the model saw that the cache shows the data of a restored server.
	noticed time.Time
}

// isRestored reports whether a cache showed the data of the restored server before now.
func (c *cached) isRestored() bool {
	if c.noticed.IsZero() && c.version() < 100_000 {
		c.noticed = time.Now()
	}
	return !c.noticed.IsZero() && c.noticed.Before(time.Now())
}

func (c *cached) version() int {
	status, _ := informer.StatusOf(c.informer)
	version, _ := strconv.Atoi(status.ResourceVersion)
	return version
}

// keyModel is what the model knows of a key.
type keyModel struct {
	name           string
	added, started int
	writes         []ownWrite
	running        bool
}

// ownWrite is a write whose answer the key has received.
type ownWrite struct {
	name, version string
	deleted       types.UID
	epoch         int
	labelled      bool
	// seen says which caches showed the object when the answer came. created means that the key had
	// created it just before.
	seen    []bool
	created bool
}

// unchecked is the epoch of writes between the restore of the server and the moment when all caches show it:
// their versions may be lower than those of the caches.
const unchecked = -1

// writesIn returns the epoch of a write.
func (m *model) writesIn() int {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.epoch > 0 {
		for _, c := range m.caches {
			if !c.stopped && !c.isRestored() {
				return unchecked
			}
		}
	}
	return m.epoch
}

func newModel(t *testing.T, kind round, seed uint64) *model {
	m := &model{T: t, kind: kind, dice: dice{random: rand.New(rand.NewPCG(seed, 99))}}
	s := newServer()
	s.Skip(100_000)
	m.api = &api{server: s, edits: []edit{m.answer}}
	var log bytes.Buffer
	logger := newLogger(&log)
	m.tracker = ownwrites.New(ownwrites.Options{
		Metrics: m.counts.metrics(), Logger: &logger, SkipEchoes: seed%2 == 1,
	})
	for n := range 2 {
		c := &cached{lag: newLagging(s)}
		c.lag.delay = m.lag
		if n == 1 && kind.selects {
			c.selects = true
			c.informer = newInformer(c.lag, withLabels("a"))
		} else {
			c.informer = newInformer(c.lag)
		}
		m.caches = append(m.caches, c)
		if err := m.tracker.Add(c.informer); err != nil {
			t.Fatal(err)
		}
	}
	m.queue = ownwrites.NewQueue(m.tracker, queue.Config[string]{
		Limiter: workqueue.NewTypedItemExponentialFailureRateLimiter[string](time.Millisecond, time.Second),
	})
	m.client = &http.Client{Transport: m.tracker.Transport(m.api)}
	for n := range 2 + m.n(30) {
		m.keys = append(m.keys, &keyModel{name: fmt.Sprint("k", n)})
	}
	return m
}

// dice are random numbers for several goroutines.
type dice struct {
	rolling sync.Mutex
	random  *rand.Rand
}

// n returns a random number below limit.
func (d *dice) n(limit int) int {
	d.rolling.Lock()
	defer d.rolling.Unlock()
	return d.random.IntN(limit)
}

// chance returns true once in so many calls.
func (d *dice) chance(one int) bool { return d.n(one) == 0 }

// lag is how long an event is held up.
func (m *model) lag() time.Duration {
	if m.kind.lags && m.chance(300) {
		return 20 * time.Second
	}
	if m.chance(3) {
		return 0
	}
	return time.Duration(m.n(50)) * time.Millisecond
}

// answer loses answers, and lets events come first.
func (m *model) answer(resp *http.Response) (*http.Response, error) {
	if m.chance(2) {
		bubble.Pass(time.Duration(m.n(100)) * time.Millisecond)
	}
	if !m.kind.loses || !m.chance(4) {
		return resp, nil
	}
	switch m.n(3) {
	case 0:
		return nil, errors.New("the connection was reset")
	case 1:
		return answer(http.StatusServiceUnavailable, metav1.Status{Status: metav1.StatusFailure}), nil
	}
	return cut(resp, m.n(300)), nil
}

func (m *model) run() {
	for _, c := range m.caches {
		c.stop = start(m.T, c.informer)
		coalesce := m.chance(2)
		_, err := informer.AddEventHandler(c.informer, cache.ResourceEventHandlerDetailedFuncs{
			AddFunc:    func(obj any, _ bool) { m.notified(obj) },
			UpdateFunc: func(_, obj any) { m.notified(obj) },
			DeleteFunc: m.notified,
		}, informer.HandlerOptions{Coalesce: coalesce})
		if err != nil {
			m.Fatal(err)
		}
	}
	synctest.Wait()
	ctx, cancel := context.WithCancel(context.Background())
	var running, acting sync.WaitGroup
	running.Go(func() {
		if err := own.Run(ctx, m.queue, 64, m.reconcile, own.WithErrorHandler(
			func(context.Context, any, error) {})); err != nil {
			m.Error(err)
		}
	})
	for range 3 {
		acting.Go(m.others)
	}
	acting.Go(m.disturb)
	acting.Wait()
	m.quiet.Store(true)
	bubble.Pass(4 * time.Minute)
	m.api.direct(func(s *server) { s.Bookmark() }) // Real servers send one about every minute.
	bubble.Pass(time.Minute)
	m.settled()
	cancel()
	running.Wait()
	m.queue.ShutDown()
	for _, c := range m.caches {
		c.stop()
	}
}

// notified adds the key of an object.
func (m *model) notified(obj any) {
	if gone, ok := obj.(cache.DeletedFinalStateUnknown); ok {
		obj = gone.Obj
	}
	if m.chance(3) {
		bubble.Pass(time.Duration(m.n(30)) * time.Millisecond)
	}
	m.add(obj.(*corev1.ConfigMap).Annotations["key"])
}

func (m *model) add(key string) {
	for _, k := range m.keys {
		if k.name == key {
			m.mu.Lock()
			k.added++
			m.mu.Unlock()
			m.queue.Add(key)
		}
	}
}

// others write without a key, and add keys.
func (m *model) others() {
	for range 60 {
		bubble.Pass(time.Duration(m.n(200)) * time.Millisecond)
		k := m.keys[m.n(len(m.keys))]
		switch m.n(4) {
		case 0:
			m.add(k.name)
		default:
			m.api.direct(func(s *server) {
				name := m.nameFor(k)
				_, exists := s.Find("shop", name)
				switch {
				case !exists:
					s.Create(m.object(k, name))
				case m.chance(3):
					s.Delete("shop", name)
					if m.chance(2) {
						s.Create(m.object(k, name))
					}
				default:
					s.Update(m.object(k, name))
				}
			})
		}
	}
}

// nameFor returns the name of an object that k writes: its own, or a shared one.
func (m *model) nameFor(k *keyModel) string {
	if m.chance(4) {
		return fmt.Sprint("shared-", m.n(2))
	}
	return fmt.Sprint(k.name, "-", m.n(3))
}

func (m *model) object(k *keyModel, name string) *corev1.ConfigMap {
	obj := configMap(name, []string{"a", "b"}[m.n(2)])
	obj.Annotations = map[string]string{"key": k.name}
	return obj
}

// direct calls do with the server's lock.
func (a *api) direct(do func(*server)) {
	a.mu.Lock()
	defer a.mu.Unlock()
	do(a.server)
}

// disturb ends watches, restores the server, and stops an informer.
func (m *model) disturb() {
	for n := range 12 {
		bubble.Pass(time.Duration(m.n(1500)) * time.Millisecond)
		if m.kind.relists {
			m.api.direct(func(s *server) {
				if m.chance(2) {
					s.Compact()
				}
				s.CloseWatches()
			})
		}
		if m.kind.restores && n == 6 {
			m.restore()
		}
		if m.kind.stops && n == 6 {
			m.caches[1].stopNow(m)
		}
		if m.kind.selects {
			m.api.direct(func(s *server) { s.Bookmark() })
		}
	}
}

func (c *cached) stopNow(m *model) {
	m.mu.Lock()
	c.stopped = true
	m.mu.Unlock()
	c.stop()
}

// restore replaces the server by one with older data and lower versions.
func (m *model) restore() {
	m.mu.Lock()
	m.epoch++
	m.mu.Unlock()
	var lags []*lagging
	for _, c := range m.caches {
		lags = append(lags, c.lag)
	}
	m.api.restore(func(*corev1.ConfigMap) bool { return !m.chance(4) }, lags...)
}

// restore replaces the server by one with lower versions and those objects for which kept returns true.
func (a *api) restore(kept func(*corev1.ConfigMap) bool, lags ...*lagging) {
	a.mu.Lock()
	defer a.mu.Unlock()
	before := a.server
	after := newServer()
	for range 2000 { // UIDs are numbers. Those of both servers have to differ.
		after.Create(configMap("none"))
		after.Delete("shop", "none")
	}
	for _, obj := range before.Objects() {
		if kept(obj) {
			after.Create(obj)
		}
	}
	after.Compact()
	a.server = after
	for _, l := range lags {
		l.mu.Lock()
		l.server = after
		l.mu.Unlock()
	}
	before.CloseWatches()
}

// settled checks the end of a history, when nobody has written for long.
func (m *model) settled() {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.counts.mu.Lock()
	defer m.counts.mu.Unlock()
	if n := m.queue.Pending(); n != 0 {
		m.Errorf("%d keys are pending at the end", n)
	}
	for _, k := range m.keys {
		if k.started != k.added {
			m.Errorf("%s was added %d times, and last started after %d", k.name, k.added, k.started)
		}
	}
	if waits, removals, versions := m.tracker.Left(); waits+removals+versions > 0 && !m.kind.restores {
		// An answer of the server before the restore may come after it.
		m.Errorf("%d waits, %d removals and %d own versions are left", waits, removals, versions)
	}
	if len(m.stale) > m.counts.bound {
		m.Errorf("%d by the bound, but %d stale starts: %q", m.counts.bound, len(m.stale), m.stale)
	}
	if m.counts.bound > 0 && !(m.kind.lags || m.kind.restores || m.kind.selects) {
		m.Errorf("%d keys were handed out by the bound", m.counts.bound)
	}
	if m.counts.unknown > 0 && !m.kind.loses {
		m.Errorf("%d answers were lost", m.counts.unknown)
	}
	m.Logf("%d runs, %d waits, %d by the bound, %d lost, %d stale, %d unseen", m.runs, len(m.counts.waits),
		m.counts.bound, m.counts.unknown, len(m.stale), m.unseen)
}
