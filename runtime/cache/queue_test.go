package cache_test

import (
	"errors"
	"fmt"
	"slices"
	"sync"
	"testing"
	"testing/synctest"

	corev1 "k8s.io/api/core/v1"
	clientgo "k8s.io/client-go/tools/cache"

	"github.com/kubewright/kubewright/runtime/cache"
)

// known is what the consumer of a queue knows, with its keys in order, so that
// both sides do things in the same order.
type known struct{ clientgo.Store }

func newKnown() known { return known{clientgo.NewStore(keyFunc)} }

func (k known) ListKeys() []string {
	keys := k.Store.ListKeys()
	slices.Sort(keys)
	return keys
}

// learn does with what was popped what a consumer does.
func (k known) learn(obj any) {
	switch obj := obj.(type) {
	case clientgo.Deltas:
		for _, d := range obj {
			k.learn(d)
		}
	case clientgo.Delta:
		switch d := obj.Object.(type) {
		case clientgo.ReplacedAllInfo:
			_ = k.Replace(d.Objects, d.ResourceVersion)
		case clientgo.SyncAllInfo, clientgo.BookmarkInfo:
		default:
			if obj.Type == clientgo.Deleted {
				_ = k.Delete(d)
			} else {
				_ = k.Add(d)
			}
		}
	case *corev1.Pod:
		_ = k.Add(obj)
	}
}

// side is a queue with its consumer. It is closed from the start, so that Pop
// doesn't block when there is nothing.
type side struct {
	clientgo.Queue
	known known
	// initial are the objects that were said to be of the first list.
	initial int
}

func (s *side) process(obj any, isInInitialList bool) error {
	if isInInitialList {
		s.initial++
	}
	s.known.learn(obj)
	return nil
}

// popped is what one Pop gave.
func (s *side) popped() string {
	obj, err := s.Pop(s.process)
	if err != nil {
		return err.Error()
	}
	return text(obj)
}

// batch is what one PopBatch gave.
func (s *side) batch() (got string) {
	err := s.Queue.(clientgo.QueueWithBatch).PopBatch(
		func(deltas []clientgo.Delta, initial bool) error {
			list := make([]any, len(deltas))
			for i, d := range deltas {
				list[i] = d
				_ = s.process(d, initial)
			}
			got = "batch " + names(list, false)
			return nil
		},
		func(obj any, initial bool) error {
			got = "single " + text(obj)
			return s.process(obj, initial)
		})
	if err != nil {
		return err.Error()
	}
	return got
}

// drained is all that was queued, by key where the order of keys is anybody's.
func (s *side) drained(inOrder bool) string {
	var all []string
	for {
		next := s.popped()
		if next == clientgo.ErrFIFOClosed.Error() {
			break
		}
		all = append(all, next)
	}
	if !inOrder {
		slices.Sort(all)
	}
	return fmt.Sprint(all)
}

