package conformance_test

import (
	"maps"
	"slices"
	"strconv"
	"testing/synctest"
	"time"

	"github.com/kubewright/kubewright/internal/bubble"
	"github.com/kubewright/kubewright/internal/guarantee"
)

// checked has the findings of the last check, for laws that compare two checks.
type checked struct {
	version, lists int
	log            int // length of the watcher's log
	resyncs        int // resyncs that the resyncer saw
}

// fail records the first law that was broken. It is safe for concurrent use.
func (m *model) fail(g guarantee.Guarantee, law string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.failLocked(g, law)
}

func (m *model) failLocked(g guarantee.Guarantee, law string) {
	if m.violated == "" {
		m.violated = string(g) + ": " + law
	}
}

// look checks the store at this moment: its contents are the server's at the store's version.
func (m *model) look() {
	got, version := m.subject.snapshot()
	if version == "" {
		if got != (state{}) {
			m.fail(guarantee.Complete, "a store without a version holds something")
		}
		return
	}
	v, err := strconv.Atoi(version)
	m.mu.Lock()
	known := err == nil && v >= m.first && v-m.first < len(m.states)
	var want state
	var tainted [names]bool
	if known {
		want, tainted = m.states[v-m.first], m.tainted[v-m.first]
	}
	m.mu.Unlock()
	if !known {
		m.fail(guarantee.Complete, "the store is at a version that the server never had: "+version)
		return
	}
	for n := range want {
		if got[n] != want[n] && !tainted[n] {
			m.fail(guarantee.Complete, "at "+version+" the store has "+show(got)+", the server had "+show(want))
		}
	}
}

func show(s state) string {
	text := ""
	for n, version := range s {
		if version > 0 {
			text += name(n) + "@" + strconv.Itoa(version) + " "
		}
	}
	return "[ " + text + "]"
}

// check waits until all goroutines block and checks every law.
func (m *model) check() {
	synctest.Wait()
	all := append([]*observer{m.watcher, m.resyncer}, m.others...)
	meet := func() {
		for _, o := range all {
			o.meet()
		}
	}
	meet()
	defer meet()
	m.look()
	m.checkReads()
	m.checkSync()
	m.checkWatched()
	m.checkResyncs()
	for _, o := range append([]*observer{m.resyncer}, m.others...) {
		o.follows(m.watcher)
	}
	if m.held == nil || m.step%16 == 0 {
		m.held, m.heldState = m.subject.hold()
	}
	if now := m.held(); now != m.heldState {
		m.fail(guarantee.Complete, "a snapshot changed from "+show(m.heldState)+" to "+show(now))
	}
	m.mu.Lock()
	m.checked = checked{version: m.version(), lists: m.lists, log: len(m.watcher.log),
		resyncs: m.resyncer.resyncs}
	violated := m.violated
	m.mu.Unlock()
	if violated != "" {
		m.t.Fatalf("%s; seed %d, step %d (%s)", violated, m.seed, m.step, m.did)
	}
}

func (m *model) version() int {
	_, version := m.subject.snapshot()
	v, _ := strconv.Atoi(version)
	return v
}

// checkReads checks that all ways to read the store agree, indexes included.
func (m *model) checkReads() {
	want, _ := m.subject.snapshot()
	there := 0
	colors := map[string][]string{}
	for n := range want {
		obj, exists, err := m.subject.informer.GetStore().GetByKey("ns/" + name(n))
		if err != nil || exists != (want[n] > 0) || exists && versionNumber(obj) != want[n] {
			m.fail(guarantee.IndexEqualsScan, "reading "+name(n)+" by its key gives something else than the snapshot")
		}
		if !exists {
			continue
		}
		there++
		for _, value := range byColor(obj) {
			colors[value] = append(colors[value], "ns/"+name(n))
		}
	}
	if n := len(m.subject.informer.GetStore().List()); n != there ||
		len(m.subject.informer.GetStore().ListKeys()) != there {
		m.fail(guarantee.IndexEqualsScan, "a list of "+strconv.Itoa(n)+" objects, there are "+strconv.Itoa(there))
	}
	for _, index := range m.subject.indexes {
		values := m.subject.informer.GetIndexer().ListIndexFuncValues(index)
		slices.Sort(values)
		if want := slices.Sorted(maps.Keys(colors)); !slices.Equal(values, want) {
			m.fail(guarantee.IndexEqualsScan, "the values of the index are not those of the objects")
		}
		for value, want := range colors {
			keys, err := m.subject.informer.GetIndexer().IndexKeys(index, value)
			slices.Sort(keys)
			if err != nil || !slices.Equal(keys, want) {
				m.fail(guarantee.IndexEqualsScan, "the index has other objects than the store")
			}
		}
	}
}

