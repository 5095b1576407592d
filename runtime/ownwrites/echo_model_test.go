package ownwrites_test

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"io"
	"net/http"
	"slices"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/tools/cache"

	"github.com/kubewright/kubewright/internal/guarantee"
	own "github.com/kubewright/kubewright/runtime/workqueue"
)

// TestEchoModel runs random histories with SkipEchoes. Each change that somebody else has made is followed by
// a run that starts on a cache that shows it. Each run has another reason than echoes, and own writes without
// a version cause at most one run for each run that writes.
func TestEchoModel(t *testing.T) {
	runHistories(t, map[string]faults{
		"plain": {}, "lost answers": {loses: true}, "long lags": {lags: true}, "relists": {relists: true},
		"restores": {restores: true}, "all but moves": {loses: true, lags: true, relists: true, restores: true},
		"moves": {moves: true}, "moves and more": {loses: true, lags: true, relists: true, moves: true},
	}, func(t *testing.T, kind faults, seed uint64) {
		m := &echoModel{
			history: newHistory(t, kind, seed, 8, true), keys: map[string]*echoKey{},
			writes: map[string]*historic{}, logs: map[string][]*historic{},
		}
		m.api.wrote, m.api.restored, m.api.keepsLast = m.record, m.forget, kind.moves
		for name := range m.places {
			m.keys[name] = &echoKey{started: make([]map[string]string, len(m.caches))}
		}
		m.run(m)
	})
}

// echoModel is one history.
type echoModel struct {
	*history
	keys map[string]*echoKey
	// writes are those since the last restore, by version. logs are those of each object, in order.
	writes map[string]*historic
	logs   map[string][]*historic
	// writing, allRuns, echoes and seconds count the runs that write, all runs, skipped echoes, and runs whose
	// only other reasons are own writes without a version.
	writing, allRuns, echoes, seconds int
}

// record notes a write. The server is locked.
func (m *echoModel) record(by, version, base string, before, after *corev1.ConfigMap, checked bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	obj := cmp.Or(after, before)
	h := &historic{uid: obj.UID, base: base, by: by, checked: checked}
	if after != nil {
		h.version = version
	}
	m.writes[version] = h
	m.logs[obj.Name] = append(m.logs[obj.Name], h)
}

// forget forgets what was written before a restore.
func (m *echoModel) forget() {
	m.mu.Lock()
	defer m.mu.Unlock()
	clear(m.writes)
	clear(m.logs)
}

func (m *echoModel) handler(*cached) cache.ResourceEventHandler {
	inner := own.Enqueue(m.queue, func(old, changed *corev1.ConfigMap) []string {
		return keysOf(cmp.Or(changed, old).Name)
	})
	return cache.ResourceEventHandlerDetailedFuncs{
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
	}
}

// keysOf returns the keys that an object adds: by its name, which begins with a key or belongs to two.
func keysOf(name string) []string {
	if key := namespaceOf(name); key != "shared" {
		return []string{key}
	}
	return []string{"k0", "k1"}
}

// other writes without a key, or adds a key.
func (m *echoModel) other(key string) {
	if m.chance(6) {
		r := m.due(key)
		m.queue.Add(key)
		m.over(r)
		return
	}
	name := m.nameFor(key)
	url, all := urlOf(name)
	switch {
	case m.chance(4):
		m.direct(http.MethodDelete, url, metav1.DeleteOptions{})
		if m.chance(2) {
			m.direct(http.MethodPost, all, configMap(name))
		}
	case !m.direct(http.MethodPut, url, configMap(name)):
		m.direct(http.MethodPost, all, configMap(name))
	}
}

// direct sends a request past the tracker, and reports whether it succeeded.
func (m *echoModel) direct(method, url string, body any) bool {
	text, err := json.Marshal(body)
	if err != nil {
		m.Error(err)
	}
	req, err := http.NewRequest(method, "http://api"+url, bytes.NewReader(text))
	if err != nil {
		m.Error(err)
	}
	return m.api.serve(req).StatusCode < 300
}

// reconcile checks why it was called, and writes.
func (m *echoModel) reconcile(ctx context.Context, key string) (own.Result, error) {
	if !m.begin(key) {
		return own.Result{}, nil
	}
	defer m.end(key)
	m.check(key)
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
			m.over(m.due(key)) // Run adds it again before it begins anew.
			return own.Result{}, err
		}
	}
	return own.Result{}, nil
}

// send makes one write.
func (m *echoModel) send(ctx context.Context, key string) error {
	name := m.nameFor(key)
	url, all := urlOf(name)
	shown := m.caches[0].get(name)
	method, body, unchanged := http.MethodPut, any(nil), false
	switch {
	case shown == nil:
		method, url, body = http.MethodPost, all, configMap(name)
	case m.chance(4):
		method = http.MethodDelete
		body = metav1.DeleteOptions{Preconditions: &metav1.Preconditions{UID: &shown.UID}}
	default:
		obj := configMap(name)
		if !m.chance(3) {
			obj.ResourceVersion = shown.ResourceVersion
		}
		if m.chance(4) {
			obj.Annotations = map[string]string{"unchanged": "yes"} // The server then changes nothing.
			unchanged = true
		}
		body = obj
	}
	text, err := json.Marshal(body)
	if err != nil {
		m.Error(err)
	}
	req, err := http.NewRequestWithContext(ctx, method, "http://api"+url, bytes.NewReader(text))
	if err != nil {
		m.Error(err)
	}
	if !m.mayWrite(key) {
		return errMoved
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
	if h := m.writes[written.ResourceVersion]; h != nil && h.by == key && !unchanged {
		h.answered = true
	}
	return nil
}

// settled checks the end of a history.
func (m *echoModel) settled() {
	m.mu.Lock()
	defer m.mu.Unlock()
	for name, log := range m.logs {
		for _, key := range keysOf(name) {
			for i, c := range m.caches {
				if m.mayMiss(c) {
					continue
				}
				started := m.keys[key].started[i][name]
				for _, h := range writesAfter(log, started) {
					if h.by != key {
						m.Errorf("%s: %s last ran when cache %d had version %q of %s, but %q wrote %+v", guarantee.NoneLost,
							key, i, started, name, h.by, *h)
					}
				}
			}
		}
	}
	if m.isStrict() && m.seconds > m.writing {
		m.Errorf("%s: %d runs because of own writes without a version, but only %d runs wrote",
			guarantee.OwnWritesShown, m.seconds, m.writing)
	}
	m.Logf("%d runs, %d of them wrote, %d because of own writes without a version, %d echoes", m.allRuns,
		m.writing, m.seconds, m.echoes)
}

// writesAfter returns the writes of an object after it was last in a state.
func writesAfter(log []*historic, version string) []*historic {
	for i, h := range slices.Backward(log) {
		if h.version == version {
			return log[i+1:]
		}
	}
	return log
}
