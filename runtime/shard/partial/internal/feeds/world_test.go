package feeds

import (
	"context"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/kubewright/kubewright/internal/bubble"
	"github.com/kubewright/kubewright/runtime/internal/clientsource"
	"github.com/kubewright/kubewright/runtime/internal/reflector"
	"github.com/kubewright/kubewright/runtime/internal/sources"
	"github.com/kubewright/kubewright/runtime/runtimetest"
	"github.com/kubewright/kubewright/runtime/shard"
)

type server = runtimetest.Server[*corev1.ConfigMap, *corev1.ConfigMapList]

func newServer() *server { return runtimetest.NewServer[corev1.ConfigMap, corev1.ConfigMapList]() }

// maxNamespaces is how many namespaces there are, maxObjects bounds how many objects a test creates.
const maxNamespaces, maxObjects = 12, 300

func namespaceOf(n int) string { return fmt.Sprint("namespace-", n) }

// world is a server, and a group that fills a mapSink from it.
type world struct {
	t      *testing.T
	server *server
	by     shard.Field
	group  *Group
	sink   *mapSink
	// probes have all values that the server's objects may have, and cuts are some of their hashes, in order.
	probes []*corev1.ConfigMap
	cuts   []uint64
	// wanted are the ranges that were set last.
	wanted shard.Ranges
	// skips makes the source skip objects that aren't wanted.
	skips   bool
	running bool
	health  reflector.Health

	// mu is held during writes, so that the sink isn't told of one that isn't among the past ones.
	mu   sync.Mutex
	past []*past
}

// past is what has happened to an object.
type past struct {
	uid types.UID
	// value is what is hashed.
	value    string
	versions []int64
	// deleted is set if the last version is that of the deletion.
	deleted bool
}

// at returns the version that the object had at a version of the server, and whether it existed.
func (o *past) at(version int64) (at int64, existed bool) {
	for i, v := range o.versions {
		if v <= version {
			at, existed = v, !o.deleted || i < len(o.versions)-1
		}
	}
	return at, existed
}

func newWorld(t *testing.T, by shard.Field, options reflector.Options) *world {
	w := &world{t: t, by: by, server: newServer()}
	var hashes []uint64
	for n := range map[shard.Field]int{shard.ByNamespace: maxNamespaces, shard.ByUID: maxObjects}[by] {
		probe := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{
			Namespace: namespaceOf(n), UID: types.UID(fmt.Sprint("uid-", n+1))}}
		w.probes = append(w.probes, probe)
		hashes = append(hashes, by.Hash(probe))
	}
	slices.Sort(hashes)
	for n := range maxNamespaces {
		w.cuts = append(w.cuts, hashes[n*len(hashes)/maxNamespaces])
	}
	source := clientsource.FromClient(reflect.TypeFor[*corev1.ConfigMap](),
		func() sources.Client[*corev1.ConfigMapList] { return w.server },
		clientsource.Options{Client: w.server})
	if options.ErrorHandler == nil {
		options.ErrorHandler = func(context.Context, error) {}
	}
	w.sink = newMapSink(w)
	w.group = New(&skippingSource{source, &w.skips}, w.sink, Options{Field: by, Reflector: options})
	return w
}

// inWorld calls f in a bubble.
func inWorld(t *testing.T, by shard.Field, options reflector.Options, f func(*world)) {
	synctest.Test(t, func(t *testing.T) { f(newWorld(t, by, options)) })
}

func (w *world) valueOf(o *corev1.ConfigMap) string {
	if w.by == shard.ByUID {
		return string(o.UID)
	}
	return o.Namespace
}

func (w *world) eachPast(f func(*past)) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, o := range w.past {
		f(o)
	}
}

