package indexer_test

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"reflect"
	"slices"
	"strconv"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/tools/cache"

	"github.com/kubewright/kubewright/runtime/internal/indexer"
	"github.com/kubewright/kubewright/runtime/internal/store"
)

type configMap = corev1.ConfigMap

var testIndexers = cache.Indexers{
	cache.NamespaceIndex: cache.MetaNamespaceIndexFunc,
	"labels": func(obj any) ([]string, error) {
		m, ok := obj.(metav1.Object)
		if !ok {
			return nil, errors.New("no object")
		}
		var values []string
		for key, value := range m.GetLabels() {
			values = append(values, key+"="+value)
		}
		return values, nil
	},
}

func newIndexer(t *testing.T, indexers cache.Indexers) *indexer.Indexer[cache.ObjectName] {
	x := indexer.New(store.New[cache.ObjectName](), indexer.ObjectNames(reflect.TypeFor[*configMap]()))
	if err := x.AddIndexers(indexers); err != nil {
		t.Fatal(err)
	}
	return x
}

func sample(n, version int) *configMap {
	return &configMap{ObjectMeta: metav1.ObjectMeta{
		Namespace: fmt.Sprint("namespace-", n%10), Name: fmt.Sprint("object-", n),
		ResourceVersion: strconv.Itoa(version),
	}}
}

func describe(obj any) string {
	m, ok := obj.(metav1.Object)
	if !ok {
		return fmt.Sprintf("%T", obj)
	}
	return fmt.Sprintf("%s/%s@%s", m.GetNamespace(), m.GetName(), m.GetResourceVersion())
}

func randomObject(r *rand.Rand) *configMap {
	obj := &configMap{ObjectMeta: metav1.ObjectMeta{
		Name:            "name-" + strconv.Itoa(r.IntN(12)),
		ResourceVersion: strconv.Itoa(1 + r.IntN(1000)),
		Labels:          map[string]string{},
	}}
	if r.IntN(4) > 0 {
		obj.Namespace = "namespace-" + strconv.Itoa(r.IntN(3))
	}
	for n := range r.IntN(3) {
		obj.Labels[fmt.Sprint("key", n)] = strconv.Itoa(r.IntN(2))
	}
	return obj
}

// TestIndexerActsAsClientGos performs the same random operations on both indexers and compares the results of
// all reads.
func TestIndexerActsAsClientGos(t *testing.T) {
	for seed := range uint64(10) {
		r := rand.New(rand.NewPCG(seed, 4))
		ours := newIndexer(t, testIndexers)
		theirs := cache.NewIndexer(cache.DeletionHandlingMetaNamespaceKeyFunc, cache.Indexers{})
		if err := theirs.AddIndexers(testIndexers); err != nil {
			t.Fatal(err)
		}
		for range 400 {
			obj := randomObject(r)
			var do func(cache.Indexer) error
			switch n := r.IntN(20); {
			case n < 6:
				do = func(x cache.Indexer) error { return x.Add(obj) }
			case n < 10:
				do = func(x cache.Indexer) error { return x.Update(obj) }
			case n < 14:
				do = func(x cache.Indexer) error { return x.Delete(obj) }
			case n == 14:
				do = func(x cache.Indexer) error {
					return x.Delete(cache.DeletedFinalStateUnknown{Key: "namespace-1/" + obj.Name})
				}
			case n == 15:
				do = func(x cache.Indexer) error { x.Bookmark(obj.ResourceVersion); return nil }
			case n == 16:
				list := []any{obj, randomObject(r), randomObject(r)}
				do = func(x cache.Indexer) error { return x.Replace(slices.Clone(list), "77") }
			case n == 17:
				name := fmt.Sprint("index-", r.IntN(4))
				do = func(x cache.Indexer) error {
					return x.AddIndexers(cache.Indexers{name: testIndexers["labels"]})
				}
			case n == 18:
				txns := []cache.Transaction{
					{Object: obj, Type: cache.TransactionTypeAdd},
					{Object: "no object", Type: cache.TransactionTypeUpdate},
					{Object: randomObject(r), Type: cache.TransactionTypeDelete},
				}
				do = func(x cache.Indexer) error {
					return x.(cache.TransactionStore).Transaction(txns...)
				}
			default:
				do = func(x cache.Indexer) error { return x.Resync() }
			}
			if err, theirErr := do(ours), do(theirs); !sameError(err, theirErr) {
				t.Fatalf("ours says %v, theirs %v", err, theirErr)
			}
			compareIndexers(t, r, ours, theirs)
		}
	}
}

func sameError(ours, theirs error) bool {
	if (ours == nil) != (theirs == nil) {
		return false
	}
	return ours == nil || ours.Error() == theirs.Error()
}

