package check

import (
	"fmt"
	"maps"
	"slices"

	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/tools/cache"

	"github.com/kubewright/kubewright/envtest/record"
	"github.com/kubewright/kubewright/test/lab/cluster"
)

// check checks every law of the informer while everything waits.
func (s *subject) check() {
	version, objects := s.contents()
	if s.set == nil {
		// The informer of a set has no version.
		s.compare("while everything waits", version, objects)
		s.checkVersion()
	}
	s.checkReads(objects)
	for _, b := range s.observers {
		s.complain(b)
		if b.keepsUp() {
			s.checkHandler(b, objects)
		}
	}
	// A handler doesn't receive the events that are still pending when its namespace leaves a set.
	if s.twins[0] != nil && s.twins[1] != nil && !s.left {
		s.checkTwins()
	}
}

// checkVersion checks that the version doesn't go back, and that an informer that has synced stays so.
func (s *subject) checkVersion() {
	if v := number(s.informer.LastSyncResourceVersion()); v < s.version {
		s.world.law(grows, "%v was at %d and is at %d", s, s.version, v)
	} else {
		s.version = v
	}
	synced := s.informer.HasSynced()
	if s.synced && !synced {
		s.world.law(staysSynced, "%v had synced, and hasn't any more", s)
	}
	s.synced = synced
}

// complain reports a problem that a handler's recorder found.
func (s *subject) complain(b *observer) {
	if problems := b.Problems(); len(problems) > 0 {
		s.world.law(replays, "%v: %s", b, problems[0])
	}
}

// checkHandler checks that a handler has received what is in the store.
func (s *subject) checkHandler(b *observer, objects map[cache.ObjectName]cluster.Object) {
	if told, stored := b.Versions(), versionsOf(objects); !maps.Equal(told, stored) {
		s.world.law(replays,
			"%v (%v, %+v) knows %v, the store has %v", b, b.options.manner, b.options, told, stored)
	}
	if r := b.registration; r.HasSynced() != s.informer.HasSynced() && s.set == nil {
		s.world.law(toldSynced, "%v has synced: %t, its informer: %t", b, r.HasSynced(),
			s.informer.HasSynced())
	}
}

func versionsOf(objects map[cache.ObjectName]cluster.Object) map[cache.ObjectName]string {
	return record.Versions(slices.Collect(maps.Values(objects)))
}

// checkTwins checks that the typed and the untyped handler received the same events of each object, in the
// same order.
func (s *subject) checkTwins() {
	typed, untyped := byObject(s.twins[0].Events()), byObject(s.twins[1].Events())
	for _, name := range slices.Concat(slices.Collect(maps.Keys(typed)), slices.Collect(maps.Keys(untyped))) {
		if diff := record.Diff(typed[name], untyped[name]); diff != "" {
			s.world.law(agree, "%v, of %s, the typed one beside the untyped: %s", s,
				name, diff)
			return
		}
	}
}

func byObject(events []record.Event) map[cache.ObjectName][]record.Event {
	of := map[cache.ObjectName][]record.Event{}
	for _, e := range events {
		of[e.Name] = append(of[e.Name], e)
	}
	return of
}

