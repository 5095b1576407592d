package conformance_test

import (
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	corev1 "k8s.io/api/core/v1"
	clientgo "k8s.io/client-go/tools/cache"

	"github.com/kubewright/kubewright/internal/bubble"
	"github.com/kubewright/kubewright/internal/guarantee"
	"github.com/kubewright/kubewright/runtime/cache"
	"github.com/kubewright/kubewright/runtime/gen/informer"
	"github.com/kubewright/kubewright/runtime/internal/conformance"
	"github.com/kubewright/kubewright/runtime/internal/store"
)

// told is one call of a handler, without resyncs and the initial list.
type told struct {
	name, version int
	gone, missed  bool
}

// observer is a handler that tracks the state that its calls report. Its fields belong to its calls; the walk
// may use them only while all goroutines block.
type observer struct {
	m            *model
	registration atomic.Pointer[clientgo.ResourceEventHandlerRegistration]
	// mu orders a call before the walk's reads of its results. synctest.Wait doesn't, if the goroutine of the
	// call has ended.
	mu     sync.Mutex
	gate   chan struct{}
	nap    time.Duration
	inside atomic.Int32
	// gone forbids further calls; leave makes the next call the last one; deaf forbids resyncs.
	gone, leave, deaf atomic.Bool

	state   state
	log     []told
	initial bool
	resyncs int
	// from is the earliest position in the watcher's log at which it can have joined; joined is the actual
	// one, or -1 while that is unknown.
	from, joined int
	start        state // the state after the initial list
}

func newObserver(m *model, manner int) *observer {
	o := &observer{m: m, initial: true, joined: -1}
	switch manner {
	case 1:
		o.gate = make(chan struct{})
	case 2:
		o.nap = 700 * time.Millisecond
	}
	return o
}

func (o *observer) release() {
	if o.gate != nil {
		select {
		case <-o.gate:
		default:
			close(o.gate)
		}
	}
}

// meet orders the effects of calls before the next actions of the walk, and the other way round.
func (o *observer) meet() {
	o.mu.Lock()
	defer o.mu.Unlock()
}

// idle reports whether no call is active. It is for use while all goroutines block.
func (o *observer) idle() bool { return o.inside.Load() == 0 }

func (o *observer) enter() (leave func()) {
	if o.inside.Add(1) != 1 {
		o.m.fail(guarantee.Ordered, "two calls of one handler at a time")
	}
	if o.gone.Load() {
		o.m.fail(guarantee.NoLeak, "a handler is called after its end")
	}
	o.m.look()
	if o.gate != nil {
		<-o.gate
	}
	bubble.Pass(o.nap)
	o.mu.Lock()
	return func() {
		o.mu.Unlock()
		if registration := o.registration.Load(); registration != nil && o.leave.Load() &&
			!o.gone.Swap(true) {
			if err := o.m.subject.informer.RemoveEventHandler(*registration); err != nil {
				o.m.fail(guarantee.NoRace, err.Error())
			}
		}
		o.inside.Add(-1)
	}
}

func (o *observer) OnAdd(obj any, initial bool) {
	defer o.enter()()
	cm := obj.(*corev1.ConfigMap)
	n, v := number(cm.Name), versionNumber(obj)
	if o.state[n] != 0 {
		o.m.fail(guarantee.Unique, cm.Name+" was added, but was there")
	}
	if initial && !o.initial {
		o.m.fail(guarantee.SyncedMeansDelivered, cm.Name+" belongs to the initial list, which was over")
	}
	if r := o.registration.Load(); initial && r != nil && (*r).HasSynced() {
		o.m.fail(guarantee.SyncedMeansDelivered, "a handler has synced while it is told of its initial list")
	}
	o.state[n] = v
	if o.initial = initial; initial {
		o.start[n] = v
		return
	}
	o.log = append(o.log, told{name: n, version: v})
}

// wrongFrom returns what is broken if a handler that knows one state of an object is told of a change from
// another one: what led there wasn't told, or comes late.
func wrongFrom(known, other int) guarantee.Guarantee {
	if known < other {
		return guarantee.Complete
	}
	return guarantee.Ordered
}

func (o *observer) OnUpdate(old, new any) {
	defer o.enter()()
	cm := new.(*corev1.ConfigMap)
	n, v := number(cm.Name), versionNumber(new)
	if was := versionNumber(old); o.state[n] != was || v < was {
		o.m.fail(wrongFrom(o.state[n], was), cm.Name+" was updated from "+strconv.Itoa(was)+" to "+strconv.Itoa(v)+
			", it was at "+strconv.Itoa(o.state[n]))
	}
	o.initial = false
	if o.state[n] == v {
		if o.resyncs++; o.deaf.Load() {
			o.m.fail(guarantee.Unique, "a handler that doesn't resync was told what it knew")
		}
		return
	}
	o.state[n] = v
	o.log = append(o.log, told{name: n, version: v})
}

