package cache_test

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"sync"
	"testing"
	"testing/synctest"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	clientgo "k8s.io/client-go/tools/cache"

	"github.com/kubewright/kubewright/internal/guarantee"
	"github.com/kubewright/kubewright/runtime/cache"
)

// known has the objects that the consumer of a queue knows. It sorts its keys, so that both sides work in the
// same order.
type known struct{ clientgo.Store }

func newKnown() known { return known{clientgo.NewStore(keyFunc)} }

func (k known) ListKeys() []string {
	keys := k.Store.ListKeys()
	slices.Sort(keys)
	return keys
}

// learn applies what was popped, as a consumer does.
func (k known) learn(obj any) {
	for _, d := range obj.(clientgo.Deltas) {
		if d.Type == clientgo.Deleted {
			_ = k.Delete(d.Object)
		} else {
			_ = k.Add(d.Object)
		}
	}
}

// side is a queue with its consumer. The queue is closed from the start, so that Pop doesn't block when it is
// empty.
type side struct {
	clientgo.Queue
	known known
	// initial counts the objects that were popped as part of the initial list.
	initial int
}

func (s *side) process(obj any, isInInitialList bool) error {
	if isInInitialList {
		s.initial++
	}
	s.known.learn(obj)
	return nil
}

// popped returns the result of one Pop as text.
func (s *side) popped() string {
	obj, err := s.Pop(s.process)
	if err != nil {
		return err.Error()
	}
	return text(obj)
}

// drained returns all queued deltas, sorted: client-go takes the keys of a list in random order.
func (s *side) drained() string {
	var all []string
	for {
		next := s.popped()
		if next == clientgo.ErrFIFOClosed.Error() {
			break
		}
		all = append(all, next)
	}
	slices.Sort(all)
	return fmt.Sprint(all)
}

// TestDeltaFIFOLikeClientGo checks that a DeltaFIFO behaves as client-go's.
func TestDeltaFIFOLikeClientGo(t *testing.T) {
	trim := func(obj any) (any, error) {
		if p, ok := obj.(*corev1.Pod); ok && p.Name == "d" && p.Namespace == "x" {
			return nil, errBad
		}
		return obj, nil
	}
	for name, options := range map[string]func(known) clientgo.DeltaFIFOOptions{
		"sync": func(k known) clientgo.DeltaFIFOOptions {
			return clientgo.DeltaFIFOOptions{KeyFunction: keyFunc, KnownObjects: k}
		},
		"replaced": func(k known) clientgo.DeltaFIFOOptions {
			return clientgo.DeltaFIFOOptions{KeyFunction: keyFunc, KnownObjects: k,
				EmitDeltaTypeReplaced: true}
		},
		"alone": func(known) clientgo.DeltaFIFOOptions {
			return clientgo.DeltaFIFOOptions{KeyFunction: keyFunc}
		},
		"transformed": func(k known) clientgo.DeltaFIFOOptions {
			return clientgo.DeltaFIFOOptions{KeyFunction: keyFunc, KnownObjects: k, Transformer: trim}
		},
	} {
		t.Run(name, func(t *testing.T) {
			eachSeed(t, func(t *testing.T, r *randomPods) {
				ours, theirs := &side{known: newKnown()}, &side{known: newKnown()}
				ours.Queue, theirs.Queue = cache.NewDeltaFIFOWithOptions(options(ours.known)),
					clientgo.NewDeltaFIFOWithOptions(options(theirs.known))
				both := func(what string, f func(*side) string) {
					t.Helper()
					about := guarantee.Complete
					if what == "HasSynced" || what == "initial" {
						about = guarantee.SyncedMeansDelivered
					}
					same(t, fmt.Sprintf("%s: %s", about, what), f(ours), f(theirs))
				}
				both("Close", func(s *side) string { s.Close(); return "" })
				// Often a list comes first, as a reflector begins with one, and the consumer knows objects already.
				listFirst := r.IntN(2) == 0
				before := r.some()
				for step := range 40 {
					if listFirst && step == 0 {
						both("known", func(s *side) string { return fmt.Sprint(s.known.Replace(before, "")) })
					}
					// No list here is refused: client-go queues half of a refused list.
					r.bad = false
					list := r.some()
					if len(list) > 0 && r.IntN(4) == 0 {
						again := list[0].(*corev1.Pod).DeepCopy() // a list may have a key twice
						again.Labels = nil
						list = append(list, again)
					}
					r.bad = true
					if name == "transformed" {
						list = slices.DeleteFunc(list,
							func(obj any) bool { _, err := trim(obj); return err != nil })
					}
					obj := r.one()
					op := r.IntN(9)
					if listFirst && step == 0 {
						op = 6
					}
					switch op {
					case 0, 1:
						both("Add", func(s *side) string { return kind(s.Add(obj)) })
					case 2, 3:
						both("Update", func(s *side) string { return kind(s.Update(obj)) })
					case 4, 5:
						both("Delete", func(s *side) string { return kind(s.Delete(obj)) })
					case 6:
						both("Replace",
							func(s *side) string { return kind(s.Replace(list, obj.ResourceVersion)) })
					case 7:
						both("Resync", func(s *side) string { return kind(s.Resync()) })
					case 8:
						both("Pop all", (*side).drained)
					}
					both("HasSynced", func(s *side) string {
						return fmt.Sprint(s.HasSynced(), clientgo.IsDone(s.HasSyncedChecker()))
					})
				}
				both("Pop all", (*side).drained)
				both("known", func(s *side) string { return names(s.known.List(), true) })
				both("initial", func(s *side) string { return fmt.Sprint(s.initial) })
				both("HasSynced", func(s *side) string { return fmt.Sprint(s.HasSynced()) })
			})
		})
	}
}

