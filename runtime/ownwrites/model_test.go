package ownwrites_test

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/tools/cache"

	"github.com/kubewright/kubewright/internal/guarantee"
	own "github.com/kubewright/kubewright/runtime/workqueue"
)

// TestModel runs random histories: keys and others write objects, and caches show that late. No reconcile
// starts on a cache without the writes of its key, except those that are counted, and no addition is lost.
func TestModel(t *testing.T) {
	runHistories(t, map[string]faults{
		"plain": {}, "relists": {relists: true}, "lost answers": {loses: true}, "long lags": {lags: true},
		"restores": {restores: true}, "selectors": {selects: true}, "a stop": {stops: true},
		"all but moves": {true, true, true, true, true, true, false}, "moves": {moves: true},
		"moves and more": {loses: true, lags: true, relists: true, moves: true},
	}, func(t *testing.T, kind faults, seed uint64) {
		m := &waitModel{history: newHistory(t, kind, seed, 30, seed%2 == 1), keys: map[string]*waitKey{}}
		for name := range m.places {
			m.keys[name] = &waitKey{name: name}
		}
		m.run(m)
	})
}

// waitModel is one history.
type waitModel struct {
	*history
	keys map[string]*waitKey
	// stale are the starts on caches that lacked a write. unseen counts those that may lack it, see check.
	stale        []string
	unseen, runs int
}

// waitKey is what the model knows of a key.
type waitKey struct {
	name           string
	added, started int
	// writes are those since the last start. Only the run of the key uses them.
	writes  []ownWrite
	running bool
}

// ownWrite is a write whose answer the key has received.
type ownWrite struct {
	name, version string
	uid           types.UID
	deleted       bool
	epoch         int
	labelled      bool
	// seen says which caches showed the object when the answer came. created means that the key had
	// created it just before.
	seen    []bool
	created bool
}

// Epochs of writes: those of the server before it was restored and after, and those between the restore and
// the moment when all caches show it. Their versions may be lower than those of the caches.
const (
	before = iota
	after
	unchecked
)

// epochNow returns the epoch of a write.
func (m *waitModel) epochNow() int {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.restored.IsZero() {
		return before
	}
	for _, c := range m.caches {
		if !c.stopped && !c.isRestored() {
			return unchecked
		}
	}
	return after
}

func (m *waitModel) handler(*cached) cache.ResourceEventHandler {
	return cache.ResourceEventHandlerDetailedFuncs{
		AddFunc:    func(obj any, _ bool) { m.notified(obj) },
		UpdateFunc: func(_, obj any) { m.notified(obj) },
		DeleteFunc: m.notified,
	}
}

// notified adds the key of an object.
func (m *waitModel) notified(obj any) {
	if gone, ok := obj.(cache.DeletedFinalStateUnknown); ok {
		obj = gone.Obj
	}
	if m.chance(3) {
		m.pass(30 * time.Millisecond)
	}
	if key := obj.(*corev1.ConfigMap).Annotations["key"]; key != "" {
		m.add(key)
	}
}

func (m *waitModel) add(key string) {
	m.mu.Lock()
	m.keys[key].added++
	m.mu.Unlock()
	m.queue.Add(key)
}

// other writes without a key, or adds a key.
func (m *waitModel) other(key string) {
	if m.chance(4) {
		m.add(key)
		return
	}
	m.api.direct(func(s *server) {
		obj := m.object(key, m.nameFor(key))
		_, exists := s.Find(obj.Namespace, obj.Name)
		switch {
		case !exists:
			s.Create(obj)
		case m.chance(3):
			s.Delete(obj.Namespace, obj.Name)
			if m.chance(2) {
				s.Create(obj)
			}
		default:
			s.Update(obj)
		}
	})
}

func (m *waitModel) object(key, name string) *corev1.ConfigMap {
	obj := configMap(name, []string{"a", "b"}[m.n(2)])
	obj.Namespace, obj.Annotations = namespaceOf(name), map[string]string{"key": key}
	return obj
}

