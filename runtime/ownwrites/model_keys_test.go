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
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/kubewright/kubewright/internal/bubble"
	own "github.com/kubewright/kubewright/runtime/workqueue"
)

// reconcile checks what the caches show, and writes.
func (m *model) reconcile(ctx context.Context, key string) (own.Result, error) {
	var k *keyModel
	for _, one := range m.keys {
		if one.name == key {
			k = one
		}
	}
	m.check(k)
	defer func() {
		m.mu.Lock()
		k.running = false
		m.mu.Unlock()
	}()
	for range m.n(4) {
		if m.quiet.Load() {
			break
		}
		if err := m.write(ctx, k); err != nil {
			return own.Result{}, err
		}
		if m.chance(3) {
			bubble.Pass(time.Duration(m.n(20)) * time.Millisecond)
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

// check is called when k begins to be reconciled.
func (m *model) check(k *keyModel) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if k.running {
		m.Errorf("%s runs twice", k.name)
	}
	k.running = true
	k.started = k.added
	m.runs++
	var missing []string
	for _, w := range k.writes {
		for n, c := range m.caches {
			if w.epoch != m.epoch || c.stopped || c.shows(w) {
				continue
			}
			if leaves := w.deleted != "" || c.selects && !w.labelled; leaves && !w.created && !w.seen[n] {
				m.unseen++ // What a cache has yet to show may appear at any time.
			} else {
				missing = append(missing, fmt.Sprintf("cache %d lacks %+v", n, w))
			}
		}
	}
	// What was shown once stays shown, and what was handed out by the bound isn't waited for any more.
	k.writes = nil
	if len(missing) == 0 {
		return
	}
	m.stale = append(m.stale, fmt.Sprintf("%v: %s starts on caches without its writes: %q",
		time.Now(), k.name, missing))
}

// shows reports whether a cache shows a write.
func (c *cached) shows(w ownWrite) bool {
	obj, found, _ := c.informer.GetStore().GetByKey("shop/" + w.name)
	if w.deleted != "" {
		return !found || obj.(*corev1.ConfigMap).UID != w.deleted
	}
	if c.selects && !w.labelled && !found {
		return true
	}
	version, _ := strconv.Atoi(w.version)
	return c.version() >= version
}

// write makes one write, as the key sees fit.
func (m *model) write(ctx context.Context, k *keyModel) error {
	name := m.nameFor(k)
	shown, found, _ := m.caches[0].informer.GetStore().GetByKey("shop/" + name)
	switch {
	case !found:
		uid, err := m.create(ctx, k, name)
		if err != nil || uid == "" || !m.chance(4) {
			return err
		}
		if err := m.remove(ctx, k, ownWrite{name: name, deleted: uid, created: true}); err != nil || m.chance(2) {
			return err
		}
		_, err = m.create(ctx, k, name)
		return err
	case m.chance(3):
		return m.remove(ctx, k, ownWrite{name: name, deleted: shown.(*corev1.ConfigMap).UID})
	}
	obj := m.object(k, name)
	_, err := m.send(ctx, k, http.MethodPut, path+"/"+name, obj, ownWrite{name: name, labelled: isLabelled(obj)})
	return err
}

func isLabelled(obj *corev1.ConfigMap) bool { return obj.Labels["a"] != "" }

func (m *model) create(ctx context.Context, k *keyModel, name string) (types.UID, error) {
	obj := m.object(k, name)
	return m.send(ctx, k, http.MethodPost, path, obj, ownWrite{name: name, labelled: isLabelled(obj)})
}

func (m *model) remove(ctx context.Context, k *keyModel, w ownWrite) error {
	o := metav1.DeleteOptions{Preconditions: &metav1.Preconditions{UID: &w.deleted}}
	_, err := m.send(ctx, k, http.MethodDelete, path+"/"+w.name, o, w)
	return err
}

// send sends a request, and notes what was written if the answer says so.
func (m *model) send(
	ctx context.Context, k *keyModel, method, path string, body any, w ownWrite,
) (types.UID, error) {
	text, err := json.Marshal(body)
	if err != nil {
		m.Error(err)
	}
	epoch := m.writesIn()
	req, err := http.NewRequestWithContext(ctx, method, "http://api"+path, bytes.NewReader(text))
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
	w.version = written.ResourceVersion
	if w.epoch = m.writesIn(); w.epoch != epoch {
		w.epoch = unchecked
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, c := range m.caches {
		obj, found, _ := c.informer.GetStore().GetByKey("shop/" + w.name)
		w.seen = append(w.seen, found && obj.(*corev1.ConfigMap).UID == cmp.Or(w.deleted, written.UID))
	}
	k.writes = append(k.writes, w)
	return written.UID, nil
}