// put creates or updates an object.
func (w *world) put(namespace, name string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if o, exists := w.server.Find(namespace, name); exists {
		w.changed(o, w.server.Update(o))
		return
	}
	w.server.Create(&corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name}})
	o, _ := w.server.Find(namespace, name)
	if len(w.past) == maxObjects {
		w.t.Fatalf("more than %d objects were created", maxObjects)
	}
	w.past = append(w.past, &past{uid: o.UID, value: w.valueOf(o)})
	w.changed(o, o.ResourceVersion)
}

// remove deletes an object if it exists.
func (w *world) remove(namespace, name string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if o, exists := w.server.Find(namespace, name); exists {
		w.changed(o, w.server.Delete(namespace, name)).deleted = true
	}
}

// changed records a write. The caller holds mu.
func (w *world) changed(object *corev1.ConfigMap, version string) *past {
	i := slices.IndexFunc(w.past, func(o *past) bool { return o.uid == object.UID })
	o := w.past[i]
	o.versions = append(o.versions, number(version))
	return o
}

// run runs the group. What it returns ends that, and checks that nothing goes on.
func (w *world) run() (stop func()) {
	ctx, cancel := context.WithCancel(w.t.Context())
	var running sync.WaitGroup
	running.Go(func() { w.group.Run(ctx) })
	synctest.Wait()
	w.running = true
	return func() {
		cancel()
		running.Wait()
		synctest.Wait()
		if n := w.server.Watches(); n != 0 {
			w.t.Errorf("%d watches are open after the end", n)
		}
		before, requests := w.group.Status(), len(w.server.Requests())
		if err := w.group.SetRanges(shard.All()); err != before.Fatal {
			w.t.Error(err)
		}
		synctest.Wait()
		if n := len(w.server.Requests()); n != requests || w.group.Status().Feeds != before.Feeds {
			w.t.Errorf("after the end there were %d requests, %d feeds, then %d, %d", requests, before.Feeds, n,
				w.group.Status().Feeds)
		}
		if state := w.group.Health().State; state != reflector.Stopped {
			w.t.Errorf("it is %s after the end", state)
		}
	}
}

func (w *world) set(ranges shard.Ranges) {
	w.t.Helper()
	if err := w.group.SetRanges(ranges); err != nil {
		w.t.Fatal(err)
	}
	w.wanted = ranges
}

// store makes up to n committed lists arrive in the cache.
func (w *world) store(n int) {
	for range n {
		var stored func()
		w.read(func(s *mapSink) {
			if len(s.stored) > 0 {
				stored, s.stored = s.stored[0], s.stored[1:]
			}
		})
		if stored == nil {
			return
		}
		stored()
	}
}

// read calls f while nothing changes the sink.
func (w *world) read(f func(*mapSink)) {
	w.group.mu.Lock()
	defer w.group.mu.Unlock()
	f(w.sink)
}

// settle gives the group time to become current: its back-off ends, and bookmarks arrive, which end
// watch-lists, too. A fault that was planned for the next request may occur late.
func (w *world) settle() {
	w.server.OnRequest(nil)
	w.server.OmitEndBookmark(false)
	for n := 0; n < 6 || n < 30 && w.server.Watches() != min(len(w.wanted), 1); n++ {
		bubble.Advance(time.Minute)
		w.server.EndInitialEvents()
		synctest.Wait()
		w.store(maxObjects)
	}
}

