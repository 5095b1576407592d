package partial_test

import (
	"context"
	"fmt"
	"maps"
	"math"
	"math/rand/v2"
	"slices"
	"testing"
	"testing/synctest"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/watch"
	clienttesting "k8s.io/client-go/testing"
	"k8s.io/client-go/tools/cache"

	shopv1 "github.com/kubewright/kubewright/examples/apis/shop/v1"
	"github.com/kubewright/kubewright/examples/generated/clientset/versioned/fake"
	"github.com/kubewright/kubewright/examples/generated/informers/externalversions"
	"github.com/kubewright/kubewright/runtime/informer"
	"github.com/kubewright/kubewright/runtime/shard"
	"github.com/kubewright/kubewright/runtime/shard/partial"
)

// fakeWorld is a fake clientset, an informer of a part of its objects, and a handler that records its events.
// Lists of the fake have versions, objects only if a test sets them. Its watches begin with the writes since
// their version, but a deletion while no watch is open is never sent.
type fakeWorld struct {
	t       *testing.T
	tracker clienttesting.ObjectTracker
	by      shard.Field
	// cuts are where ranges may begin.
	cuts     []uint64
	informer cache.SharedIndexInformer
	part     *partial.Part
	told     map[string]string
	// writes counts the writes, for UIDs and generations that no other object has.
	writes int
	// version is the resourceVersion of objects that are written.
	version string
	// onWatch, if not nil, is called once when a watch is requested, before the watch begins.
	onWatch func()
}

var bakeries = shopv1.SchemeGroupVersion.WithResource("bakeries")

// inFakeBubble calls f while the informer runs, without ranges at first.
func inFakeBubble(t *testing.T, by shard.Field, f func(*fakeWorld)) {
	synctest.Test(t, func(t *testing.T) {
		client := fake.NewSimpleClientset()
		w := &fakeWorld{t: t, tracker: client.Tracker(), by: by, told: map[string]string{}}
		for n := range 12 {
			value := fmt.Sprint("town-", n)
			if by == shard.ByUID {
				value = fmt.Sprint("uid-", 5*n)
			}
			w.cuts = append(w.cuts, shard.Hash(value))
		}
		slices.Sort(w.cuts)
		client.PrependWatchReactor("*", func(clienttesting.Action) (bool, watch.Interface, error) {
			if write := w.onWatch; write != nil {
				w.onWatch = nil
				write()
			}
			return false, nil, nil
		})
		shop := externalversions.NewSharedInformerFactory(client, 0)
		w.informer = shop.Shop().V1().Bakeries().Informer()
		var err error
		if w.part, err = partial.Shard(w.informer, by); err != nil {
			t.Fatal(err)
		}
		if _, err := informer.AddEventHandler(w.informer, w, informer.HandlerOptions{}); err != nil {
			t.Fatal(err)
		}
		ctx, cancel := context.WithCancel(t.Context())
		defer shop.Shutdown()
		defer cancel()
		shop.StartWithContext(ctx)
		synctest.Wait()
		f(w)
	})
}

// writeOf identifies a state of an object.
func writeOf(o *shopv1.Bakery) string { return fmt.Sprint(o.UID, " of write ", o.Generation) }

func (w *fakeWorld) OnAdd(obj any, _ bool) { w.change("addition", "", obj) }

func (w *fakeWorld) OnUpdate(old, obj any) { w.change("update", writeOf(old.(*shopv1.Bakery)), obj) }

func (w *fakeWorld) OnDelete(obj any) {
	w.leave("deletion", obj)
	o := obj.(*shopv1.Bakery)
	if still := w.get(o.Namespace, o.Name); still != nil && still.UID == o.UID {
		w.t.Errorf("deletion of %s, which exists", nameOf(o))
	}
}

func (w *fakeWorld) OnRelease(obj any) { w.leave("release", obj) }

// change checks an event of the handler against the earlier events.
func (w *fakeWorld) change(what, before string, obj any) {
	o := obj.(*shopv1.Bakery)
	if had := w.told[nameOf(o)]; had != before {
		w.t.Errorf("%s of %s, which was %q, it is there as %q", what, nameOf(o), before, had)
	}
	w.told[nameOf(o)] = writeOf(o)
}

func (w *fakeWorld) leave(what string, obj any) {
	o := obj.(*shopv1.Bakery)
	if had := w.told[nameOf(o)]; had != writeOf(o) {
		w.t.Errorf("%s of %s, which was %q, it is there as %q", what, nameOf(o), writeOf(o), had)
	}
	delete(w.told, nameOf(o))
}

// get returns an object of the fake, or nil.
func (w *fakeWorld) get(namespace, name string) *shopv1.Bakery {
	o, err := w.tracker.Get(bakeries, namespace, name)
	if err != nil {
		return nil
	}
	return o.(*shopv1.Bakery)
}

// put creates or updates an object.
func (w *fakeWorld) put(namespace, name string) {
	w.writes++
	o := w.get(namespace, name)
	exists := o != nil
	if !exists {
		o = &shopv1.Bakery{ObjectMeta: metav1.ObjectMeta{
			Namespace: namespace, Name: name, UID: types.UID(fmt.Sprint("uid-", w.writes))}}
	}
	o.Generation, o.ResourceVersion = int64(w.writes), w.version
	var err error
	if exists {
		err = w.tracker.Update(bakeries, o, namespace)
	} else {
		err = w.tracker.Create(bakeries, o, namespace)
	}
	if err != nil {
		w.t.Error(err)
	}
}

