package partial_test

import (
	"context"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/tools/cache"

	"github.com/kubewright/kubewright/internal/bubble"
	"github.com/kubewright/kubewright/internal/guarantee"
	gen "github.com/kubewright/kubewright/runtime/gen/informer"
	"github.com/kubewright/kubewright/runtime/informer"
	"github.com/kubewright/kubewright/runtime/runtimetest"
	"github.com/kubewright/kubewright/runtime/shard"
	"github.com/kubewright/kubewright/runtime/shard/partial"
)

type partServer = runtimetest.Server[*corev1.ConfigMap, *corev1.ConfigMapList]

// partWorld is a server, an informer of a part of its objects, and a handler that records its events.
type partWorld struct {
	t      *testing.T
	server *partServer
	by     shard.Field
	// cuts are where ranges may begin.
	cuts     []uint64
	informer cache.TypedSharedIndexInformer[*corev1.ConfigMap]
	part     *partial.Part
	handlers []*partHandler
	stop     func()
}

func newPartWorld(t *testing.T, by shard.Field, prepare func(*partServer)) *partWorld {
	w := &partWorld{t: t, by: by, server: runtimetest.NewServer[corev1.ConfigMap, corev1.ConfigMapList]()}
	w.server.Sharding(true, true)
	if prepare != nil {
		prepare(w.server)
	}
	for n := range 12 {
		hash := shard.Hash(fmt.Sprint("namespace-", n))
		if by == shard.ByUID {
			hash = shard.Hash(fmt.Sprint("uid-", 3*n))
		}
		w.cuts = append(w.cuts, hash)
	}
	slices.Sort(w.cuts)
	w.informer = gen.NewShared[*corev1.ConfigMap](
		func() gen.ResourceClient[*corev1.ConfigMapList] { return w.server },
		gen.Options{Client: w.server})
	if err := w.informer.SetWatchErrorHandlerWithContext(
		func(context.Context, *cache.Reflector, error) {}); err != nil {
		t.Fatal(err)
	}
	var err error
	if w.part, err = partial.Shard(w.informer, by); err != nil {
		t.Fatal(err)
	}
	return w
}

func (w *partWorld) start() {
	ctx, cancel := context.WithCancel(w.t.Context())
	var running sync.WaitGroup
	running.Go(func() { w.informer.RunWithContext(ctx) })
	w.stop = func() {
		cancel()
		running.Wait()
		synctest.Wait()
		if n := w.server.Watches(); n != 0 {
			w.t.Errorf("%s: %d watches are open after the end", guarantee.NoLeak, n)
		}
	}
	synctest.Wait()
}

func (w *partWorld) set(ranges shard.Ranges) {
	w.t.Helper()
	if err := w.part.SetRanges(ranges...); err != nil {
		w.t.Fatal(err)
	}
	synctest.Wait()
}

// settle gives the informer time to become current: its back-off ends, and bookmarks arrive. A fault that was
// planned for the next request may occur late.
func (w *partWorld) settle() {
	for n := 0; n < 6 || n < 30 && w.server.Watches() != min(len(w.part.Status().Wanted), 1); n++ {
		bubble.Advance(time.Minute)
		w.server.Bookmark()
		synctest.Wait()
	}
}

// want returns the server's objects of the ranges, by name with UID and version.
func (w *partWorld) want(ranges shard.Ranges) map[string]string {
	objects := map[string]string{}
	for _, o := range w.server.Objects() {
		if ranges.Contains(w.by.Hash(o)) {
			objects[nameOf(o)] = stateOf(o)
		}
	}
	return objects
}

func (w *partWorld) stored() map[string]string {
	objects := map[string]string{}
	for _, o := range w.informer.GetStore().List() {
		objects[nameOf(o.(*corev1.ConfigMap))] = stateOf(o.(*corev1.ConfigMap))
	}
	return objects
}

func nameOf(o metav1.Object) string  { return o.GetNamespace() + "/" + o.GetName() }
func stateOf(o metav1.Object) string { return string(o.GetUID()) + "@" + o.GetResourceVersion() }

