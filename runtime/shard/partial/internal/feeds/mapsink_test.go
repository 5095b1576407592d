package feeds

import (
	"maps"
	"strconv"
	"sync"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/watch"

	"github.com/kubewright/kubewright/internal/bubble"
	"github.com/kubewright/kubewright/runtime/internal/engine"
)

// mapSink is a sink that has its objects in a map. It checks of each call whether it may come now. The
// group's mu guards it, because the group holds it during all calls but Prepare.
type mapSink struct {
	t *testing.T
	w *world
	// calling is locked during a call.
	calling sync.Mutex
	// objects are by name: as in an informer, an object may take the place of another one.
	objects map[string]*corev1.ConfigMap
	// live are the objects that exist as far as the sink was told, told the last versions of all that ever did.
	live map[types.UID]*corev1.ConfigMap
	told map[types.UID]int64
	// shown are the probes, by value, whose range the sink shows.
	shown   map[string]bool
	pinned  bool
	version int64
	// completed, resyncs, committed and discarded count calls.
	completed, resyncs, committed, discarded int
	// stored are what Commit has to call: the cache behind a sink may be slow.
	stored []func()
}

func newMapSink(w *world) *mapSink {
	return &mapSink{t: w.t, w: w, objects: map[string]*corev1.ConfigMap{},
		live: map[types.UID]*corev1.ConfigMap{}, told: map[types.UID]int64{}, shown: map[string]bool{}}
}

func number(version string) int64 {
	n, err := strconv.ParseInt(version, 10, 64)
	if err != nil {
		panic(err)
	}
	return n
}

func nameOf(o *corev1.ConfigMap) string  { return o.Namespace + "/" + o.Name }
func stateOf(o *corev1.ConfigMap) string { return string(o.UID) + "@" + o.ResourceVersion }

// enter begins a call. The caller of the sink makes one at a time.
func (s *mapSink) enter(what string) (leave func()) {
	if !s.calling.TryLock() {
		s.t.Errorf("%s during another call", what)
		s.calling.Lock()
	}
	return s.calling.Unlock
}

func (s *mapSink) Prepare(
	t watch.EventType, obj any, version string,
) (apply func(sameStream func(stored any) bool), err error) {
	// This never returns if the group's lock is held.
	s.w.group.Status()
	if number(version)%4 == 0 {
		bubble.Pass(300 * time.Millisecond) // Transforms take time, and ranges change meanwhile.
	}
	return func(sameStream func(stored any) bool) { s.change(t, obj.(*corev1.ConfigMap), sameStream) }, nil
}

// change applies an event as the documentation of [engine.Sink] says.
func (s *mapSink) change(t watch.EventType, o *corev1.ConfigMap, sameStream func(stored any) bool) {
	defer s.enter("a change")()
	version := number(o.ResourceVersion)
	if !s.shown[s.w.valueOf(o)] {
		s.t.Errorf("%s of %s in state %s, whose range the sink doesn't show", t, nameOf(o), stateOf(o))
	}
	if lives := s.live[o.UID] != nil; lives != (t != watch.Added) {
		s.t.Errorf("%s of %s in state %s, it is there: %t", t, nameOf(o), stateOf(o), lives)
	}
	if last := s.told[o.UID]; version <= last {
		s.t.Errorf("%s of %s in state %s after version %d", t, nameOf(o), stateOf(o), last)
	}
	if several := sameStream != nil; several != s.pinned {
		s.t.Errorf("%s of %s: one of several streams: %t, pinned: %t", t, nameOf(o), several, s.pinned)
	}
	s.told[o.UID], s.live[o.UID] = version, o
	if t == watch.Deleted {
		delete(s.live, o.UID)
	}
	old := s.objects[nameOf(o)]
	fromOther := old != nil && sameStream != nil && !sameStream(old)
	switch {
	case fromOther && (t == watch.Deleted || version < number(old.ResourceVersion)):
	case t == watch.Deleted:
		delete(s.objects, nameOf(o))
	default:
		s.objects[nameOf(o)] = o
	}
	if !s.pinned {
		s.advance("an event", version)
	}
}

