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
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/tools/cache"
	"k8s.io/client-go/util/workqueue"

	"github.com/kubewright/kubewright/internal/bubble"
	"github.com/kubewright/kubewright/runtime/informer"
	"github.com/kubewright/kubewright/runtime/ownwrites"
	"github.com/kubewright/kubewright/runtime/queue"
	"github.com/kubewright/kubewright/runtime/shard/partial"
	own "github.com/kubewright/kubewright/runtime/workqueue"
)

var (
	modelSeeds = flag.Int("model.seeds", 12, "how many seeds the models run of each kind of history")
	modelFirst = flag.Uint64("model.first", 0, "the first seed of the models")
)

// faults are what happens in a kind of history.
type faults struct {
	// loses: answers are lost. lags: caches are behind for longer than the bound. relists: watches end, and the
	// server forgets its history. restores: the server's data goes back. selects: an informer has selectors.
	// stops: an informer stops. moves: the ranges of keys leave this replica and return.
	loses, lags, relists, restores, selects, stops, moves bool
}

// history is what the random histories of both models have: keys and others write objects, and caches show
// that late. The objects of a key are in a namespace of its name, those of several keys in another one.
type history struct {
	*testing.T
	dice
	faults
	tracker *ownwrites.Tracker
	queue   *queue.Queue[string]
	client  *http.Client
	api     *api
	caches  []*cached
	counts  counts
	// quiet is set when nobody writes any more.
	quiet atomic.Bool

	mu sync.Mutex
	// restored is when the server was restored.
	restored time.Time
	// moving is held while ranges change, places has the range of each key.
	moving sync.Mutex
	places map[string]*place
}

// model is what a model adds to a history.
type model interface {
	// handler returns that of a cache.
	handler(*cached) cache.ResourceEventHandler
	reconcile(ctx context.Context, key string) (own.Result, error)
	// other makes one step of somebody else, with an object of a key.
	other(key string)
	// settled checks the end of a history, when nobody has written for long.
	settled()
}

// cached is an informer, whose watch lags.
type cached struct {
	informer mapInformer
	lag      *lagging
	// part is nil if the informer has all objects.
	part    *partial.Part
	stop    func()
	stopped bool
	selects bool
	// noticed is when the model saw that the cache shows the data of a restored server.
	noticed time.Time
}

// isRestored reports whether a cache showed the data of the restored server before now.
func (c *cached) isRestored() bool {
	if c.noticed.IsZero() && c.version() < 100_000 && (c.part == nil || c.part.Status().Feeds == 1) {
		c.noticed = time.Now()
	}
	return !c.noticed.IsZero() && c.noticed.Before(time.Now())
}

func (c *cached) version() int {
	status, _ := informer.StatusOf(c.informer)
	version, _ := strconv.Atoi(status.ResourceVersion)
	return version
}

func (h *history) isStopped(c *cached) bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	return c.stopped
}

// get returns what a cache shows of an object, or nil.
func (c *cached) get(name string) *corev1.ConfigMap {
	obj, found, _ := c.informer.GetStore().GetByKey(namespaceOf(name) + "/" + name)
	if !found {
		return nil
	}
	return obj.(*corev1.ConfigMap)
}

