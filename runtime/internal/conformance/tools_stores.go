package conformance

import (
	"slices"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/client-go/tools/cache"

	"github.com/kubewright/kubewright/internal/guarantee"
)

// contents records the contents of a store.
func (b *Bench) contents(s cache.Store) {
	keys := s.ListKeys()
	slices.Sort(keys)
	var list []string
	for _, obj := range s.List() {
		list = append(list, describe(obj))
	}
	slices.Sort(list)
	b.Note("%v %v at %q", keys, list, s.LastStoreSyncResourceVersion())
}

// index records the contents of an index.
func (b *Bench) index(s cache.ThreadSafeStore, name string) {
	values := s.ListIndexFuncValues(name)
	slices.Sort(values)
	for _, value := range values {
		keys, err := s.IndexKeys(name, value)
		slices.Sort(keys)
		b.Note("%s: %v %v", value, keys, err)
	}
}

// indexers are scenarios of stores and their indexes.
var indexers = []ToolScenario{
	{Name: "Indexer: objects come, change and go", Guarantee: guarantee.IndexEqualsScan, Script: func(b *Bench) {
		s := b.Tools.Indexer(keyOfNamed, cache.Indexers{"letter": byLetter})
		b.check(s.Add(object("ab", "1")))
		b.check(s.Update(object("bc", "2")))
		b.check(s.Add(object("ab", "3")))
		b.contents(s)
		b.check(s.Delete(object("bc", "4")))
		b.check(s.Delete(object("x", "5")))
		b.contents(s)
		b.Note("%s", kind(s.Add(object("bad", "6"))))
		b.Note("%s", kind(s.Delete(object("bad", "6"))))
		b.Note("%s", kind(s.Replace(objects("a", "bad"), "6")))
		b.contents(s)
		b.check(s.Replace(objects("c", "d"), "7"))
		b.contents(s)
		s.Bookmark("9")
		b.contents(s)
	}},
	{Name: "Indexer: several changes at once", Guarantee: guarantee.IndexEqualsScan, Script: func(b *Bench) {
		s := b.Tools.Indexer(keyOfNamed, nil).(cache.TransactionStore)
		err := s.Transaction(
			cache.Transaction{Type: cache.TransactionTypeAdd, Object: object("a", "1")},
			cache.Transaction{Type: cache.TransactionTypeAdd, Object: object("bad", "1")},
			cache.Transaction{Type: cache.TransactionTypeUpdate, Object: object("b", "2")},
			cache.Transaction{Type: cache.TransactionTypeDelete, Object: object("a", "3")},
		)
		b.Note("%v of %d, %d errors", err.SuccessfulIndices, err.TotalTransactions, len(err.Errors))
		b.contents(s.(cache.Store))
	}},
	{Name: "Indexer: an index name that is taken", Guarantee: guarantee.IndexEqualsScan, Script: func(b *Bench) {
		s := b.Tools.Indexer(keyOfNamed, cache.Indexers{"letter": byLetter})
		b.check(s.Add(object("ab", "1")))
		b.Note("%v", s.AddIndexers(cache.Indexers{"letter": byLetter, "other": byLetter}))
		b.Note("%v", len(s.GetIndexers()))
		_, err := s.ByIndex("other", "a")
		b.Note("%v", err)
	}},
	{Name: "Indexer: an index function that fails at what is there", Guarantee: guarantee.IndexEqualsScan,
		Script: func(b *Bench) {
			s := b.Tools.Indexer(keyOfNamed, cache.Indexers{"letter": byLetter})
			b.check(s.Add(object("ab", "1")))
			func() {
				defer func() { b.Note("%v", recover() != nil) }()
				_ = s.AddIndexers(cache.Indexers{"bad": func(any) ([]string, error) { return nil, errBroken }})
			}()
			_, err := s.ByIndex("bad", "a")
			b.Note("%d indexes, %v", len(s.GetIndexers()), err)
			found, err := s.ByIndex("letter", "a")
			b.Note("%d, %v", len(found), err)
		}, Differs: "client-go panics, too, and has the index, empty, from then on"},
	{Name: "ThreadSafeStore: keys of the user's", Guarantee: guarantee.IndexEqualsScan, Script: func(b *Bench) {
		s := b.Tools.ThreadSafeStore(cache.Indexers{"letter": byLetter})
		s.Add("k1", object("ab", "1"))
		s.Add("k2", object("bc", "2"))
		b.index(s, "letter")
		s.Update("k1", object("c", "3"))
		b.index(s, "letter")
		s.Delete("k2")
		b.Note("%q", s.LastStoreSyncResourceVersion())
		s.(interface{ DeleteWithObject(string, any) }).DeleteWithObject("k1", object("c", "4"))
		b.Note("%v %q", s.ListKeys(), s.LastStoreSyncResourceVersion())
		s.Replace(map[string]any{"k3": object("d", "1")}, "9")
		obj, exists := s.Get("k3")
		b.Note("%s %t %q", describe(obj), exists, s.LastStoreSyncResourceVersion())
		b.index(s, "letter")
	}},
	{Name: "ThreadSafeStore: nothing under a key", Guarantee: guarantee.Complete, Script: func(b *Bench) {
		s := b.Tools.ThreadSafeStore(cache.Indexers{"letter": byLetter})
		s.Add("k", nil)
		obj, exists := s.Get("k")
		b.Note("%v %t %d", obj, exists, len(s.List()))
		s.Update("k", object("ab", "1"))
		b.index(s, "letter")
		s.Update("k", nil)
		b.index(s, "letter")
		b.Note("%v %q", s.ListKeys(), s.LastStoreSyncResourceVersion())
	}},
	{Name: "UndeltaStore: everything after each change", Guarantee: guarantee.Complete, Script: func(b *Bench) {
		s := b.Tools.UndeltaStore(func(all []any) {
			var list []string
			for _, obj := range all {
				list = append(list, describe(obj))
			}
			slices.Sort(list)
			b.Note("%v", list)
		}, keyOfNamed)
		b.check(s.Add(object("a", "1")))
		b.check(s.Update(object("b", "1")))
		b.check(s.Delete(object("a", "2")))
		b.check(s.Replace(objects("x", "y"), "3"))
		b.Note("%s", kind(s.Add(object("bad", "1"))))
	}},
	{Name: "lister: what there is and what there isn't", Guarantee: guarantee.IndexEqualsScan,
		Script: func(b *Bench) {
			i := b.Tools.Indexer(cache.MetaNamespaceKeyFunc,
				cache.Indexers{cache.NamespaceIndex: cache.MetaNamespaceIndexFunc})
			for _, name := range []string{"a", "b"} {
				cm := object(name, "1")
				cm.Labels = map[string]string{"name": name}
				b.check(i.Add(cm))
			}
			l := b.Tools.GenericLister(i)
			for _, namespace := range []string{Namespace, "other"} {
				found, err := l.ByNamespace(namespace).List(labels.SelectorFromSet(labels.Set{"name": "a"}))
				b.Note("%d %v", len(found), err)
				_, err = l.ByNamespace(namespace).Get("a")
				b.Note("%t %v", apierrors.IsNotFound(err), err)
			}
			found, err := l.List(labels.Everything())
			b.Note("%d %v", len(found), err)
			_, err = l.Get("a")
			b.Note("%v", err)
		}},
}