// checkReads checks that every way to read the store finds what a scan of the store finds.
func (s *subject) checkReads(objects map[cache.ObjectName]cluster.Object) {
	differs := func(how string, got []cluster.Object, err error, matches func(cluster.Object) bool) {
		var want []cluster.Object
		for _, obj := range objects {
			if matches(obj) {
				want = append(want, obj)
			}
		}
		if err != nil || names(got) != names(want) {
			s.world.fail(finds, "%v, by %s: [%s] (%v), by a scan: [%s]", s, how,
				names(got), err, names(want))
		}
	}
	indexer := s.informer.GetIndexer()
	if s.set == nil || len(s.set.Names()) > 0 {
		for _, color := range []string{"red", "warm", "green", "blue"} {
			found, err := indexer.ByIndex(colorIndex, color)
			differs("the index of "+color, narrow(found), err,
				func(obj cluster.Object) bool { return slices.Contains(colorsOf(obj), color) })
		}
		for _, namespace := range namespaces {
			found, err := indexer.ByIndex(cache.NamespaceIndex, namespace)
			differs("the index of "+namespace, narrow(found), err,
				func(obj cluster.Object) bool { return obj.GetNamespace() == namespace })
		}
	}
	s.checkValues(objects)
	for name := range objects {
		if _, exists, err := indexer.GetByKey(name.String()); err != nil || !exists {
			s.world.fail(finds, "%v, by the key %s: nothing (%v)", s, name, err)
		}
	}
	if n := len(indexer.ListKeys()); n != len(objects) {
		s.world.fail(finds, "%v: %d keys, %d objects", s, n, len(objects))
	}
	if s.list != nil {
		for _, text := range []string{"", "color=red", "color in (green,blue)", "shape", "color!=red,!shape"} {
			selector := must(labels.Parse(text))
			found, err := s.list(selector)
			differs(fmt.Sprintf("the lister, %q", text), found, err,
				func(obj cluster.Object) bool { return selector.Matches(labels.Set(obj.GetLabels())) })
		}
		for _, color := range []string{"warm", "blue"} {
			found, err := s.find(color)
			differs("the field of "+color, found, err,
				func(obj cluster.Object) bool { return slices.Contains(colorsOf(obj), color) })
		}
	}
}

// checkValues checks that the index of colors has the values of the objects, and none that no object has.
func (s *subject) checkValues(objects map[cache.ObjectName]cluster.Object) {
	want := map[string]bool{}
	for _, obj := range objects {
		for _, color := range colorsOf(obj) {
			want[color] = true
		}
	}
	got := map[string]bool{}
	for _, color := range s.informer.GetIndexer().ListIndexFuncValues(colorIndex) {
		got[color] = true
	}
	if !maps.Equal(got, want) {
		s.world.fail(finds, "%v: its index has the values %v, the objects have %v", s, got, want)
	}
}

func narrow(list []any) (objects []cluster.Object) {
	for _, obj := range list {
		objects = append(objects, obj.(cluster.Object))
	}
	return objects
}

// checkEqual checks that the store is what the server has now, in every field.
func (s *subject) checkEqual() {
	state, version := s.kind.Now()
	want := s.wanted(state)
	at, got := s.contents()
	if !maps.Equal(versionsOf(got), versionsOf(want)) {
		s.world.fail(Converges, "%v at %s has [%s], the server at %s has [%s]%s", s, at, show(got), version,
			show(want), s.status())
		return
	}
	for name, obj := range want {
		obj = obj.DeepCopyObject().(cluster.Object)
		if s.options.transform {
			_, _ = transform(obj)
		}
		have := got[name].DeepCopyObject().(cluster.Object)
		have.GetObjectKind().SetGroupVersionKind(schema.GroupVersionKind{})
		obj.GetObjectKind().SetGroupVersionKind(schema.GroupVersionKind{})
		if !equality.Semantic.DeepEqual(have, obj) {
			s.world.fail(Converges, "%v has\n%s\nthe server has\n%s", s, record.Text(have), record.Text(obj))
		}
	}
	if !s.informer.HasSynced() {
		s.world.fail(Converges, "%v hasn't synced%s", s, s.status())
	}
}

// checkTold checks that the handlers have received what the store has, unless they are blocked.
func (s *subject) checkTold() {
	_, objects := s.contents()
	for _, b := range s.observers {
		if !b.reads() {
			continue
		}
		if told, stored := b.Versions(), versionsOf(objects); !maps.Equal(told, stored) {
			s.world.fail(Converges, "%v (%v, %+v) knows %v, the store has %v", b, b.options.manner,
				b.options, told, stored)
		}
	}
}
