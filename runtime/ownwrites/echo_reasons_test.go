package ownwrites_test

import (
	"cmp"
	"slices"
	"strconv"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/kubewright/kubewright/internal/bubble"
	"github.com/kubewright/kubewright/runtime/informer"
)

// echoKey is what the model knows of a key.
type echoKey struct {
	// reasons are why it may have been added since the last start.
	reasons []*reason
	// started are the versions of the caches at the last start.
	started []int
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

// historic is a write. base is the version before it, empty for a creation. by is the key that wrote it.
type historic struct {
	uid               types.UID
	base, by          string
	keys              []string
	checked, answered bool
}

// notified notes why keys are about to be added. What it returns is called when they have been added.
func (m *echoModel) notified(old, changed *corev1.ConfigMap, initial bool) (over func()) {
	if m.chance(3) {
		bubble.Pass(time.Duration(m.n(40)) * time.Millisecond)
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
	for _, key := range keysOf(cmp.Or(changed, old)) {
		reasons = append(reasons, m.keys[key].because(r))
	}
	return func() { m.end(reasons...) }
}

func (m *echoModel) end(reasons ...*reason) {
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
	last := m.history[n.to]
	if last == nil || last.by != key || !last.answered || last.uid != n.uid {
		return foreign
	}
	for at := n.to; at != n.from; {
		h := m.history[at]
		if h == nil || h.by != key || !h.answered || !h.checked || h.uid != n.uid {
			return ownUnchecked
		}
		if at = h.base; at == "" && n.from != "" {
			return ownUnchecked
		}
	}
	return echo
}

func (m *echoModel) begin(key string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	k := m.keys[key]
	m.runs++
	kinds := [3]int{}
	for _, r := range k.reasons {
		kinds[m.kindOf(key, r)]++
	}
	m.echoes += kinds[echo]
	switch {
	case kinds[foreign] > 0 || m.kind.lags || !m.restored.IsZero():
	case kinds[ownUnchecked] > 0:
		m.seconds++
	default:
		m.Errorf("%v: %s runs because of %d echoes only", time.Now(), key, kinds[echo])
	}
	k.reasons = slices.DeleteFunc(k.reasons, func(r *reason) bool { return r.over && r.at.Before(time.Now()) })
	for i, c := range m.caches {
		k.started[i] = c.version()
	}
}

// gone reports whether no object has a UID any more.
func (m *echoModel) gone(uid types.UID) bool {
	return !slices.ContainsFunc(m.api.server.Objects(), func(o *corev1.ConfigMap) bool { return o.UID == uid })
}

// settled checks the end of a history.
func (m *echoModel) settled() {
	m.mu.Lock()
	defer m.mu.Unlock()
	if n := m.queue.Pending(); n != 0 {
		m.Errorf("%d keys are pending at the end", n)
	}
	created := map[types.UID]int{}
	for version, h := range m.history {
		if h.base == "" {
			created[h.uid], _ = strconv.Atoi(version)
		}
	}
	var listed []bool
	for _, c := range m.caches {
		status, _ := informer.StatusOf(c.informer)
		// A list that has taken long may be that of before the restore.
		listed = append(listed, m.restored.IsZero() || status.Listed.After(m.restored) && !m.kind.lags)
	}
	for version, h := range m.history {
		number, _ := strconv.Atoi(version)
		for _, key := range h.keys {
			for i, started := range m.keys[key].started {
				if !listed[i] {
					continue // A watch that has gone on at a restored server is wrong until the next list.
				}
				if created[h.uid] > started && m.gone(h.uid) {
					continue // A handler that coalesces need not see it.
				}
				if h.by != key && started < number {
					m.Errorf("%s last ran at version %d of cache %d, but %q wrote an object of it at %s",
						key, started, i, h.by, version)
				}
			}
		}
	}
	if !m.kind.lags && m.restored.IsZero() && m.seconds > m.writing {
		m.Errorf("%d runs because of own writes without a version, but only %d runs wrote", m.seconds, m.writing)
	}
	m.Logf("%d runs, %d of them wrote, %d because of own writes without a version, %d echoes", m.runs, m.writing,
		m.seconds, m.echoes)
}
