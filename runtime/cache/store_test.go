package cache_test

import (
	"fmt"
	"testing"

	corev1 "k8s.io/api/core/v1"
	clientgo "k8s.io/client-go/tools/cache"

	"github.com/kubewright/kubewright/runtime/cache"
)

// sameReads compares all ways to read two indexers.
func sameReads(t *testing.T, ours, theirs clientgo.Indexer, probe *corev1.Pod) {
	t.Helper()
	same(t, "List", names(ours.List(), true), names(theirs.List(), true))
	same(t, "ListKeys", ordered(ours.ListKeys()), ordered(theirs.ListKeys()))
	same(t, "version", ours.LastStoreSyncResourceVersion(), theirs.LastStoreSyncResourceVersion())
	for _, index := range []string{"namespace", "label", "none"} {
		same(t, index+" values", ordered(ours.ListIndexFuncValues(index)),
			ordered(theirs.ListIndexFuncValues(index)))
		a, errA := ours.Index(index, probe)
		b, errB := theirs.Index(index, probe)
		same(t, "Index "+index, names(a, true), names(b, true))
		same(t, "Index error", fmt.Sprint(errA), fmt.Sprint(errB))
		for _, value := range []string{"x", "y", "red", "big"} {
			a, errA := ours.ByIndex(index, value)
			b, errB := theirs.ByIndex(index, value)
			same(t, "ByIndex "+index, names(a, true), names(b, true))
			same(t, "ByIndex error", fmt.Sprint(errA), fmt.Sprint(errB))
			c, _ := ours.IndexKeys(index, value)
			d, _ := theirs.IndexKeys(index, value)
			same(t, "IndexKeys "+index, fmt.Sprint(c), fmt.Sprint(d))
		}
	}
	a, okA, errA := ours.Get(probe)
	b, okB, errB := theirs.Get(probe)
	same(t, "Get", fmt.Sprint(text(a), okA, errA), fmt.Sprint(text(b), okB, errB))
	a, okA, _ = ours.GetByKey("x/a")
	b, okB, _ = theirs.GetByKey("x/a")
	same(t, "GetByKey", fmt.Sprint(text(a), okA), fmt.Sprint(text(b), okB))
}

// TestStoreLikeClientGo checks that a store behaves as client-go's under random operations.
func TestStoreLikeClientGo(t *testing.T) {
	upper := func(obj any) (any, error) {
		p := obj.(*corev1.Pod).DeepCopy()
		if p.Name == "d" {
			return nil, errBad
		}
		p.Labels = map[string]string{"red": "yes"}
		return p, nil
	}
	for _, transform := range []bool{false, true} {
		eachSeed(t, func(t *testing.T, r *randomPods) {
			r.bad = true
			var ours, theirs clientgo.Indexer
			if transform {
				ours = cache.NewIndexer(keyFunc, indexers(), cache.WithTransformer(upper))
				theirs = clientgo.NewIndexer(keyFunc, indexers(), clientgo.WithTransformer(upper))
			} else {
				ours, theirs = cache.NewIndexer(keyFunc, indexers()), clientgo.NewIndexer(keyFunc, indexers())
			}
			both := func(what string, f func(clientgo.Indexer) error) {
				same(t, what, kind(f(ours)), kind(f(theirs)))
			}
			for range 30 {
				obj, list := r.one(), r.some()
				switch r.IntN(8) {
				case 0, 1:
					both("Add", func(i clientgo.Indexer) error { return i.Add(obj) })
				case 2:
					both("Update", func(i clientgo.Indexer) error { return i.Update(obj) })
				case 3, 4:
					both("Delete", func(i clientgo.Indexer) error { return i.Delete(obj) })
				case 5:
					both("Replace",
						func(i clientgo.Indexer) error { return i.Replace(list, obj.ResourceVersion) })
				case 6:
					both("Bookmark",
						func(i clientgo.Indexer) error { i.Bookmark(obj.ResourceVersion); return nil })
				case 7:
					txns := []clientgo.Transaction{{Object: obj, Type: clientgo.TransactionTypeAdd}}
					for _, obj := range list {
						txns = append(txns,
							clientgo.Transaction{Object: obj, Type: clientgo.TransactionTypeDelete})
					}
					both("Transaction", func(i clientgo.Indexer) error {
						if err := i.(clientgo.TransactionStore).Transaction(txns...); err != nil {
							return err
						}
						return nil
					})
				}
				probe := r.one()
				sameReads(t, ours, theirs, probe)
			}
		})
	}
}

