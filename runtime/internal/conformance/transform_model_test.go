package conformance_test

import (
	"context"
	"errors"
	"fmt"
	"hash/fnv"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	clientgo "k8s.io/client-go/tools/cache"

	"github.com/kubewright/kubewright/internal/bubble"
	"github.com/kubewright/kubewright/internal/guarantee"
	"github.com/kubewright/kubewright/runtime/cache"
	"github.com/kubewright/kubewright/runtime/internal/conformance"
	"github.com/kubewright/kubewright/runtime/runtimetest"
	"github.com/kubewright/kubewright/runtime/shard"
	"github.com/kubewright/kubewright/runtime/shard/partial"
)

// TestTransformModel makes random writes and lists, with a transform that does something else for each state
// of each object, and compares the store and the handler's calls of each kind of informer with a simple
// model.
func TestTransformModel(t *testing.T) {
	for name, inform := range map[string]transformed{
		"shared": func(w *transformWalk) (clientgo.Store, runner) {
			i := cache.NewSharedIndexInformer(w.server.ListerWatcher(), &corev1.ConfigMap{}, 0, nil)
			return w.shared(i)
		},
		"typed": func(w *transformWalk) (clientgo.Store, runner) {
			return w.shared(typed.New(w.server, conformance.InformerOptions{}))
		},
		"of a part": func(w *transformWalk) (clientgo.Store, runner) {
			i := typed.New(w.server, conformance.InformerOptions{})
			part, err := partial.Shard(i, shard.ByUID)
			if err := errors.Join(err, part.SetRanges(shard.All()...)); err != nil {
				w.t.Fatal(err)
			}
			return w.shared(i)
		},
		"not shared": func(w *transformWalk) (clientgo.Store, runner) {
			store, controller := cache.NewInformerWithOptions(cache.InformerOptions{
				ListerWatcher: w.server.ListerWatcher(), ObjectType: &corev1.ConfigMap{}, Handler: w,
				Transform: w.transform,
			})
			return store, controller
		},
	} {
		t.Run(name, func(t *testing.T) {
			for seed := range uint64(*modelSeeds) {
				synctest.Test(t, func(t *testing.T) { walkTransforms(t, seed, inform) })
			}
		})
	}
}

type runner interface{ RunWithContext(context.Context) }

// transformed makes an informer with the walk's transform and handler.
type transformed func(*transformWalk) (clientgo.Store, runner)

// transformWalk is a server with an informer, and the model of what the informer must show.
type transformWalk struct {
	t      *testing.T
	seed   uint64
	r      *rand.Rand
	server *conformance.ConfigMaps
	store  clientgo.Store
	did    []string

	// outcomes are those that the transform has in this walk.
	outcomes []string
	// streamed is set if lists are streamed.
	streamed bool
	model    keyed
	// version is that of the last list, or of a later event that was applied.
	version string

	mu sync.Mutex
	// calls are those of the handler since the last look, view is what they add up to.
	calls []string
	view  map[string]string
}

// keyed is the model: the version of the object that is stored under each key, and the key under which the
// object of each of the server's names is stored.
type keyed struct {
	store, names map[string]string
}

func (k keyed) clone() keyed { return keyed{maps.Clone(k.store), maps.Clone(k.names)} }

const transformSteps = 25

func walkTransforms(t *testing.T, seed uint64, inform transformed) {
	w := &transformWalk{t: t, seed: seed, r: rand.New(rand.NewPCG(seed, 35)),
		server: conformance.NewConfigMaps(),
		model:  keyed{map[string]string{}, map[string]string{}}, view: map[string]string{}}
	// "" keeps an object, "z" and "o1" are keys for several objects, "x" is a prefix.
	w.outcomes = []string{"", "", ""}
	for _, outcome := range []string{"fail", "nil", "typed nil", "x", "x", "z", "o1"} {
		if w.r.IntN(2) == 0 {
			w.outcomes = append(w.outcomes, outcome)
		}
	}
	w.server.MaxPage(2)
	if w.streamed = w.r.IntN(2) == 0; !w.streamed {
		w.server.NoWatchListClient()
	}
	for range w.r.IntN(5) {
		w.write()
	}
	var informer runner
	w.store, informer = inform(w)
	ctx, cancel := context.WithCancel(t.Context())
	var running sync.WaitGroup
	defer running.Wait()
	defer cancel()
	w.list(func() { running.Go(func() { informer.RunWithContext(ctx) }) })
	for range transformSteps {
		if w.r.IntN(6) == 0 {
			w.relist()
			continue
		}
		var want []string
		for range 1 + w.r.IntN(3) {
			e := w.write()
			want = append(want, w.model.apply(w, e, false)...)
			if _, failed := w.keyFor(e.name, e.version); e.deleted || !failed {
				w.version = e.version
			}
		}
		w.check(want)
	}
}