// TestRefusedList checks that a list with an object without a key leaves the queue unchanged.
func TestRefusedList(t *testing.T) {
	q := cache.NewDeltaFIFO(keyFunc, newKnown())
	err := q.Replace([]any{pod("x", "a", "1"), pod("x", badName, "2")}, "2")
	if _, ok := errors.AsType[clientgo.KeyError](err); !ok {
		t.Error(err)
	}
	q.Close()
	if obj, err := q.Pop(func(any, bool) error { return nil }); !errors.Is(err, cache.ErrFIFOClosed) {
		t.Errorf("the queue has %v, %v", obj, err)
	}
}

func TestKeyOf(t *testing.T) {
	f := cache.NewDeltaFIFO(keyFunc, nil)
	a := pod("x", "a", "1")
	for _, obj := range []any{
		a, cache.DeletedFinalStateUnknown{Key: "x/a"},
		cache.Deltas{{Object: pod("x", "b", "1")}, {Object: a}},
	} {
		if key, err := f.KeyOf(obj); err != nil || key != "x/a" {
			t.Errorf("%v: %q, %v", obj, key, err)
		}
	}
	if _, err := f.KeyOf(cache.Deltas{}); !errors.Is(err, cache.ErrZeroLengthDeltasObject) {
		t.Error(err)
	}
}

// TestPopWaits checks that Pop waits for an item or for Close, and that exactly one of several consumers
// receives each object.
func TestPopWaits(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		q := cache.NewDeltaFIFO(keyFunc, nil)
		var popping sync.WaitGroup
		var mu sync.Mutex
		taken := map[string]int{}
		for range 3 {
			popping.Go(func() {
				for {
					obj, err := q.Pop(func(any, bool) error { return nil })
					if err != nil {
						return
					}
					mu.Lock()
					taken[text(obj)]++
					mu.Unlock()
				}
			})
		}
		for i := range 50 {
			_ = q.Add(pod("x", fmt.Sprint(i), "1"))
		}
		synctest.Wait()
		q.Close()
		popping.Wait()
		if len(taken) != 50 {
			t.Errorf("%d taken", len(taken))
		}
		for what, times := range taken {
			if times != 1 {
				t.Errorf("%s taken %d times", what, times)
			}
		}
	})
}

// TestDeltaFIFOOrder checks that keys come in client-go's order, through bursts and in long queues that never
// become empty.
func TestDeltaFIFOOrder(t *testing.T) {
	seeds := uint64(5)
	if testing.Short() {
		seeds = 2
	}
	for seed := range seeds {
		r := rand.New(rand.NewPCG(seed, 7))
		ours := cache.NewDeltaFIFOWithOptions(cache.DeltaFIFOOptions{KeyFunction: cache.MetaNamespaceKeyFunc})
		theirs := clientgo.NewDeltaFIFOWithOptions(
			clientgo.DeltaFIFOOptions{KeyFunction: clientgo.MetaNamespaceKeyFunc})
		popped := func(q clientgo.Queue) (key string) {
			_, err := q.Pop(func(obj any, _ bool) error {
				key, _ = clientgo.MetaNamespaceKeyFunc(obj.(clientgo.Deltas).Newest().Object)
				return nil
			})
			if err != nil {
				t.Fatal(err)
			}
			return key
		}
		pending := map[string]bool{}
		for step := range 300 {
			for range r.IntN([]int{4, 100, 3000}[step%3]) {
				key := fmt.Sprint(r.IntN(5000))
				obj := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: key}}
				if ours.Update(obj) != nil || theirs.Update(obj) != nil {
					t.Fatal("an update was refused")
				}
				pending[key] = true
			}
			for range r.IntN(len(pending) + 1) {
				key := popped(ours)
				if want := popped(theirs); key != want {
					t.Fatalf("%s: seed %d, step %d: %s, want %s", guarantee.Ordered, seed, step, key, want)
				}
				delete(pending, key)
			}
		}
	}
}
