package ownwrites_test

import (
	"cmp"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/kubewright/kubewright/runtime/informer"
)

// echoKey is what the model knows of a key.
type echoKey struct {
	// reasons are why it may have been added since the last start.
	reasons []*reason
	// started are the versions of the key's objects in the caches at the last start, by name.
	started []map[string]string
}

// reason is why a key is added: a change that may be an echo, or something else if due is set. over is set
// when the addition has been made or skipped. A run that starts before, or at the same time, may have another
// reason.
type reason struct {
	at        time.Time
	uid       types.UID
	from, to  string
	due, over bool
}

func (k *echoKey) because(r reason) *reason {
	r.at = time.Now()
	k.reasons = append(k.reasons, &r)
	return k.reasons[len(k.reasons)-1]
}

// historic is a write. base is the version before it, empty for a creation, version the one after it, empty
// for a deletion. by is the key that wrote it.
type historic struct {
	uid               types.UID
	base, version, by string
	checked, answered bool
}

// notified notes why keys are about to be added. What it returns is called when they have been added.
func (m *echoModel) notified(old, changed *corev1.ConfigMap, initial bool) (over func()) {
	if m.chance(3) {
		m.pass(40 * time.Millisecond)
	}
	r := reason{due: initial || changed == nil}
	if changed != nil {
		r.uid, r.to = changed.UID, changed.ResourceVersion
	}
	if old != nil && changed != nil {
		r.from = old.ResourceVersion
		r.due = r.due || old.UID != changed.UID || r.from == r.to
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	var reasons []*reason
	for _, key := range keysOf(cmp.Or(changed, old).Name) {
		reasons = append(reasons, m.keys[key].because(r))
	}
	return func() { m.over(reasons...) }
}

func (m *echoModel) over(reasons ...*reason) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, r := range reasons {
		r.over = true
	}
}

// due notes that a key is about to be added for another reason.
func (m *echoModel) due(key string) *reason {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.keys[key].because(reason{due: true})
}

// kinds of reasons, for a key.
const (
	foreign = iota
	ownUnchecked
	echo
)

// kindOf says whether a reason is an echo for a key, by the history. The caller holds mu.
func (m *echoModel) kindOf(key string, n *reason) int {
	if n.due {
		return foreign
	}
	last := m.writes[n.to]
	if last == nil || last.by != key || !last.answered || last.uid != n.uid {
		return foreign
	}
	for at := n.to; at != n.from; {
		h := m.writes[at]
		if h == nil || h.by != key || !h.answered || !h.checked || h.uid != n.uid {
			return ownUnchecked
		}
		if at = h.base; at == "" && n.from != "" {
			return ownUnchecked
		}
	}
	return echo
}

// isStrict reports whether each run needs another reason than an echo. After a range has moved, or the bound,
// the tracker forgets own versions.
func (m *echoModel) isStrict() bool { return !m.lags && !m.moves && m.restored.IsZero() }

// check is called when a run begins.
func (m *echoModel) check(key string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	k := m.keys[key]
	m.allRuns++
	kinds := [3]int{}
	for _, r := range k.reasons {
		kinds[m.kindOf(key, r)]++
	}
	m.echoes += kinds[echo]
	switch {
	case kinds[foreign] > 0 || !m.isStrict():
	case kinds[ownUnchecked] > 0:
		m.seconds++
	default:
		m.Errorf("%v: %s runs because of %d echoes only", time.Now(), key, kinds[echo])
	}
	k.reasons = slices.DeleteFunc(k.reasons, func(r *reason) bool { return r.over && r.at.Before(time.Now()) })
	for i, c := range m.caches {
		k.started[i] = map[string]string{}
		for _, obj := range c.informer.GetStore().List() {
			if obj := obj.(*corev1.ConfigMap); slices.Contains(keysOf(obj.Name), key) {
				k.started[i][obj.Name] = obj.ResourceVersion
			}
		}
	}
}

// mayMiss reports whether a cache may lack changes: a watch that has gone on at a restored server is wrong
// until the next list. A list that has taken long may be that of before the restore.
func (m *echoModel) mayMiss(c *cached) bool {
	status, _ := informer.StatusOf(c.informer)
	return !m.restored.IsZero() && (m.lags || !status.Listed.After(m.restored))
}