func TestAddIndexersLikeClientGo(t *testing.T) {
	ours, theirs := cache.NewIndexer(keyFunc, indexers()), clientgo.NewIndexer(keyFunc, indexers())
	for _, x := range []clientgo.Indexer{ours, theirs} {
		_ = x.Add(pod("x", "a", "1", "red"))
	}
	same(t, "conflict", ours.AddIndexers(clientgo.Indexers{"label": byLabel, "new": byLabel}).Error(),
		theirs.AddIndexers(clientgo.Indexers{"label": byLabel, "new": byLabel}).Error())
	for _, x := range []clientgo.Indexer{ours, theirs} {
		if err := x.AddIndexers(clientgo.Indexers{"new": byLabel}); err != nil {
			t.Fatal(err)
		}
		if found, err := x.ByIndex("new", "red"); err != nil || len(found) != 1 {
			t.Errorf("%v, %v", found, err)
		}
		if len(x.GetIndexers()) != 3 {
			t.Errorf("%d indexers", len(x.GetIndexers()))
		}
	}
}

func TestThreadSafeStoreLikeClientGo(t *testing.T) {
	eachSeed(t, func(t *testing.T, r *randomPods) {
		ours := cache.NewThreadSafeStore(indexers(),
			cache.Indices{}).(clientgo.ThreadSafeStoreWithTransaction)
		theirs := clientgo.NewThreadSafeStore(indexers(),
			clientgo.Indices{}).(clientgo.ThreadSafeStoreWithTransaction)
		for range 30 {
			obj, list := r.one(), r.some()
			key, _ := keyFunc(obj)
			items := map[string]any{}
			txns := []clientgo.ThreadSafeStoreTransaction{}
			for i, obj := range list {
				key, _ := keyFunc(obj)
				items[key] = obj
				kind := []clientgo.TransactionType{clientgo.TransactionTypeAdd,
					clientgo.TransactionTypeUpdate, clientgo.TransactionTypeDelete}[i%3]
				txns = append(txns,
					clientgo.ThreadSafeStoreTransaction{Key: key,
						Transaction: clientgo.Transaction{Object: obj, Type: kind}})
			}
			operation := r.IntN(7)
			for _, s := range []clientgo.ThreadSafeStoreWithTransaction{ours, theirs} {
				switch operation {
				case 0:
					s.Add(key, obj)
				case 1:
					s.Update(key, obj)
				case 2:
					s.Delete(key)
				case 3:
					s.DeleteWithObject(key, obj)
				case 4:
					// Each side keeps the map.
					own := map[string]any{}
					for k, v := range items {
						own[k] = v
					}
					s.Replace(own, obj.ResourceVersion)
				case 5:
					s.Bookmark(obj.ResourceVersion)
				case 6:
					s.Transaction(txns...)
				}
			}
			same(t, "List", names(ours.List(), true), names(theirs.List(), true))
			same(t, "ListKeys", ordered(ours.ListKeys()), ordered(theirs.ListKeys()))
			same(t, "version", ours.LastStoreSyncResourceVersion(), theirs.LastStoreSyncResourceVersion())
			a, okA := ours.Get(key)
			b, okB := theirs.Get(key)
			same(t, "Get", fmt.Sprint(text(a), okA), fmt.Sprint(text(b), okB))
			for _, value := range []string{"x", "red"} {
				c, _ := ours.ByIndex("label", value)
				d, _ := theirs.ByIndex("label", value)
				same(t, "ByIndex", names(c, true), names(d, true))
			}
		}
	})
}

func TestUndeltaStore(t *testing.T) {
	var pushed []string
	s := cache.NewUndeltaStore(func(all []any) { pushed = append(pushed, names(all, true)) }, keyFunc)
	for _, err := range []error{
		s.Add(pod("x", "a", "1")), s.Update(pod("x", "a", "2")),
		s.Replace([]any{pod("x", "b", "3")}, "3"), s.Delete(pod("x", "b", "4")),
	} {
		if err != nil {
			t.Error(err)
		}
	}
	if got := fmt.Sprintf("%q", pushed); got != `["x/a@1" "x/a@2" "x/b@3" ""]` {
		t.Error(got)
	}
}