// checkSync checks that the informer has synced once it has a complete list, that each handler which has
// caught up has synced with it, and that versions only grow.
func (m *model) checkSync() {
	i := m.subject.informer
	_, version := m.subject.snapshot()
	if i.HasSynced() != (version != "") {
		m.fail(guarantee.SyncedMeansDelivered,
			"the store is at "+version+", synced "+strconv.FormatBool(i.HasSynced()))
	}
	if last, _ := strconv.Atoi(i.LastSyncResourceVersion()); last < m.lastVersion {
		m.fail(guarantee.NoTimeTravel, "the last version went back")
	} else {
		m.lastVersion = last
	}
	for _, o := range append([]*observer{m.watcher, m.resyncer}, m.others...) {
		synced := (*o.registration.Load()).HasSynced()
		if synced && !i.HasSynced() {
			m.fail(guarantee.SyncedMeansDelivered, "a handler has synced before its informer")
		}
		if o.leave.Load() {
			continue // it may have left before it received everything
		}
		if o.idle() && synced != i.HasSynced() {
			m.fail(guarantee.SyncedMeansDelivered, "a handler that has caught up hasn't synced")
		}
		if backlog := (*o.registration.Load()).(interface{ Backlog() int }).Backlog(); backlog < 0 ||
			o.idle() && backlog != 0 {
			m.fail(guarantee.Complete, "the backlog of a handler is "+strconv.Itoa(backlog))
		}
	}
}

// checkWatched checks that, if there was no list since the last check, the handler that watches from the
// start received every write up to the store's version, in order.
func (m *model) checkWatched() {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.checked.version == 0 || m.lists != m.checked.lists {
		return
	}
	told := m.watcher.log[m.checked.log:]
	for v := m.checked.version + 1; v <= m.version(); v++ {
		w := m.writes[v-m.first]
		if w == nil || w.refused && !w.deleted {
			continue
		}
		if w.refused {
			// It is reported with the last state that the transform accepted, if there is one.
			if len(told) > 0 && told[0].name == w.name && told[0].gone && told[0].missed {
				told = told[1:]
			}
			continue
		}
		if len(told) == 0 || told[0].name != w.name || told[0].version != v || told[0].gone != w.deleted {
			m.failLocked(guarantee.Complete, "the write of version "+strconv.Itoa(v)+" was not reported")
			return
		}
		told = told[1:]
	}
	if len(told) > 0 {
		m.failLocked(guarantee.Unique, "something was reported that nobody wrote")
	}
}

// checkResyncs checks that a resync reports every object to the handlers that resync.
func (m *model) checkResyncs() {
	m.mu.Lock()
	quiet := m.lists == m.checked.lists && m.version() == m.checked.version && m.checked.version != 0
	m.mu.Unlock()
	if !quiet {
		return
	}
	resyncs := m.resyncer.resyncs - m.checked.resyncs
	if resyncs == 0 {
		return
	}
	m.ticked = true
	m.watcher.deaf.Store(true)
	there := len(m.subject.informer.GetStore().List())
	if there == 0 || resyncs%there != 0 {
		m.fail(guarantee.Complete,
			strconv.Itoa(resyncs)+" updates of a resync, there are "+strconv.Itoa(there)+" objects")
	}
}

// converge ends all faults; then the store and all handlers must arrive at the server's state.
func (m *model) converge() {
	m.did = "the end"
	m.server.OnRequest(nil)
	m.server.OmitEndBookmark(false)
	m.mu.Lock()
	for n := range m.exists {
		if m.bad[n] {
			m.mu.Unlock()
			m.mend(n)
			m.mu.Lock()
		}
	}
	m.mu.Unlock()
	for _, o := range m.others {
		o.release()
	}
	m.endStream()
	// This is longer than all back-offs: few failures are pending.
	bubble.Pass(time.Hour)
	m.check()
	m.mu.Lock()
	want := m.states[len(m.states)-1]
	m.mu.Unlock()
	if got, _ := m.subject.snapshot(); got != want {
		m.t.Fatalf("%s: in the end the store has %s, the server %s; seed %d", guarantee.Converging, show(got),
			show(want), m.seed)
	}
	for n, o := range append([]*observer{m.watcher, m.resyncer}, m.others...) {
		if !o.leave.Load() && o.state != want {
			m.t.Fatalf("%s: in the end handler %d has %s, the server %s; seed %d", guarantee.Converging, n,
				show(o.state), show(want), m.seed)
		}
	}
}

// mend replaces a state that the transform rejects with one that it accepts.
func (m *model) mend(n int) {
	m.mu.Lock()
	defer m.mu.Unlock()
	cm := configMap(name(n))
	cm.Labels = map[string]string{"color": "red"}
	if m.exists[n] {
		m.server.Update(cm)
	} else {
		m.server.Create(cm)
	}
	m.exists[n], m.bad[n] = true, false
	next, tainted := m.states[len(m.states)-1], m.tainted[len(m.tainted)-1]
	next[n], tainted[n] = m.first+len(m.states), false
	m.states, m.tainted, m.writes = append(m.states, next), append(m.tainted, tainted),
		append(m.writes, &write{name: n})
}