// event is one write.
type event struct {
	name, version string
	deleted       bool
}

// write makes a random write to the server.
func (w *transformWalk) write() event {
	name := fmt.Sprint("o", w.r.IntN(4))
	exists := slices.ContainsFunc(w.server.Objects(), func(o *corev1.ConfigMap) bool { return o.Name == name })
	e := event{name: name}
	switch {
	case !exists:
		w.server.Create(configMap(name))
	case w.r.IntN(3) == 0:
		w.server.Delete("ns", name)
		e.deleted = true
	default:
		w.server.Update(configMap(name))
	}
	e.version = w.server.Version()
	w.did = append(w.did, fmt.Sprintf("%+v: %q", e, w.outcome(name, e.version)))
	return e
}

// outcome returns what the transform does with a state of an object.
func (w *transformWalk) outcome(name, version string) string {
	h := fnv.New64a()
	fmt.Fprint(h, w.seed, name, version)
	return w.outcomes[rand.New(rand.NewPCG(h.Sum64(), 1)).IntN(len(w.outcomes))]
}

// keyFor returns the key of a state, "" if it isn't cached or the transform fails.
func (w *transformWalk) keyFor(name, version string) (key string, failed bool) {
	switch outcome := w.outcome(name, version); outcome {
	case "fail":
		return "", true
	case "nil", "typed nil":
		return "", false
	case "":
		return name, false
	case "x":
		return "x" + name, false
	default:
		return outcome, false
	}
}

var errOfTransform = errors.New("the transform fails")

func (w *transformWalk) transform(obj any) (any, error) {
	cm := obj.(*corev1.ConfigMap)
	key, failed := w.keyFor(cm.Name, cm.ResourceVersion)
	nothing := w.outcome(cm.Name, cm.ResourceVersion)
	cm.Name = "broken" // A transform may change the object and fail later.
	switch {
	case failed:
		return nil, errOfTransform
	case nothing == "nil":
		return nil, nil
	case nothing == "typed nil":
		return (*corev1.ConfigMap)(nil), nil
	}
	cm.Name = key
	return cm, nil
}

// apply applies an event and returns the calls of the handler.
func (k *keyed) apply(w *transformWalk, e event, staged bool) (calls []string) {
	key, failed := w.keyFor(e.name, e.version)
	old, stored := k.names[e.name]
	drop := func(suffix string) {
		if version, ok := k.store[old]; stored && ok {
			calls = append(calls, "delete "+old+"@"+version+suffix)
			delete(k.store, old)
		}
	}
	switch {
	case !e.deleted && failed:
	case !e.deleted && key != "":
		if old != key {
			drop("")
		}
		if version, ok := k.store[key]; ok {
			calls = append(calls, "update "+key+"@"+version+" "+e.version)
		} else {
			calls = append(calls, "add "+key+"@"+e.version)
		}
		k.store[key], k.names[e.name] = e.version, key
	case failed:
		drop(" missed")
		delete(k.names, e.name)
	case key == "", staged, stored && old != key:
		drop("")
		delete(k.names, e.name)
	default: // As in client-go, handlers receive the deletion of what isn't stored.
		calls = append(calls, "delete "+key+"@"+e.version)
		delete(k.store, key)
		delete(k.names, e.name)
	}
	return calls
}

// list lets the informer list: begin causes that. While the list is streamed, there are writes.
func (w *transformWalk) list(begin func()) {
	w.did = append(w.did, fmt.Sprint("list, streamed ", w.streamed))
	before := w.model.clone()
	w.server.OmitEndBookmark(w.streamed)
	begin()
	bubble.Pass(conformance.LongEnough)
	w.model = keyed{map[string]string{}, map[string]string{}}
	if w.streamed {
		w.listed()
		for range w.r.IntN(6) {
			w.model.apply(w, w.write(), true)
		}
		synctest.Wait()
		w.server.EndInitialEvents()
		synctest.Wait()
	} else {
		w.mend(before)
		w.listed()
	}
	w.version = w.server.Version()
	w.checkList(before)
}

// listed applies the objects of the server.
func (w *transformWalk) listed() {
	list, err := w.server.List(w.t.Context(), metav1.ListOptions{})
	if err != nil {
		w.t.Fatal(err)
	}
	for _, cm := range list.Items {
		w.model.apply(w, event{name: cm.Name, version: cm.ResourceVersion}, true)
	}
}

// mend replaces the states for which the transform fails. As long as there is one, the informer has the store
// from before the list.
func (w *transformWalk) mend(before keyed) {
	failed := false
	for _, cm := range w.server.Objects() {
		for version := cm.ResourceVersion; w.outcome(cm.Name, version) == "fail"; version = w.server.Version() {
			if !failed && !maps.Equal(w.stored(), before.store) {
				w.fail(guarantee.Converging, "a list that fails changed the store to %v, want %v", w.stored(),
					before.store)
			}
			failed = true
			w.server.Update(configMap(cm.Name))
		}
	}
	bubble.Pass(2 * conformance.LongEnough)
}

