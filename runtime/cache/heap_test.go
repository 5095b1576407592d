package cache_test

import (
	"fmt"
	"testing"

	clientgo "k8s.io/client-go/tools/cache"

	"github.com/kubewright/kubewright/runtime/cache"
)

func TestHeapLikeClientGo(t *testing.T) {
	less := func(a, b any) bool { return text(a) < text(b) }
	eachSeed(t, func(t *testing.T, r *randomPods) {
		ours, theirs := cache.NewHeap(keyFunc, less), clientgo.NewHeap(keyFunc, less)
		r.bad = true
		for range 60 {
			obj, list := r.one(), r.some()
			switch r.IntN(7) {
			case 0:
				same(t, "Add", kind(ours.Add(obj)), kind(theirs.Add(obj)))
			case 1:
				same(t, "AddIfNotPresent", kind(ours.AddIfNotPresent(obj)), kind(theirs.AddIfNotPresent(obj)))
			case 2:
				same(t, "BulkAdd", kind(ours.BulkAdd(list)), kind(theirs.BulkAdd(list)))
			case 3:
				same(t, "Delete", fmt.Sprint(ours.Delete(obj) == nil), fmt.Sprint(theirs.Delete(obj) == nil))
			case 4, 5:
				if len(theirs.ListKeys()) > 0 {
					a, _ := ours.Pop()
					b, _ := theirs.Pop()
					same(t, "Pop", a, b)
				}
			case 6:
				same(t, "Update", kind(ours.Update(obj)), kind(theirs.Update(obj)))
			}
			same(t, "List", names(ours.List(), true), names(theirs.List(), true))
			same(t, "ListKeys", ordered(ours.ListKeys()), ordered(theirs.ListKeys()))
			a, okA, errA := ours.Get(obj)
			b, okB, errB := theirs.Get(obj)
			same(t, "Get", fmt.Sprint(text(a), okA, kind(errA)), fmt.Sprint(text(b), okB, kind(errB)))
		}
	})
}

func TestHeapCloses(t *testing.T) {
	h := cache.NewHeap(keyFunc, func(a, b any) bool { return text(a) < text(b) })
	if err := h.Add(pod("x", "a", "1")); err != nil || h.IsClosed() {
		t.Fatal(err)
	}
	h.Close()
	for _, err := range []error{h.Add(pod("x", "b", "1")), h.AddIfNotPresent(pod("x", "b", "1")), h.BulkAdd(nil)} {
		if err == nil {
			t.Error("something was added to a closed heap")
		}
	}
	if obj, err := h.Pop(); err != nil || text(obj) != "x/a@1" {
		t.Errorf("%v, %v", obj, err)
	}
	if _, err := h.Pop(); err == nil || !h.IsClosed() {
		t.Error("a closed and empty heap gave something")
	}
}