// advance sets the version of the sink, which doesn't go back.
func (s *mapSink) advance(what string, version int64) {
	if version < s.version {
		s.t.Errorf("%s takes the sink from version %d back to %d, pinned: %t",
			what, s.version, version, s.pinned)
	}
	s.reach(what, version)
}

// reach sets the version of the sink, and checks that the sink was told of all that had happened by then to
// the objects of the ranges that it shows.
func (s *mapSink) reach(what string, version int64) {
	s.version = version
	s.w.eachPast(func(o *past) {
		if !s.shown[o.value] {
			return
		}
		at, existed := o.at(version)
		has := s.live[o.uid]
		missed := existed && (has == nil && !o.deleted || has != nil && number(has.ResourceVersion) < at)
		outlives := !existed && has != nil && number(has.ResourceVersion) <= version
		if missed || outlives {
			s.t.Errorf("%s takes the sink to version %d: it has %v, the server had %s@%d, existing: %t",
				what, version, has, o.uid, at, existed)
		}
	})
}

func (s *mapSink) Bookmark(version string) {
	defer s.enter("a bookmark")()
	s.advance("a bookmark", number(version))
}

func (s *mapSink) Resync() {
	defer s.enter("a resync")()
	s.resyncs++
}

func (s *mapSink) Pin(pinned bool) {
	defer s.enter("a pin")()
	if s.pinned == pinned {
		s.t.Errorf("Pin(%t) twice", pinned)
	}
	s.pinned = pinned
}

func (s *mapSink) Release(kept func(stored any) bool) {
	defer s.enter("a release")()
	for _, p := range s.w.probes {
		if !kept(p) {
			delete(s.shown, s.w.valueOf(p))
		}
	}
	s.drop(func(o any) bool { return !kept(o) })
}

func (s *mapSink) drop(which func(obj any) bool) {
	maps.DeleteFunc(s.objects, func(_ string, o *corev1.ConfigMap) bool { return which(o) })
	maps.DeleteFunc(s.live, func(_ types.UID, o *corev1.ConfigMap) bool { return which(o) })
}

func (s *mapSink) Complete() {
	defer s.enter("the completion")()
	if s.completed++; s.completed > 1 {
		s.t.Errorf("completed %d times", s.completed)
	}
}

func (s *mapSink) Begin() engine.Staging {
	return &mapStaging{sink: s, staged: map[types.UID]*corev1.ConfigMap{}}
}

// mapStaging is a list for a mapSink.
type mapStaging struct {
	sink *mapSink
	// staged are by UID: a watch-list may have an object and its successor of the same name.
	staged map[types.UID]*corev1.ConfigMap
	ended  bool
}

func (s *mapStaging) Add(obj any, _ string) error {
	o := obj.(*corev1.ConfigMap)
	s.staged[o.UID] = o
	return nil
}

func (s *mapStaging) Update(obj any, version string) error { return s.Add(obj, version) }

func (s *mapStaging) Remove(obj any) error {
	delete(s.staged, obj.(*corev1.ConfigMap).UID)
	return nil
}

// end ends the list, which must happen once.
func (s *mapStaging) end() {
	if s.ended {
		s.sink.t.Error("a list has ended twice")
	}
	s.ended = true
}

func (s *mapStaging) Commit(in func(obj any) bool, version string, stored func()) {
	sink := s.sink
	defer sink.enter("a list")()
	s.end()
	sink.committed++
	for _, p := range sink.w.probes {
		if in(p) {
			sink.shown[sink.w.valueOf(p)] = true
		}
	}
	sink.drop(in)
	for _, o := range s.staged {
		if !in(o) {
			continue
		}
		at := number(o.ResourceVersion)
		if last := sink.told[o.UID]; at < last {
			sink.t.Errorf("a list has %s in state %s after version %d", nameOf(o), stateOf(o), last)
		}
		sink.told[o.UID], sink.live[o.UID] = at, o
		if old := sink.objects[nameOf(o)]; old == nil || number(old.ResourceVersion) < at {
			sink.objects[nameOf(o)] = o
		}
	}
	// Only a list may have an earlier version than the sink: it can be behind what another feed has read.
	sink.reach("a list", number(version))
	sink.stored = append(sink.stored, stored)
}

func (s *mapStaging) Discard() {
	defer s.sink.enter("a discarded list")()
	s.end()
	s.sink.discarded++
}