// relist ends the watch, and makes writes before the list that follows.
func (w *transformWalk) relist() {
	once := sync.OnceFunc(func() {
		for range w.r.IntN(4) {
			w.write()
		}
	})
	w.list(func() {
		w.server.OnRequest(func(context.Context, runtimetest.Request) error { once(); return nil })
		w.server.FailWatches(apierrors.NewResourceExpired("too old"))
		bubble.Pass(conformance.LongEnough)
		w.server.OnRequest(nil)
	})
}

// check compares what the informer shows with the model, after events.
func (w *transformWalk) check(want []string) {
	synctest.Wait()
	w.mu.Lock()
	defer w.mu.Unlock()
	if !slices.Equal(w.calls, want) {
		w.fail(guarantee.Complete, "the handler was called with %q, want %q", w.calls, want)
	}
	w.calls = nil
	w.look()
}

// checkList compares what the informer shows with the model, after a list. A list has no order, and unchanged
// objects may be reported or not.
func (w *transformWalk) checkList(before keyed) {
	synctest.Wait()
	w.mu.Lock()
	defer w.mu.Unlock()
	want := map[string]bool{}
	for key, version := range before.store {
		if _, ok := w.model.store[key]; !ok {
			want["delete "+key+"@"+version+" missed"] = true
		}
	}
	for key, version := range w.model.store {
		switch old, ok := before.store[key]; {
		case !ok:
			want["add "+key+"@"+version] = true
		case old != version:
			want["update "+key+"@"+old+" "+version] = true
		}
	}
	for _, call := range w.calls {
		_, versions, _ := strings.Cut(call, "@")
		if old, version, _ := strings.Cut(versions, " "); old == version {
			continue
		}
		if !want[call] {
			w.fail(guarantee.Complete, "after a list, the handler was called with %q, want %v", call, want)
		}
		delete(want, call)
	}
	if len(want) > 0 {
		w.fail(guarantee.Complete, "after a list, the handler wasn't called with %v", want)
	}
	w.calls = nil
	w.look()
}

func (w *transformWalk) look() {
	w.t.Helper()
	if got := w.store.LastStoreSyncResourceVersion(); got != w.version {
		w.fail(guarantee.NoTimeTravel, "the store is at version %s, want %s", got, w.version)
	}
	if got := w.stored(); !maps.Equal(got, w.model.store) {
		w.fail(guarantee.Complete, "the store has %v, want %v", got, w.model.store)
	}
	if !maps.Equal(w.view, w.model.store) {
		w.fail(guarantee.Complete, "the handler has %v, want %v", w.view, w.model.store)
	}
}

func (w *transformWalk) stored() map[string]string {
	stored := map[string]string{}
	for _, key := range w.store.ListKeys() {
		obj, _, _ := w.store.GetByKey(key)
		name := strings.TrimPrefix(key, "ns/")
		if cm := obj.(*corev1.ConfigMap); cm.Name == name {
			stored[name] = cm.ResourceVersion
		}
	}
	return stored
}

func (w *transformWalk) fail(g guarantee.Guarantee, format string, args ...any) {
	w.t.Helper()
	w.t.Fatalf("%s: %s; seed %d\n%s", g, fmt.Sprintf(format, args...), w.seed, strings.Join(w.did, "\n"))
}

// shared adds the transform and the handler to a shared informer.
func (w *transformWalk) shared(i clientgo.SharedIndexInformer) (clientgo.Store, runner) {
	_, err := i.AddEventHandler(w)
	if err := errors.Join(err, i.SetTransform(w.transform)); err != nil {
		w.t.Fatal(err)
	}
	return i.GetStore(), i
}

func (w *transformWalk) call(call, name, version string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.calls = append(w.calls, call)
	if w.view[name] = version; version == "" {
		delete(w.view, name)
	}
}

func (w *transformWalk) OnAdd(obj any, _ bool) {
	cm := obj.(*corev1.ConfigMap)
	w.call("add "+cm.Name+"@"+cm.ResourceVersion, cm.Name, cm.ResourceVersion)
}

func (w *transformWalk) OnUpdate(old, new any) {
	was, cm := old.(*corev1.ConfigMap), new.(*corev1.ConfigMap)
	w.call("update "+cm.Name+"@"+was.ResourceVersion+" "+cm.ResourceVersion, cm.Name, cm.ResourceVersion)
}

func (w *transformWalk) OnDelete(obj any) {
	missed := ""
	if tombstone, ok := obj.(clientgo.DeletedFinalStateUnknown); ok {
		obj, missed = tombstone.Obj, " missed"
	}
	cm := obj.(*corev1.ConfigMap)
	w.call("delete "+cm.Name+"@"+cm.ResourceVersion+missed, cm.Name, "")
}