// A queue behaves as client-go's of its name.
func TestQueuesLikeClientGo(t *testing.T) {
	trim := func(obj any) (any, error) {
		if p, ok := obj.(*corev1.Pod); ok && p.Name == "d" && p.Namespace == "x" {
			return nil, errBad
		}
		return obj, nil
	}
	for name, test := range map[string]struct {
		inOrder bool
		// oneList says that there is only one list: after another, shorter one,
		// client-go's FIFO goes on waiting for as many objects as the first had.
		oneList bool
		// new makes ours and client-go's, each of what its side knows.
		new func(ours, theirs known) (clientgo.Queue, clientgo.Queue)
	}{
		"FIFO": {oneList: true, new: func(_, _ known) (clientgo.Queue, clientgo.Queue) {
			return cache.NewFIFO(keyFunc), clientgo.NewFIFO(keyFunc)
		}},
		"DeltaFIFO": {new: func(ours, theirs known) (clientgo.Queue, clientgo.Queue) {
			return cache.NewDeltaFIFO(keyFunc, ours), clientgo.NewDeltaFIFO(keyFunc, theirs)
		}},
		"DeltaFIFO/replaced": {new: func(ours, theirs known) (clientgo.Queue, clientgo.Queue) {
			options := func(k known) clientgo.DeltaFIFOOptions {
				return clientgo.DeltaFIFOOptions{KeyFunction: keyFunc, KnownObjects: k, EmitDeltaTypeReplaced: true}
			}
			return cache.NewDeltaFIFOWithOptions(options(ours)), clientgo.NewDeltaFIFOWithOptions(options(theirs))
		}},
		"DeltaFIFO/alone": {new: func(_, _ known) (clientgo.Queue, clientgo.Queue) {
			return cache.NewDeltaFIFO(keyFunc, nil), clientgo.NewDeltaFIFO(keyFunc, nil)
		}},
		"RealFIFO": {inOrder: true, new: func(ours, theirs known) (clientgo.Queue, clientgo.Queue) {
			return cache.NewRealFIFO(keyFunc, ours, nil), clientgo.NewRealFIFO(keyFunc, theirs, nil)
		}},
		"RealFIFO/atomic": {inOrder: true, new: func(_, _ known) (clientgo.Queue, clientgo.Queue) {
			o := clientgo.RealFIFOOptions{KeyFunction: keyFunc, AtomicEvents: true, EmitDeltaTypeBookmark: true, UnlockWhileProcessing: true, Transformer: trim}
			return cache.NewRealFIFOWithOptions(o), clientgo.NewRealFIFOWithOptions(o)
		}},
	} {
		t.Run(name, func(t *testing.T) {
			eachSeed(t, func(t *testing.T, r *randomPods) {
				ours, theirs := &side{known: newKnown()}, &side{known: newKnown()}
				ours.Queue, theirs.Queue = test.new(ours.known, theirs.known)
				both := func(what string, f func(*side) string) {
					t.Helper()
					same(t, what, f(ours), f(theirs))
				}
				both("Close", func(s *side) string { s.Close(); return "" })
				lists := 0
				for range 40 {
					// Lists that are refused are not in here: client-go's queues
					// keep half of one.
					r.bad = false
					list := r.some()
					r.bad = true
					obj := r.one()
					operation := r.IntN(10)
					switch operation {
					case 0, 1:
						both("Add", func(s *side) string { return kind(s.Add(obj)) })
					case 2, 3:
						both("Update", func(s *side) string { return kind(s.Update(obj)) })
					case 4, 5:
						both("Delete", func(s *side) string { return kind(s.Delete(obj)) })
					case 6:
						if lists++; lists > 1 && test.oneList {
							continue
						}
						both("Replace", func(s *side) string { return kind(s.Replace(list, obj.ResourceVersion)) })
					case 7:
						both("Resync", func(s *side) string { return kind(s.Resync()) })
					case 8:
						if b, ok := ours.Queue.(clientgo.ReflectorBookmarkStore); ok {
							_ = b.Bookmark(obj.ResourceVersion)
							_ = theirs.Queue.(clientgo.ReflectorBookmarkStore).Bookmark(obj.ResourceVersion)
						}
					case 9:
						if test.inOrder {
							if _, batches := ours.Queue.(clientgo.QueueWithBatch); batches && r.IntN(2) == 0 {
								both("PopBatch", (*side).batch)
							} else {
								both("Pop", (*side).popped)
							}
						} else {
							both("Pop all", func(s *side) string { return s.drained(false) })
						}
					}
					both("HasSynced", func(s *side) string {
						return fmt.Sprint(s.HasSynced(), clientgo.IsDone(s.HasSyncedChecker()))
					})
				}
				both("Pop all", func(s *side) string { return s.drained(test.inOrder) })
				both("known", func(s *side) string { return names(s.known.List(), true) })
				both("initial", func(s *side) string { return fmt.Sprint(s.initial) })
				both("HasSynced", func(s *side) string { return fmt.Sprint(s.HasSynced()) })
			})
		})
	}
}

// A list with an object that has no key leaves the queue as it was.
func TestRefusedList(t *testing.T) {
	for name, q := range map[string]clientgo.Queue{
		"FIFO":      cache.NewFIFO(keyFunc),
		"DeltaFIFO": cache.NewDeltaFIFO(keyFunc, newKnown()),
		"RealFIFO":  cache.NewRealFIFO(keyFunc, newKnown(), nil),
	} {
		err := q.Replace([]any{pod("x", "a", "1"), pod("x", badName, "2")}, "2")
		if _, ok := errors.AsType[clientgo.KeyError](err); !ok {
			t.Errorf("%s: %v", name, err)
		}
		q.Close()
		if obj, err := q.Pop(func(any, bool) error { return nil }); !errors.Is(err, cache.ErrFIFOClosed) {
			t.Errorf("%s has %v, %v", name, obj, err)
		}
	}
}

func TestKeyOf(t *testing.T) {
	f := cache.NewDeltaFIFO(keyFunc, nil)
	a := pod("x", "a", "1")
	for _, obj := range []any{a, cache.DeletedFinalStateUnknown{Key: "x/a"}, cache.Deltas{{Object: pod("x", "b", "1")}, {Object: a}}} {
		if key, err := f.KeyOf(obj); err != nil || key != "x/a" {
			t.Errorf("%v: %q, %v", obj, key, err)
		}
	}
	if _, err := f.KeyOf(cache.Deltas{}); !errors.Is(err, cache.ErrZeroLengthDeltasObject) {
		t.Error(err)
	}
}

// Pop waits for something, or for Close. Every object is taken by exactly one of
// those who wait.
func TestPopWaits(t *testing.T) {
	for name, newQueue := range map[string]func() clientgo.Queue{
		"FIFO":      func() clientgo.Queue { return cache.NewFIFO(keyFunc) },
		"DeltaFIFO": func() clientgo.Queue { return cache.NewDeltaFIFO(keyFunc, nil) },
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				q := newQueue()
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
		})
	}
}