// check compares the store and the handlers with the server, when nothing is under way.
func (w *partWorld) check(what string) {
	w.t.Helper()
	status := w.part.Status()
	want := w.want(status.Wanted)
	if got := w.stored(); !maps.Equal(got, want) {
		w.t.Fatalf("%s: %s: of %v the store has\n%v, the server\n%v\n%+v\n%v", guarantee.Converging, what,
			status.Wanted,
			got, want, status, w.server.Requests())
	}
	for i, h := range w.handlers {
		if got := h.objects; !maps.Equal(got, want) {
			w.t.Fatalf("%s: %s: handler %d has received\n%v, the server has\n%v", guarantee.Converging, what, i,
				got, want)
		}
	}
	feeds := min(len(status.Wanted), 1)
	if !status.Held.Equal(status.Wanted) || status.Feeds != feeds || w.server.Watches() != feeds {
		w.t.Fatalf("%s: %s: %d watches, %+v", guarantee.BoundedLoad, what, w.server.Watches(), status)
	}
	if !w.informer.HasSynced() {
		w.t.Fatalf("%s: %s: it hasn't synced", guarantee.Converging, what)
	}
	if at := w.informer.LastSyncResourceVersion(); feeds > 0 && at != w.server.Version() {
		w.t.Fatalf("%s: %s: it is at %s, the server at %s", guarantee.Converging, what, at, w.server.Version())
	}
	ctx, cancel := context.WithCancel(w.t.Context())
	cancel()
	if err := informer.WaitForVersion(ctx, w.informer, w.server.Version()); err != nil {
		w.t.Fatalf("%s: %s: the version of the store: %v", guarantee.Converging, what, err)
	}
}

// partHandler applies its events to a copy. It checks that the events of each object arrive in order, that it
// receives no deletion that the server hasn't made, and that it can apply each event.
type partHandler struct {
	w       *partWorld
	objects map[string]string
	// versions are the last of each UID.
	versions map[string]int64
	released int
}

func (w *partWorld) handle(coalesce bool) {
	h := &partHandler{w: w, objects: map[string]string{}, versions: map[string]int64{}}
	w.handlers = append(w.handlers, h)
	options := informer.HandlerOptions{Coalesce: coalesce}
	if _, err := informer.AddEventHandler(w.informer, h, options); err != nil {
		w.t.Fatal(err)
	}
}

func (h *partHandler) now(what string, obj any) (name string) {
	o := obj.(*corev1.ConfigMap)
	version, _ := strconv.ParseInt(o.ResourceVersion, 10, 64)
	if last := h.versions[string(o.UID)]; version < last {
		h.w.t.Errorf("%s: %s of %s in state %s after version %d", guarantee.Ordered, what, nameOf(o),
			stateOf(o), last)
	}
	h.versions[string(o.UID)] = version
	return nameOf(o)
}

func (h *partHandler) OnAdd(obj any, _ bool) {
	name := h.now("addition", obj)
	if had := h.objects[name]; had != "" {
		h.w.t.Errorf("%s: addition of %s, it is there as %s", guarantee.Unique, name, had)
	}
	h.objects[name] = stateOf(obj.(*corev1.ConfigMap))
}

func (h *partHandler) OnUpdate(old, obj any) {
	name := h.now("update", obj)
	if had := h.objects[name]; had != stateOf(old.(*corev1.ConfigMap)) {
		h.w.t.Errorf("%s: update of %s from %s, it is there as %q", guarantee.Ordered, name,
			stateOf(old.(*corev1.ConfigMap)), had)
	}
	h.objects[name] = stateOf(obj.(*corev1.ConfigMap))
}

func (h *partHandler) OnDelete(obj any) {
	if gone, missed := obj.(cache.DeletedFinalStateUnknown); missed {
		obj = gone.Obj
	}
	name, o := h.now("deletion", obj), obj.(*corev1.ConfigMap)
	if h.objects[name] == "" {
		h.w.t.Errorf("%s: deletion of %s, it isn't there", guarantee.Unique, name)
	}
	delete(h.objects, name)
	for _, still := range h.w.server.Objects() {
		if still.UID == o.UID {
			h.w.t.Errorf("%s: deletion of %s, which exists", guarantee.Complete, name)
		}
	}
}

func (h *partHandler) OnRelease(obj any) {
	name := h.now("release", obj)
	if h.objects[name] == "" {
		h.w.t.Errorf("%s: release of %s, it isn't there", guarantee.Unique, name)
	}
	delete(h.objects, name)
	h.released++
}

// write makes a random write.
func (w *partWorld) write(r *rand.Rand) {
	o := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{
		Namespace: fmt.Sprint("namespace-", r.IntN(12)), Name: fmt.Sprint("name-", r.IntN(3))}}
	switch _, exists := w.server.Find(o.Namespace, o.Name); {
	case !exists:
		w.server.Create(o)
	case r.IntN(3) == 0:
		w.server.Delete(o.Namespace, o.Name)
		if r.IntN(2) == 0 {
			w.server.Create(o)
		}
	default:
		w.server.Update(o)
	}
}

