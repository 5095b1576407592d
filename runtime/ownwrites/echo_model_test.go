package ownwrites_test

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"math/rand/v2"
	"net/http"
	"slices"
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
	own "github.com/kubewright/kubewright/runtime/workqueue"
)

// echoRound is a kind of history.
type echoRound struct{ loses, lags, relists, restores bool }

// TestEchoModel runs random histories with SkipEchoes. Each change that somebody else has made is followed by
// a run that starts on a cache that shows it. Each run has another reason than echoes, and own writes without
// a version cause at most one run for each run that writes.
func TestEchoModel(t *testing.T) {
	for name, kind := range map[string]echoRound{
		"plain": {}, "lost answers": {loses: true}, "long lags": {lags: true}, "relists": {relists: true},
		"restores": {restores: true}, "all": {true, true, true, true},
	} {
		t.Run(name, func(t *testing.T) {
			seeds := *modelSeeds
			if testing.Short() {
				seeds = min(seeds, 4)
			}
			for n := range uint64(seeds) {
				seed := *modelFirst + n
				synctest.Test(t, func(t *testing.T) {
					newEchoModel(t, kind, seed).run()
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

// echoModel is one history.
type echoModel struct {
	*testing.T
	dice
	kind   echoRound
	queue  *queue.Queue[string]
	client *http.Client
	api    *api
	caches []*cached
	keys   map[string]*echoKey
	quiet  atomic.Bool

	mu sync.Mutex
	// history has the writes since the last restore, by version.
	history map[string]*historic
	// writing, runs, echoes and seconds count the runs that write, all runs, skipped echoes, and runs whose only
	// other reasons are own writes without a version.
	writing, runs, echoes, seconds int
	// restored is when the server was restored.
	restored time.Time
	bound    int
}

func newEchoModel(t *testing.T, kind echoRound, seed uint64) *echoModel {
	m := &echoModel{
		T: t, kind: kind, dice: dice{random: rand.New(rand.NewPCG(seed, 7))}, keys: map[string]*echoKey{},
		history: map[string]*historic{},
	}
	s := newServer()
	s.Skip(100_000)
	m.api = &api{server: s, edits: []edit{m.answer}, wrote: m.record}
	tracker := ownwrites.New(ownwrites.Options{SkipEchoes: true, Metrics: &ownwrites.Metrics{
		Waits: ignoredMetric{}, Unknown: ignoredMetric{}, Bound: countedMetric{func() { m.bound++ }, &m.mu},
	}})
	for range 2 {
		c := &cached{lag: newLagging(s)}
		c.lag.delay = m.lag
		c.informer = newInformer(c.lag)
		m.caches = append(m.caches, c)
		if err := tracker.Add(c.informer); err != nil {
			t.Fatal(err)
		}
	}
	m.queue = ownwrites.NewQueue(tracker, queue.Config[string]{
		MergeDelayed: true,
		Limiter:      workqueue.NewTypedItemExponentialFailureRateLimiter[string](time.Millisecond, time.Second),
	})
	m.client = &http.Client{Transport: tracker.Transport(m.api)}
	for n := range 2 + m.n(8) {
		m.keys[fmt.Sprint("k", n)] = &echoKey{started: make([]int, len(m.caches))}
	}
	return m
}

type ignoredMetric struct{}

func (ignoredMetric) Inc()            {}
func (ignoredMetric) Observe(float64) {}

type countedMetric struct {
	add func()
	mu  *sync.Mutex
}

func (c countedMetric) Inc() { c.mu.Lock(); defer c.mu.Unlock(); c.add() }

// lag is how long an event is held up.
func (m *echoModel) lag() time.Duration {
	if m.kind.lags && m.chance(200) {
		return 20 * time.Second
	}
	if m.chance(3) {
		return 0
	}
	return time.Duration(m.n(60)) * time.Millisecond
}

// answer loses answers, and lets events come first.
func (m *echoModel) answer(resp *http.Response) (*http.Response, error) {
	if m.chance(2) {
		bubble.Pass(time.Duration(m.n(150)) * time.Millisecond)
	}
	if !m.kind.loses || !m.chance(5) {
		return resp, nil
	}
	if m.chance(2) {
		return nil, errors.New("the connection was reset")
	}
	return cut(resp, m.n(200)), nil
}

// record notes a write. The server is locked.
func (m *echoModel) record(by, version, base string, before, after *corev1.ConfigMap, checked bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	h := &historic{base: base, by: by, checked: checked}
	obj := cmp.Or(after, before)
	h.uid, h.keys = obj.UID, keysOf(obj)
	m.history[version] = h
}

func (m *echoModel) run() {
	for _, c := range m.caches {
		c.stop = start(m.T, c.informer)
		coalesce := m.chance(2)
		inner := own.Enqueue(m.queue, func(old, changed *corev1.ConfigMap) []string {
			return keysOf(cmp.Or(changed, old))
		})
		_, err := informer.AddEventHandler(c.informer, cache.ResourceEventHandlerDetailedFuncs{
			AddFunc: func(obj any, initial bool) {
				defer m.notified(nil, obj.(*corev1.ConfigMap), initial)()
				inner.OnAdd(obj, initial)
			},
			UpdateFunc: func(old, obj any) {
				defer m.notified(old.(*corev1.ConfigMap), obj.(*corev1.ConfigMap), false)()
				inner.OnUpdate(old, obj)
			},
			DeleteFunc: func(obj any) {
				last := obj
				if gone, ok := obj.(cache.DeletedFinalStateUnknown); ok {
					last = gone.Obj
				}
				defer m.notified(last.(*corev1.ConfigMap), nil, false)()
				inner.OnDelete(obj)
			},
		}, informer.HandlerOptions{Coalesce: coalesce})
		if err != nil {
			m.Fatal(err)
		}
	}
	synctest.Wait()
	ctx, cancel := context.WithCancel(context.Background())
	var running, acting sync.WaitGroup
	running.Go(func() {
		err := own.Run(ctx, m.queue, 64, m.reconcile, own.WithErrorHandler(func(context.Context, any, error) {}))
		if err != nil {
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

// others write without a key, and add keys.
func (m *echoModel) others() {
	names := slices.Sorted(maps.Keys(m.keys))
	for range 40 {
		bubble.Pass(time.Duration(m.n(400)) * time.Millisecond)
		key := names[m.n(len(names))]
		if m.chance(6) {
			r := m.due(key)
			m.queue.Add(key)
			m.end(r)
			continue
		}
		name := m.nameFor(key)
		switch {
		case m.chance(4):
			m.direct(http.MethodDelete, path+"/"+name, metav1.DeleteOptions{})
			if m.chance(2) {
				m.direct(http.MethodPost, path, configMap(name))
			}
		case !m.direct(http.MethodPut, path+"/"+name, configMap(name)):
			m.direct(http.MethodPost, path, configMap(name))
		}
	}
}

// direct sends a request past the tracker, and reports whether it succeeded.
func (m *echoModel) direct(method, path string, body any) bool {
	text, err := json.Marshal(body)
	if err != nil {
		m.Error(err)
	}
	req, err := http.NewRequest(method, "http://api"+path, bytes.NewReader(text))
	if err != nil {
		m.Error(err)
	}
	return m.api.serve(req).StatusCode < 300
}

func (m *echoModel) nameFor(key string) string {
	if m.chance(4) {
		return fmt.Sprint("shared-", m.n(2))
	}
	return fmt.Sprint(key, "-", m.n(3))
}

// keysOf returns the keys that an object adds: by its name, which begins with a key or belongs to two.
func keysOf(obj *corev1.ConfigMap) []string {
	if key, _, _ := strings.Cut(obj.Name, "-"); key != "shared" {
		return []string{key}
	}
	return []string{"k0", "k1"}
}

func (m *echoModel) disturb() {
	for n := range 8 {
		bubble.Pass(time.Duration(m.n(2000)) * time.Millisecond)
		if m.kind.relists {
			m.api.direct(func(s *server) {
				if m.chance(2) {
					s.Compact()
				}
				s.CloseWatches()
			})
		}
		if m.kind.restores && n == 4 {
			m.restore()
		}
	}
}

func (m *echoModel) restore() {
	m.mu.Lock()
	m.restored = time.Now()
	m.mu.Unlock()
	var lags []*lagging
	for _, c := range m.caches {
		lags = append(lags, c.lag)
	}
	m.api.restore(func(*corev1.ConfigMap) bool {
		keep := !m.chance(4)
		m.mu.Lock()
		defer m.mu.Unlock()
		clear(m.history)
		return keep
	}, lags...)
}

// reconcile checks why it was called, and writes.
func (m *echoModel) reconcile(ctx context.Context, key string) (own.Result, error) {
	m.begin(key)
	wrote := false
	defer func() {
		m.mu.Lock()
		defer m.mu.Unlock()
		if wrote {
			m.writing++
		}
	}()
	for range m.n(4) {
		if m.quiet.Load() || m.chance(2) {
			break
		}
		wrote = true
		if err := m.send(ctx, key); err != nil {
			m.end(m.due(key)) // Run adds it again before it begins anew.
			return own.Result{}, err
		}
	}
	return own.Result{}, nil
}

// send makes one write.
func (m *echoModel) send(ctx context.Context, key string) error {
	name := m.nameFor(key)
	shown, found, _ := m.caches[0].informer.GetStore().GetByKey("shop/" + name)
	method, path, body, unchanged := http.MethodPost, path, any(configMap(name)), false
	switch {
	case !found:
	case m.chance(4):
		uid := shown.(*corev1.ConfigMap).UID
		method, path = http.MethodDelete, path+"/"+name
		body = metav1.DeleteOptions{Preconditions: &metav1.Preconditions{UID: &uid}}
	default:
		obj := configMap(name)
		if !m.chance(3) {
			obj.ResourceVersion = shown.(*corev1.ConfigMap).ResourceVersion
		}
		if m.chance(4) {
			obj.Annotations = map[string]string{"unchanged": "yes"} // The server then changes nothing.
			unchanged = true
		}
		method, path, body = http.MethodPut, path+"/"+name, obj
	}
	text, err := json.Marshal(body)
	if err != nil {
		m.Error(err)
	}
	req, err := http.NewRequestWithContext(ctx, method, "http://api"+path, bytes.NewReader(text))
	if err != nil {
		m.Error(err)
	}
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("By", key)
	resp, err := m.client.Do(req)
	if err != nil {
		return err
	}
	defer func() { _ = resp.Body.Close() }()
	text, err = io.ReadAll(resp.Body)
	var written metav1.PartialObjectMetadata
	if err == nil {
		err = json.Unmarshal(text, &written)
	}
	if err != nil {
		return err
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if h := m.history[written.ResourceVersion]; h != nil && h.by == key && !unchanged {
		h.answered = true
	}
	return nil
}