// runHistories runs histories of each kind of faults.
func runHistories(t *testing.T, kinds map[string]faults, run func(*testing.T, faults, uint64)) {
	for name, kind := range kinds {
		t.Run(name, func(t *testing.T) {
			seeds := *modelSeeds
			if testing.Short() {
				seeds = min(seeds, 2)
			}
			for n := range uint64(seeds) {
				seed := *modelFirst + n
				synctest.Test(t, func(t *testing.T) {
					run(t, kind, seed)
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

// newHistory returns a history with up to so many keys.
func newHistory(t *testing.T, kind faults, seed uint64, keys int, skips bool) *history {
	h := &history{
		T: t, faults: kind, dice: dice{random: rand.New(rand.NewPCG(seed, 99))}, places: map[string]*place{},
	}
	s := newServer()
	s.Skip(100_000)
	if h.chance(2) {
		s.Sharding(true, true)
	}
	h.api = &api{server: s, edits: []edit{h.answer}}
	var log bytes.Buffer
	logger := newLogger(&log)
	h.tracker = &ownwrites.Tracker{Logger: &logger, SkipEchoes: skips}
	h.queue = ownwrites.NewQueue(h.tracker, queue.Config[string]{
		Metrics: h.counts.metrics(), MergeDelayed: skips,
		Limiter: workqueue.NewTypedItemExponentialFailureRateLimiter[string](time.Millisecond, time.Second),
	})
	h.client = &http.Client{Transport: h.tracker.Transport(h.api)}
	for n := range 2 + h.n(keys-1) {
		h.places[fmt.Sprint("k", n)] = &place{}
	}
	for n := range 2 {
		h.caches = append(h.caches, h.newCache(n))
	}
	return h
}

func (h *history) newCache(n int) *cached {
	c := &cached{lag: newLagging(h.api.server), selects: h.selects && n == 1}
	c.lag.delay = h.lag
	if c.selects {
		c.informer = newInformer(c.lag, withLabels("a"))
	} else {
		c.informer = newInformer(c.lag)
	}
	if h.moves && (n == 0 || h.chance(2)) {
		h.limit(c)
	}
	if err := h.tracker.Add(c.informer); err != nil {
		h.Fatal(err)
	}
	return c
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

// pass lets some time below limit pass.
func (d *dice) pass(limit time.Duration) {
	bubble.Pass(time.Duration(d.n(int(limit.Milliseconds()))) * time.Millisecond)
}

// lag is how long an event is held up.
func (h *history) lag() time.Duration {
	if h.lags && h.chance(300) {
		return 20 * time.Second
	}
	if h.chance(3) {
		return 0
	}
	return time.Duration(h.n(50)) * time.Millisecond
}

// answer loses answers, and lets events come first.
func (h *history) answer(resp *http.Response) (*http.Response, error) {
	if h.chance(2) {
		h.pass(150 * time.Millisecond)
	}
	if !h.loses || !h.chance(4) {
		return resp, nil
	}
	switch h.n(3) {
	case 0:
		return nil, errors.New("the connection was reset")
	case 1:
		return answer(http.StatusServiceUnavailable, metav1.Status{Status: metav1.StatusFailure}), nil
	}
	return cut(resp, h.n(300)), nil
}

func (h *history) run(m model) {
	for _, c := range h.caches {
		c.stop = start(h.T, c.informer)
		_, err := informer.AddEventHandler(c.informer, m.handler(c),
			informer.HandlerOptions{Coalesce: h.chance(2)})
		if err != nil {
			h.Fatal(err)
		}
	}
	synctest.Wait()
	ctx, cancel := context.WithCancel(context.Background())
	var running, acting sync.WaitGroup
	running.Go(func() {
		if err := own.Run(ctx, h.queue, 64, m.reconcile, own.WithErrorHandler(
			func(context.Context, any, error) {})); err != nil {
			h.Error(err)
		}
	})
	for range 3 {
		acting.Go(func() {
			for range 50 {
				h.pass(300 * time.Millisecond)
				m.other(h.anyKey())
			}
		})
	}
	acting.Go(h.disturb)
	if h.moves {
		acting.Go(func() { h.move(m) })
		acting.Go(func() { h.move(m) })
	}
	acting.Wait()
	h.quiet.Store(true)
	if h.moves {
		h.bookmarks()
	}
	bubble.Pass(4 * time.Minute)
	h.api.direct(func(s *server) { s.Bookmark() }) // Real servers send one about every minute.
	bubble.Pass(time.Minute)
	if n := h.queue.Pending(); n != 0 {
		h.Errorf("%d keys are pending at the end", n)
	}
	m.settled()
	cancel()
	running.Wait()
	h.queue.ShutDown()
	for _, c := range h.caches {
		c.stop()
	}
}

func (h *history) anyKey() string { return fmt.Sprint("k", h.n(len(h.places))) }

// nameFor returns the name of an object that a key writes: its own, or a shared one.
func (h *history) nameFor(key string) string {
	if h.chance(4) {
		return fmt.Sprint("shared-", h.n(2))
	}
	return fmt.Sprint(key, "-", h.n(3))
}

// namespaceOf returns the namespace of an object of a name.
func namespaceOf(name string) string {
	namespace, _, _ := strings.Cut(name, "-")
	return namespace
}

// urlOf returns the paths of an object, and of those of its namespace.
func urlOf(name string) (object, all string) {
	all = "/api/v1/namespaces/" + namespaceOf(name) + "/configmaps"
	return all + "/" + name, all
}

// disturb ends watches, restores the server, and stops an informer.
func (h *history) disturb() {
	for n := range 10 {
		h.pass(1500 * time.Millisecond)
		if h.relists {
			h.api.direct(func(s *server) {
				if h.chance(2) && !h.moves {
					s.Compact()
				}
				s.CloseWatches()
			})
		}
		if h.restores && n == 5 {
			h.restore()
		}
		if h.stops && n == 5 {
			h.mu.Lock()
			h.caches[1].stopped = true
			h.mu.Unlock()
			h.caches[1].stop()
		}
		if h.selects || h.moves {
			h.api.direct(func(s *server) { s.Bookmark() })
		}
	}
}

// restore replaces the server by one with older data.
func (h *history) restore() {
	h.mu.Lock()
	h.restored = time.Now()
	h.mu.Unlock()
	var lags []*lagging
	for _, c := range h.caches {
		lags = append(lags, c.lag)
	}
	h.api.restore(func(*corev1.ConfigMap) bool { return !h.chance(4) }, lags...)
}