// waits are scenarios of the functions that wait for caches.
var waits = []ToolScenario{
	{Name: "WaitForCacheSync: asked ten times a second", Guarantee: guarantee.SyncedMeansDelivered,
		Script: func(b *Bench) {
			start := time.Now()
			after := func(d time.Duration) cache.InformerSynced {
				return func() bool { return time.Since(start) >= d }
			}
			b.Note("%t after %v", b.Tools.WaitForCacheSync(nil, after(0)), time.Since(start))
			b.Note("%t", b.Tools.WaitForCacheSync(nil, after(250*time.Millisecond), after(0)))
			b.Note("after %v", time.Since(start))
		}},
	{Name: "WaitForCacheSync: stopped", Guarantee: guarantee.NoLeak, Script: func(b *Bench) {
		start := time.Now()
		stop := make(chan struct{})
		time.AfterFunc(time.Second, func() { close(stop) })
		b.Note("%t", b.Tools.WaitForCacheSync(stop, func() bool { return false }))
		b.Note("after %v", time.Since(start))
		b.Note("%t", b.Tools.WaitForCacheSync(stop))
	}},
	{Name: "WaitForCacheSync: what is asked panics", Guarantee: guarantee.SyncedMeansDelivered,
		Panics: true, Script: func(b *Bench) {
			asked := 0
			b.Note("%t", b.Tools.WaitForCacheSync(nil, func() bool {
				if asked++; asked < 3 {
					panic("not yet")
				}
				return true
			}))
			b.Note("asked %d times", asked)
		}},
}
