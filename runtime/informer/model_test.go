package informer_test

import (
	"sync/atomic"
	"testing"

	"k8s.io/client-go/tools/cache"

	"github.com/kubewright/kubewright/internal/guarantee"
	"github.com/kubewright/kubewright/runtime/informer"
	"github.com/kubewright/kubewright/runtime/internal/indexer"
)

// model is a handler that tracks the changes in a map and reports the first one that doesn't fit: a change
// that was missed, repeated or reordered.
type model struct {
	t     *testing.T
	store *indexer.Indexer[cache.ObjectName]
	// pause lengthens a call.
	pause func()

	inside  atomic.Int32
	removed atomic.Bool
	// objects has the versions by name.
	objects map[string]string
	initial bool
	// latest is set if the handler coalesces: it may then have missed the last states of a deleted object.
	latest bool
	// synced is set when a loop has reached the end of the initial list.
	synced bool
}

func newModel(t *testing.T, i made, pause func()) *model {
	return &model{t: t, store: i.GetIndexer().(*indexer.Indexer[cache.ObjectName]), pause: pause,
		objects: map[string]string{}, initial: true}
}

// enter checks the conditions of every call. It returns a function that ends the call.
func (m *model) enter(obj *configMap, gone bool) func() {
	if m.inside.Add(1) != 1 {
		m.t.Errorf("%s: two calls of one handler at the same time", guarantee.Ordered)
	}
	if m.removed.Load() {
		m.t.Errorf("%s: a call after the removal", guarantee.NoLeak)
	}
	if stored, version, ok := m.store.Store().Lookup(cache.MetaObjectToName(obj)); ok && !gone &&
		versionOf(stored.(*configMap)) < versionOf(obj) {
		m.t.Errorf("%s: %s was reported while the store was at %s", guarantee.Complete, describe(obj), version)
	}
	m.pause()
	return func() { m.inside.Add(-1) }
}

func (m *model) OnAdd(obj *configMap, initial bool) {
	defer m.enter(obj, false)()
	if old, ok := m.objects[obj.Name]; ok {
		m.t.Errorf("%s: %s was added, it was there at %s", guarantee.Unique, describe(obj), old)
	}
	if initial && !m.initial {
		m.t.Errorf("%s: %s belongs to the initial list, which was over", guarantee.SyncedMeansDelivered,
			describe(obj))
	}
	m.initial = initial
	m.objects[obj.Name] = obj.ResourceVersion
}

func (m *model) OnUpdate(oldObj, newObj *configMap) {
	defer m.enter(newObj, false)()
	if old := m.objects[newObj.Name]; old != oldObj.ResourceVersion {
		m.t.Errorf("%s: %s was updated to %s, it was at %q", guarantee.Ordered, describe(oldObj),
			newObj.ResourceVersion, old)
	}
	if versionOf(newObj) < versionOf(oldObj) {
		m.t.Errorf("%s: %s went back to %s", guarantee.Ordered, describe(oldObj), newObj.ResourceVersion)
	}
	m.initial = false
	m.objects[newObj.Name] = newObj.ResourceVersion
}

func (m *model) OnDelete(gone cache.DeletedObject[*configMap]) {
	defer m.enter(gone.OptionalObj, true)()
	name := gone.GetName()
	old, ok := m.objects[name]
	if !ok {
		m.t.Errorf("%s: %s was deleted, it wasn't there", guarantee.Unique, gone.GetKey())
	}
	if !m.latest && gone.FinalStateUnknown != nil && gone.OptionalObj.ResourceVersion != old {
		m.t.Errorf("%s: %s is the last known state of %s, which was at %s", guarantee.Ordered,
			describe(gone.OptionalObj),
			gone.GetKey(), old)
	}
	m.initial = false
	delete(m.objects, name)
}

// follow passes an event of a loop on to the handler.
func (m *model) follow(event informer.Event[*configMap]) {
	switch event.Type {
	case informer.Added:
		m.OnAdd(event.Object, event.Initial)
	case informer.Updated:
		m.OnUpdate(event.Old, event.Object)
	case informer.Deleted:
		gone := cache.DeletedObject[*configMap]{OptionalObj: event.Object}
		if event.Missed {
			gone.FinalStateUnknown = &cache.DeletedFinalStateUnknown{
				Key: cache.MetaObjectToName(event.Object).String(), Obj: event.Object}
		}
		m.OnDelete(gone)
	case informer.Synced:
		if m.synced {
			m.t.Errorf("%s: the end of the initial list came twice", guarantee.Unique)
		}
		m.synced = true
	}
}