func (o *observer) OnDelete(obj any) {
	defer o.enter()()
	tombstone, missed := obj.(clientgo.DeletedFinalStateUnknown)
	if missed {
		obj = tombstone.Obj
	}
	cm := obj.(*corev1.ConfigMap)
	n, v := number(cm.Name), versionNumber(obj)
	if o.state[n] == 0 {
		o.m.fail(guarantee.Unique, cm.Name+" was deleted, but wasn't there")
	}
	if missed != (o.state[n] == v) || missed && tombstone.Key != "ns/"+cm.Name {
		o.m.fail(wrongFrom(o.state[n], v),
			cm.Name+" was deleted at "+strconv.Itoa(v)+", it was at "+strconv.Itoa(o.state[n])+
				", missed "+strconv.FormatBool(missed))
	}
	o.initial, o.state[n] = false, 0
	o.log = append(o.log, told{name: n, version: v, gone: true, missed: missed})
}

// follows checks that the observer received what the watcher received since it joined: nothing is missing,
// nothing comes twice, the order is the same.
func (o *observer) follows(watcher *observer) {
	if o.leave.Load() {
		return
	}
	if o.joined < 0 {
		if !o.idle() {
			return
		}
		o.joined = len(watcher.log) - len(o.log)
		if o.joined < o.from {
			o.m.fail(guarantee.Complete, "a handler was told more than there was")
			return
		}
		at := state{}
		for _, e := range watcher.log[:o.joined] {
			if at[e.name] = e.version; e.gone {
				at[e.name] = 0
			}
		}
		for n, v := range watcher.start {
			if v > 0 && !concerns(watcher.log[:o.joined], n) {
				at[n] = v
			}
		}
		if at != o.start && o.from > 0 {
			o.m.fail(guarantee.Complete, "a handler began with "+show(o.start)+" where another had "+show(at))
		}
	}
	for i, e := range o.log {
		if o.joined+i >= len(watcher.log) || watcher.log[o.joined+i] != e {
			o.m.fail(guarantee.Complete, "a handler was told something else than another one")
			return
		}
	}
	if o.idle() && o.joined+len(o.log) != len(watcher.log) {
		o.m.fail(guarantee.Complete, "a handler was told less than another one")
	}
}

func concerns(log []told, name int) bool {
	for _, e := range log {
		if e.name == name {
			return true
		}
	}
	return false
}

// versionNumber returns the version that an object has on the server.
func versionNumber(obj any) int {
	cm := obj.(*corev1.ConfigMap)
	version := cm.ResourceVersion
	if version == "" {
		version = cm.Data["version"]
	}
	v, _ := strconv.Atoi(version)
	return v
}

// byColor returns the index values of an object: none, one or two.
func byColor(obj any) []string {
	switch color := obj.(*corev1.ConfigMap).Labels["color"]; color {
	case "red":
		return nil
	case "blue":
		return []string{"blue", "not red"}
	default:
		return []string{color}
	}
}

// subject is the informer that a walk tests.
type subject struct {
	informer clientgo.SharedIndexInformer
	snapshot func() (state, string)
	// hold takes a snapshot. It returns a function that reads the snapshot again, and its state.
	hold    func() (func() state, state)
	indexes []string
}

func indexByColor(obj any) ([]string, error) { return byColor(obj), nil }

// addIndex adds an index while others read, which the race detector watches.
func (s *subject) addIndex() {
	if len(s.indexes) > 2 {
		return
	}
	var reading sync.WaitGroup
	defer reading.Wait()
	indexer := s.informer.GetIndexer()
	there := indexer.GetIndexers()
	reading.Go(func() {
		for name := range there {
			_, _ = indexer.ByIndex(name, "red")
			_ = indexer.ListIndexFuncValues(name)
		}
	})
	name := "color" + strconv.Itoa(len(s.indexes))
	if err := s.informer.AddIndexers(clientgo.Indexers{name: indexByColor}); err == nil {
		s.indexes = append(s.indexes, name)
	}
}

func newSubject[K comparable](i clientgo.SharedIndexInformer) *subject {
	objects := i.GetIndexer().(store.Backed[K]).Store()
	read := func(snapshot store.Snapshot[K]) (s state) {
		for _, obj := range snapshot.All() {
			s[number(obj.(*corev1.ConfigMap).Name)] = versionNumber(obj)
		}
		return s
	}
	return &subject{
		informer: i,
		snapshot: func() (state, string) {
			snapshot := objects.Snapshot()
			return read(snapshot), snapshot.ResourceVersion()
		},
		hold: func() (func() state, state) {
			snapshot := objects.Snapshot()
			return func() state { return read(snapshot) }, read(snapshot)
		},
		indexes: []string{"color"},
	}
}

func newTyped(s *conformance.ConfigMaps, resync time.Duration) *subject {
	i := informer.NewShared[*corev1.ConfigMap](
		func() informer.ResourceClient[*corev1.ConfigMapList] { return s },
		informer.Options{Client: s, ResyncPeriod: resync, Indexers: clientgo.Indexers{"color": indexByColor}})
	return newSubject[clientgo.ObjectName](i)
}

func newUntyped(s *conformance.ConfigMaps, resync time.Duration) *subject {
	i := cache.NewSharedIndexInformer(s.ListerWatcher(), &corev1.ConfigMap{}, resync,
		clientgo.Indexers{"color": indexByColor})
	return newSubject[string](i)
}