// checkAlways checks what holds at any time.
func (w *world) checkAlways() {
	w.t.Helper()
	health := w.group.Health()
	w.group.mu.Lock()
	defer w.group.mu.Unlock()
	if !w.wanted.Covers(w.group.held) {
		w.t.Errorf("%v are held, %v wanted", w.group.held, w.wanted)
	}
	for _, p := range w.probes {
		hash, shown := w.by.Hash(p), w.sink.shown[w.valueOf(p)]
		if shown && !w.wanted.Contains(hash) || !shown && w.group.held.Contains(hash) {
			w.t.Errorf("%s: shown %t, %v are held, %v wanted", w.valueOf(p), shown, w.group.held, w.wanted)
		}
	}
	if !w.running {
		return
	}
	var read shard.Ranges
	several := len(w.group.feeds) > 1
	for _, f := range w.group.feeds {
		if both := read.And(f.ranges); len(both) > 0 || len(f.ranges) == 0 {
			w.t.Errorf("a feed of %v, two feeds read %v", f.ranges, both)
		}
		read = read.Plus(f.ranges)
		several = several || len(f.watermarks) > 0
		if later := watermarksAfter(f.at, f.watermarks); len(later) != len(f.watermarks) {
			w.t.Errorf("a feed at %s has the watermarks %v", f.at, f.watermarks)
		}
	}
	if !read.Equal(w.wanted) {
		w.t.Errorf("the feeds read %v, wanted are %v", read, w.wanted)
	}
	if several != w.sink.pinned {
		w.t.Errorf("changes of several feeds: %t, pinned: %t", several, w.sink.pinned)
	}
	before := w.health
	if health.Synced.Before(before.Synced) || health.LastEvent.Before(before.LastEvent) ||
		health.RelistedAt.Before(before.RelistedAt) ||
		health.Lists < before.Lists || health.Watches < before.Watches {
		w.t.Errorf("the health was\n%+v, is\n%+v", before, health)
	}
	w.health = health
}

// checkQuiet checks what holds when nothing is under way.
func (w *world) checkQuiet(what string) {
	w.t.Helper()
	w.checkAlways()
	status, health, feeds := w.group.Status(), w.group.Health(), min(len(w.wanted), 1)
	if status.Feeds != feeds || w.server.Watches() != feeds || !status.Wanted.Equal(w.wanted) ||
		!status.Held.Equal(w.wanted) || status.Fatal != nil {
		w.t.Fatalf("%s: of %v, %d watches, %+v", what, w.wanted, w.server.Watches(), status)
	}
	want := map[string]string{}
	for _, o := range w.server.Objects() {
		if w.wanted.Contains(w.by.Hash(o)) {
			want[nameOf(o)] = stateOf(o)
		}
	}
	w.group.mu.Lock()
	defer w.group.mu.Unlock()
	var bookmark time.Time
	for _, f := range w.group.feeds {
		bookmark = f.reflector.Health().LastBookmark
	}
	if !health.LastBookmark.Equal(bookmark) {
		w.t.Errorf("%s: the last bookmark is of %v, that of the feed that reads of %v", what, health.LastBookmark,
			bookmark)
	}
	if !health.ListingSince.IsZero() {
		w.t.Errorf("%s: a list has been under way since %v", what, health.ListingSince)
	}
	stored, live := map[string]string{}, map[string]string{}
	for name, o := range w.sink.objects {
		stored[name] = stateOf(o)
	}
	for _, o := range w.sink.live {
		live[nameOf(o)] = stateOf(o)
	}
	if !maps.Equal(stored, want) || !maps.Equal(live, want) || len(w.sink.live) != len(want) {
		w.t.Fatalf("%s: of %v the sink has\n%v\nand was told of\n%v\nthe server has\n%v\n%+v\n%v", what, w.wanted,
			stored, live, want, status, w.server.Requests())
	}
	if w.sink.pinned || w.sink.completed != 1 {
		w.t.Fatalf("%s: pinned %t, completed %d times", what, w.sink.pinned, w.sink.completed)
	}
	if health.Lists != w.sink.committed || health.Watches < feeds {
		w.t.Fatalf("%s: of %d lists and of watches the health has %d and %d", what, w.sink.committed, health.Lists,
			health.Watches)
	}
	state := []reflector.State{reflector.Idle, reflector.Watching}[feeds]
	if now := w.server.Version(); health.State != state ||
		feeds > 0 && (number(now) != w.sink.version || w.group.minVersion() != now) {
		w.t.Fatalf("%s: the sink is at %d, the server at %s, %+v", what, w.sink.version, now, health)
	}
}