func compareIndexers(t *testing.T, r *rand.Rand, ours, theirs cache.Indexer) {
	t.Helper()
	sorted := func(list []any) []string {
		names := []string{}
		for _, obj := range list {
			names = append(names, describe(obj))
		}
		slices.Sort(names)
		return names
	}
	sortedKeys := func(keys []string) []string { slices.Sort(keys); return keys }
	obj := randomObject(r)
	for _, read := range []func(cache.Indexer) any{
		func(x cache.Indexer) any { return sorted(x.List()) },
		func(x cache.Indexer) any { return sortedKeys(x.ListKeys()) },
		func(x cache.Indexer) any { return x.LastStoreSyncResourceVersion() },
		func(x cache.Indexer) any { o, ok, err := x.Get(obj); return []any{o, ok, err} },
		func(x cache.Indexer) any { o, ok, err := x.Get("no object"); return fmt.Sprint(o, ok, err) },
		func(x cache.Indexer) any {
			o, ok, err := x.GetByKey("namespace-1/" + obj.Name)
			return []any{o, ok, err}
		},
		func(x cache.Indexer) any { o, ok, err := x.GetByKey("a/b/c"); return []any{o, ok, err} },
		func(x cache.Indexer) any {
			o, err := x.ByIndex(cache.NamespaceIndex, "namespace-1")
			return fmt.Sprint(sorted(o), err)
		},
		func(x cache.Indexer) any { o, err := x.ByIndex("none", ""); return fmt.Sprint(o, err) },
		func(x cache.Indexer) any { o, err := x.Index("labels", obj); return fmt.Sprint(sorted(o), err) },
		func(x cache.Indexer) any { o, err := x.Index("labels", "no object"); return fmt.Sprint(o, err) },
		func(x cache.Indexer) any { o, err := x.Index("none", obj); return fmt.Sprint(o, err) },
		func(x cache.Indexer) any { o, err := x.IndexKeys("labels", "key0=1"); return fmt.Sprint(o, err) },
		func(x cache.Indexer) any { o, err := x.IndexKeys("none", ""); return fmt.Sprint(o, err) },
		func(x cache.Indexer) any { return sortedKeys(x.ListIndexFuncValues("labels")) },
		func(x cache.Indexer) any { return sortedKeys(x.ListIndexFuncValues("none")) },
		func(x cache.Indexer) any { return len(x.GetIndexers()) },
	} {
		if o, th := read(ours), read(theirs); !reflect.DeepEqual(o, th) {
			t.Fatalf("ours reads %v, theirs %v", o, th)
		}
	}
}

func TestIndexerTakesItsTypeOnly(t *testing.T) {
	x := newIndexer(t, nil)
	if err := x.Add(&corev1.Secret{ObjectMeta: metav1.ObjectMeta{Name: "a"}}); err == nil {
		t.Error("a secret is accepted among config maps")
	}
	if err := x.Replace([]any{sample(1, 1), sample(2, 2)}, "2"); err != nil {
		t.Fatal(err)
	}
	if err := x.Replace([]any{sample(3, 3), "no object"}, "3"); err == nil {
		t.Error("a list with a string is accepted")
	}
	if n := len(x.ListKeys()); n != 2 {
		t.Errorf("a refused list left %d objects", n)
	}
	// A secret of the same name has the config map's key.
	if _, ok, err := x.Get(&corev1.Secret{ObjectMeta: sample(1, 1).ObjectMeta}); !ok || err != nil {
		t.Errorf("found %v, %v", ok, err)
	}
}

// TestNoSuchKey checks that a slash before a name makes a key that no object has.
func TestNoSuchKey(t *testing.T) {
	i := newIndexer(t, nil)
	if err := i.Add(&configMap{ObjectMeta: metav1.ObjectMeta{Name: "b"}}); err != nil {
		t.Fatal(err)
	}
	for key, want := range map[string]bool{
		"b": true, "/b": false, "a/b": false, "a/b/c": false, "/": false, "": false,
	} {
		if _, ok, err := i.GetByKey(key); ok != want || err != nil {
			t.Errorf("%q: %v, %v", key, ok, err)
		}
	}
}

// TestNilIndexFunction checks that a nil index function is refused, rather than panicking at the first
// object.
func TestNilIndexFunction(t *testing.T) {
	x := newIndexer(t, nil)
	if err := x.AddIndexers(cache.Indexers{"x": nil}); err == nil ||
		err.Error() != `the index "x" has no function` {
		t.Error(err)
	}
	if n := len(x.GetIndexers()); n != 0 {
		t.Errorf("%d indexes, want none", n)
	}
}