func (w *fakeWorld) remove(namespace, name string) {
	if err := w.tracker.Delete(bakeries, namespace, name); err != nil {
		w.t.Error(err)
	}
}

func (w *fakeWorld) set(ranges shard.Ranges) {
	w.t.Helper()
	if err := w.part.SetRanges(ranges...); err != nil {
		w.t.Fatal(err)
	}
}

// check compares the store and the handler's events with the fake, when nothing is under way.
func (w *fakeWorld) check() {
	w.t.Helper()
	synctest.Wait()
	status := w.part.Status()
	list, err := w.tracker.List(bakeries, shopv1.SchemeGroupVersion.WithKind("Bakery"), "")
	if err != nil {
		w.t.Fatal(err)
	}
	want, stored := map[string]string{}, map[string]string{}
	for _, o := range list.(*shopv1.BakeryList).Items {
		if status.Wanted.Contains(w.by.Hash(&o)) {
			want[nameOf(&o)] = writeOf(&o)
		}
	}
	for _, o := range w.informer.GetStore().List() {
		stored[nameOf(o.(*shopv1.Bakery))] = writeOf(o.(*shopv1.Bakery))
	}
	if !maps.Equal(stored, want) {
		w.t.Fatalf("after write %d the store has\n%v, the fake\n%v\n%+v", w.writes, stored, want, status)
	}
	if !maps.Equal(w.told, want) {
		w.t.Fatalf("after write %d the handler has received\n%v, the fake has\n%v", w.writes, w.told, want)
	}
	ctx, cancel := context.WithCancel(w.t.Context())
	cancel()
	if err := w.part.WaitFor(ctx, status.Wanted...); err != nil || !w.informer.HasSynced() {
		w.t.Fatalf("%v, synced: %v, %+v", err, w.informer.HasSynced(), status)
	}
}

// TestPartOfFake makes random writes and changes of ranges, and checks the informer after each step.
func TestPartOfFake(t *testing.T) {
	for seed := range uint64(100) {
		t.Run(fmt.Sprint("seed ", seed), func(t *testing.T) {
			r := rand.New(rand.NewPCG(seed, 37))
			by := []shard.Field{shard.ByNamespace, shard.ByUID}[r.IntN(2)]
			inFakeBubble(t, by, func(w *fakeWorld) {
				for range 40 {
					w.step(r)
					w.check()
				}
			})
		})
	}
}

// step writes objects, changes the ranges, or does one while the other is under way.
//
// It avoids what no informer can resolve without versions. It writes no object twice: two watches may deliver
// the deletion of an object and the addition of its successor in any order. For the same reason it releases
// nothing meanwhile: the deletion might arrive after the release.
func (w *fakeWorld) step(r *rand.Rand) {
	names := r.Perm(12)
	writes := r.IntN(4)
	for _, n := range names[:writes] {
		w.write(r, n)
	}
	if r.IntN(2) == 0 {
		return
	}
	grows := w.by == shard.ByUID && writes > 0
	wanted := w.part.Status().Wanted
	kept := wanted
	changes := make([]shard.Ranges, 1+r.IntN(2))
	for i := range changes {
		changes[i] = randomRanges(r, w.cuts)
		if grows {
			changes[i] = changes[i].Plus(wanted)
		}
		wanted = changes[i]
		kept = kept.Minus(kept.Minus(wanted))
	}
	// An object that is already watched may be deleted while another watch is opened.
	namespace, name := nameOfBakery(names[writes])
	w.onWatch = func() {
		if o := w.get(namespace, name); o != nil && kept.Contains(w.by.Hash(o)) {
			w.remove(namespace, name)
		} else {
			w.put(namespace, name)
		}
	}
	for _, ranges := range changes {
		w.set(ranges)
	}
	synctest.Wait()
	w.onWatch = nil
}

func nameOfBakery(n int) (namespace, name string) { return fmt.Sprint("town-", n), "bakery" }

// write creates, updates, deletes or replaces an object.
func (w *fakeWorld) write(r *rand.Rand, n int) {
	namespace, name := nameOfBakery(n)
	if w.get(namespace, name) == nil || r.IntN(2) == 0 {
		w.put(namespace, name)
		return
	}
	w.remove(namespace, name)
	if r.IntN(2) == 0 {
		w.put(namespace, name)
	}
}

// TestVersionsThatEnd checks that objects without versions are stored although two watches of objects with
// versions were joined into one, which drops the events that one of the two has already delivered.
func TestVersionsThatEnd(t *testing.T) {
	inFakeBubble(t, shard.ByNamespace, func(w *fakeWorld) {
		w.version = "1"
		rome := shard.Hash("rome")
		w.put("rome", "bakery")
		w.put("oslo", "bakery")
		w.set(shard.Join(shard.Range{First: rome, Last: rome}))
		w.check()
		w.put("rome", "bakery") // The watch is at version 1 now, the next list is at 4.
		w.check()
		w.set(shard.Join(shard.Range{Last: math.MaxUint64}))
		w.check()
		if feeds := w.part.Status().Feeds; feeds != 1 {
			t.Errorf("%d feeds, though all objects have versions", feeds)
		}
		w.version = ""
		w.put("oslo", "another")
		w.put("oslo", "bakery")
		w.put("rome", "bakery")
		w.check()
	})
}
