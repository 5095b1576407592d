package informer_test

import (
	"errors"
	"fmt"
	"sync"
	"testing"
	"testing/synctest"

	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/client-go/tools/cache"

	kwcache "github.com/kubewright/kubewright/runtime/cache"
	gen "github.com/kubewright/kubewright/runtime/gen/informer"
	genlister "github.com/kubewright/kubewright/runtime/gen/lister"
	"github.com/kubewright/kubewright/runtime/informer"
	"github.com/kubewright/kubewright/runtime/lister"
)

// TestDeclaredIndexes checks that an index of labels or of a field exists, whether it is declared once or
// twice, before or after the start.
func TestDeclaredIndexes(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newServer()
		i := s.ours(gen.Options{})
		declare := func(errs ...error) {
			t.Helper()
			if err := errors.Join(errs...); err != nil {
				t.Error(err)
			}
		}
		declare(informer.IndexLabels(i, "parity"), informer.IndexLabels(i, "parity", "other"))
		stop := run(i)
		s.put("a") // odd
		s.put("b")
		s.put("c") // odd
		synctest.Wait()
		declare(informer.IndexField(i,
			"metadata.name", func(c *configMap) []string { return []string{c.Name} }))
		list := genlister.New[*configMap](i.GetIndexer(), configMaps)
		if found, err := list.List(labels.SelectorFromSet(labels.Set{"parity": "1"})); err != nil ||
			len(found) != 2 {
			t.Errorf("found %v, %v", found, err)
		}
		isB := fields.OneTermEqualSelector("metadata.name", "b")
		if found, err := lister.ListByFields(list, isB, labels.Everything()); err != nil ||
			len(found) != 1 || found[0].Name != "b" {
			t.Errorf("found %v, %v", found, err)
		}
		for _, indexer := range []cache.Indexer{i.GetIndexer(), i.GetTypedIndexer()} {
			found, err := lister.ListByFields(genlister.NewGeneric(indexer, configMaps), isB, labels.Everything())
			if err != nil || len(found) != 1 || found[0].(*configMap).Name != "b" {
				t.Errorf("of a %T found %v, %v", indexer, found, err)
			}
		}
		concrete := kwcache.NewSharedIndexInformerWithOptions(
			s.listerWatcher(), &configMap{}, cache.SharedIndexInformerOptions{})
		if err := informer.IndexLabels(concrete, "parity"); err == nil {
			t.Error("made an index that no lister reads")
		}
		theirs := s.theirs(gen.Options{})
		if err := informer.IndexLabels(theirs, "parity"); !errors.Is(err, informer.ErrUnsupportedInformer) {
			t.Errorf("client-go's: %v", err)
		}
		if err := informer.IndexField(
			theirs, "f", func(*configMap) []string { return nil },
		); !errors.Is(err, informer.ErrUnsupportedInformer) {
			t.Errorf("client-go's: %v", err)
		}
		if err := informer.IndexField[*configMap](i, "f", nil); err == nil {
			t.Error("made an index that has no function")
		}
		stop()
	})
}

// TestLabelsAreIndexedAtTheSameTime checks that several goroutines can declare the same label.
func TestLabelsAreIndexedAtTheSameTime(t *testing.T) {
	i := newServer().ours(gen.Options{})
	var declaring sync.WaitGroup
	for range 8 {
		declaring.Go(func() {
			for n := range 100 {
				if err := informer.IndexLabels(i, fmt.Sprint(n)); err != nil {
					t.Error(err)
				}
			}
		})
	}
	declaring.Wait()
}