// reconcile checks what the caches show, and writes.
func (m *waitModel) reconcile(ctx context.Context, key string) (own.Result, error) {
	k := m.keys[key]
	here := m.begin(key)
	m.check(k, here)
	if !here {
		return own.Result{}, nil
	}
	defer m.end(key)
	defer func() {
		m.mu.Lock()
		defer m.mu.Unlock()
		k.running = false
	}()
	for range m.n(4) {
		if m.quiet.Load() {
			break
		}
		if err := m.write(ctx, k); err != nil {
			return own.Result{}, err
		}
		if m.chance(3) {
			m.pass(20 * time.Millisecond)
		}
	}
	if m.chance(6) {
		return own.Result{}, errors.New("try again")
	}
	if m.chance(10) {
		return own.Result{RequeueAfter: time.Duration(m.n(300)) * time.Millisecond}, nil
	}
	return own.Result{}, nil
}

// check is called when k begins to be reconciled, or is dropped because its range isn't here.
func (m *waitModel) check(k *waitKey, here bool) {
	epoch := m.start(k, here)
	if !here {
		return
	}
	var missing []string
	unseen := 0
	for _, w := range k.writes {
		for n, c := range m.caches {
			if w.epoch != epoch || m.isStopped(c) || m.shows(c, w) {
				continue
			}
			if leaves := w.deleted || c.selects && !w.labelled; leaves && !w.created && !w.seen[n] {
				unseen++ // What a cache has yet to show may appear at any time.
			} else {
				missing = append(missing, fmt.Sprintf("cache %d lacks %+v", n, w))
			}
		}
	}
	// What was shown once stays shown, and what was handed out by the bound isn't waited for any more.
	k.writes = nil
	m.mu.Lock()
	defer m.mu.Unlock()
	m.unseen += unseen
	if len(missing) > 0 {
		m.stale = append(m.stale, fmt.Sprintf("%v: %s starts on caches without its writes: %q",
			time.Now(), k.name, missing))
	}
}

// start notes that k begins to be reconciled, or is dropped, and returns the epoch.
func (m *waitModel) start(k *waitKey, here bool) (epoch int) {
	m.mu.Lock()
	defer m.mu.Unlock()
	k.started = k.added
	if here {
		if k.running {
			m.Errorf("%s: %s runs twice", guarantee.NoneTwiceAtOnce, k.name)
		}
		k.running = true
		m.runs++
	}
	if m.restored.IsZero() {
		return before
	}
	return after
}

// shows reports whether a cache shows a write. A cache of ranges may have listed one of them later than its
// version says.
func (m *waitModel) shows(c *cached, w ownWrite) bool {
	obj := c.get(w.name)
	if w.deleted {
		return obj == nil || obj.UID != w.uid
	}
	if c.selects && !w.labelled && obj == nil {
		return true
	}
	version, _ := strconv.Atoi(w.version)
	if c.part == nil || obj == nil && !c.selects && m.exists(w) {
		return c.version() >= version
	}
	if obj == nil {
		return true // It is deleted or not selected, so a list doesn't have it.
	}
	shown, _ := strconv.Atoi(obj.ResourceVersion)
	return shown >= version
}

// exists reports whether the server has the object of a write.
func (m *waitModel) exists(w ownWrite) (yes bool) {
	m.api.direct(func(s *server) {
		obj, found := s.Find(namespaceOf(w.name), w.name)
		yes = found && obj.UID == w.uid
	})
	return yes
}

// write makes one write, as the key sees fit.
func (m *waitModel) write(ctx context.Context, k *waitKey) error {
	name := m.nameFor(k.name)
	shown := m.caches[0].get(name)
	switch {
	case shown == nil:
		uid, err := m.create(ctx, k, name)
		if err != nil || uid == "" || !m.chance(4) {
			return err
		}
		err = m.remove(ctx, k, ownWrite{name: name, deleted: true, uid: uid, created: true})
		if err != nil || m.chance(2) {
			return err
		}
		_, err = m.create(ctx, k, name)
		return err
	case m.chance(3):
		return m.remove(ctx, k, ownWrite{name: name, deleted: true, uid: shown.UID})
	}
	obj := m.object(k.name, name)
	url, _ := urlOf(name)
	_, err := m.send(ctx, k, http.MethodPut, url, obj, ownWrite{name: name, labelled: isLabelled(obj)})
	return err
}