// randomRanges returns ranges that begin and end at cuts, often none, often all.
func randomRanges(r *rand.Rand, cuts []uint64) shard.Ranges {
	switch r.IntN(8) {
	case 0:
		return nil
	case 1:
		return shard.All()
	}
	var some []shard.Range
	for range 1 + r.IntN(3) {
		a, b := r.IntN(len(cuts)), r.IntN(len(cuts))
		some = append(some, shard.Range{First: cuts[min(a, b)], Last: cuts[max(a, b)]})
	}
	return shard.Join(some...)
}

// TestPartModel makes random changes of objects, ranges and the server, in any order and with faults, and
// checks the informer whenever nothing is under way.
func TestPartModel(t *testing.T) {
	for seed := range uint64(300) {
		t.Run(fmt.Sprint("seed ", seed), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) { partModel(t, rand.New(rand.NewPCG(seed, 22))) })
		})
	}
}

func partModel(t *testing.T, r *rand.Rand) {
	by := []shard.Field{shard.ByNamespace, shard.ByUID}[r.IntN(2)]
	w := newPartWorld(t, by, func(s *partServer) {
		if r.IntN(2) == 0 {
			s.NoWatchListClient()
		}
		if r.IntN(2) == 0 {
			s.MaxPage(1 + r.Int64N(5))
		}
		s.Sharding(r.IntN(2) == 0, r.IntN(2) == 0)
	})
	w.server.Observe(func(request runtimetest.Request) {
		o := request.Options
		if _, _, err := shard.ParseSelector(o.ShardSelector); err != nil {
			t.Errorf("%s: %v", request, err)
		}
		if o.ResourceVersion == "0" {
			t.Errorf("%s: %s may be of any age", guarantee.NoTimeTravel, request)
		}
	})
	w.handle(false)
	for range r.IntN(40) {
		w.write(r)
	}
	if r.IntN(2) == 0 {
		w.set(randomRanges(r, w.cuts))
	}
	w.start()
	defer func() { w.stop() }()
	for range 60 {
		w.step(r)
		if r.IntN(12) == 0 {
			w.server.OnRequest(nil)
			w.settle()
			w.check("quiet")
		}
		if r.IntN(3) == 0 {
			synctest.Wait()
		}
	}
	w.server.OnRequest(nil)
	w.settle()
	w.check("the end")
}

// step does something random.
func (w *partWorld) step(r *rand.Rand) {
	switch n := r.IntN(30); {
	case n < 12:
		w.write(r)
	case n < 17:
		if err := w.part.SetRanges(randomRanges(r, w.cuts)...); err != nil {
			w.t.Fatal(err)
		}
	case n < 19:
		w.server.CloseWatches()
	case n < 20:
		w.server.FailWatches(apierrors.NewResourceExpired("expired"))
	case n < 21:
		w.server.Compact()
	case n < 22:
		w.server.Sharding(r.IntN(2) == 0, r.IntN(2) == 0)
	case n < 24:
		w.server.Bookmark()
	case n < 25:
		w.server.Fail([]string{"LIST", "WATCH"}[r.IntN(2)], apierrors.NewInternalError(fmt.Errorf("broken")))
	case n < 26:
		w.slow(r)
	case n < 27:
		w.server.Skip(1 + r.Int64N(3))
	case n < 28 && len(w.handlers) < 4:
		w.handle(r.IntN(2) == 0)
	default:
		bubble.Pass(time.Duration(r.IntN(30)) * 100 * time.Millisecond)
	}
}

// slow makes the next requests wait, so that other things happen while they are under way.
func (w *partWorld) slow(r *rand.Rand) {
	delays := make(chan time.Duration, 4)
	for range 1 + r.IntN(cap(delays)) {
		delays <- time.Duration(r.IntN(50)) * 100 * time.Millisecond
	}
	w.server.OnRequest(func(ctx context.Context, _ runtimetest.Request) error {
		select {
		case delay := <-delays:
			ctx, cancel := context.WithTimeout(ctx, delay)
			defer cancel()
			<-ctx.Done()
		default:
		}
		return nil
	})
}

// requestsOf returns the requests since the last call, without the part that all have in common.
func (w *partWorld) requestsOf() string {
	var lines []string
	for _, r := range w.server.Requests() {
		_, ranges, err := shard.ParseSelector(r.Options.ShardSelector)
		if err != nil {
			w.t.Error(err)
		}
		lines = append(lines, fmt.Sprintf("%s rv=%q %s", r.Verb, r.Options.ResourceVersion, ranges))
	}
	w.server.ForgetRequests()
	return strings.Join(lines, "\n")
}