func isLabelled(obj *corev1.ConfigMap) bool { return obj.Labels["a"] != "" }

func (m *waitModel) create(ctx context.Context, k *waitKey, name string) (types.UID, error) {
	obj := m.object(k.name, name)
	_, url := urlOf(name)
	return m.send(ctx, k, http.MethodPost, url, obj, ownWrite{name: name, labelled: isLabelled(obj)})
}

func (m *waitModel) remove(ctx context.Context, k *waitKey, w ownWrite) error {
	o := metav1.DeleteOptions{Preconditions: &metav1.Preconditions{UID: &w.uid}}
	url, _ := urlOf(w.name)
	_, err := m.send(ctx, k, http.MethodDelete, url, o, w)
	return err
}

// send sends a request, and notes what was written if the answer says so.
func (m *waitModel) send(
	ctx context.Context, k *waitKey, method, url string, body any, w ownWrite,
) (types.UID, error) {
	text, err := json.Marshal(body)
	if err != nil {
		m.Error(err)
	}
	if !m.mayWrite(k.name) {
		return "", errMoved
	}
	epoch := m.epochNow()
	req, err := http.NewRequestWithContext(ctx, method, "http://api"+url, bytes.NewReader(text))
	if err != nil {
		m.Error(err)
	}
	resp, err := m.client.Do(req)
	if err != nil {
		return "", err
	}
	defer func() { _ = resp.Body.Close() }()
	text, err = io.ReadAll(resp.Body)
	if err != nil {
		return "", err
	}
	if resp.StatusCode >= 500 {
		return "", errors.New("unavailable")
	}
	if resp.StatusCode >= 300 {
		return "", nil
	}
	var written metav1.PartialObjectMetadata
	if err := json.Unmarshal(text, &written); err != nil {
		m.Error(err)
	}
	w.version, w.uid = written.ResourceVersion, cmp.Or(w.uid, written.UID)
	if w.epoch = m.epochNow(); w.epoch != epoch {
		w.epoch = unchecked
	}
	for _, c := range m.caches {
		obj := c.get(w.name)
		w.seen = append(w.seen, obj != nil && obj.UID == w.uid)
	}
	k.writes = append(k.writes, w)
	return written.UID, nil
}

// settled checks the end of a history.
func (m *waitModel) settled() {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.counts.mu.Lock()
	defer m.counts.mu.Unlock()
	for _, k := range m.keys {
		if k.started != k.added {
			m.Errorf("%s: %s was added %d times, and last started after %d", guarantee.NoneLost, k.name, k.added,
				k.started)
		}
	}
	if waits, removals, versions := m.tracker.Left(); waits+removals+versions > 0 && !m.restores {
		// An answer of the server before the restore may come after it.
		m.Errorf("%s: %d waits, %d removals and %d own versions are left", guarantee.BoundedMemory, waits,
			removals, versions)
	}
	if len(m.stale) > m.counts.bound {
		m.Errorf("%s: %d by the bound, but %d stale starts: %q", guarantee.OwnWritesShown, m.counts.bound,
			len(m.stale), m.stale)
	}
	if m.counts.bound > 0 && !(m.lags || m.restores || m.selects) {
		m.Errorf("%s: %d keys were handed out by the bound", guarantee.OwnWritesShown, m.counts.bound)
	}
	if m.counts.unknown > 0 && !m.loses {
		m.Errorf("%s: %d answers were lost", guarantee.OwnWritesShown, m.counts.unknown)
	}
	m.Logf("%d runs, %d waits, %d by the bound, %d lost, %d stale, %d unseen", m.runs, len(m.counts.waits),
		m.counts.bound, m.counts.unknown, len(m.stale), m.unseen)
}
