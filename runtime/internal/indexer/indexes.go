package indexer

import (
	"fmt"
	"maps"
	"slices"

	"k8s.io/apimachinery/pkg/util/sets"
	"k8s.io/client-go/tools/cache"

	"github.com/kubewright/kubewright/runtime/internal/store"
	"github.com/kubewright/kubewright/runtime/lister"
)

// ByIndex returns the objects that have value in the named index.
func (x *Indexer[K]) ByIndex(name, value string) ([]any, error) { return x.store.ByIndex(name, value) }

// Index returns the objects that share a value in the named index with obj,
// which may be of any type that the index function takes.
func (x *Indexer[K]) Index(name string, obj any) ([]any, error) {
	x.mu.RLock()
	function, ok := x.indexers[name]
	x.mu.RUnlock()
	if !ok {
		return nil, &lister.NoIndexError{Name: name}
	}
	values, err := function(obj)
	if err != nil {
		return nil, err
	}
	return x.store.ByIndex(name, values...)
}

// IndexKeys returns the keys, sorted, of the objects that have value in the
// named index.
func (x *Indexer[K]) IndexKeys(name, value string) ([]string, error) {
	found, err := x.store.IndexKeys(name, value)
	if err != nil {
		return nil, err
	}
	keys := make([]string, len(found))
	for i, key := range found {
		keys[i] = x.keys.String(key)
	}
	slices.Sort(keys)
	return keys, nil
}

// ListIndexFuncValues returns the values of the named index that objects have.
func (x *Indexer[K]) ListIndexFuncValues(name string) []string {
	return append([]string{}, x.store.IndexValues(name)...)
}

// GetIndexers returns the index functions by name. The map is a copy.
func (x *Indexer[K]) GetIndexers() cache.Indexers {
	x.mu.RLock()
	defer x.mu.RUnlock()
	return maps.Clone(x.indexers)
}

// AddIndexers adds indexes and fills them. None is added if a name is taken or a
// function nil. As with client-go, a write panics if an index function returns an error
// for its object.
func (x *Indexer[K]) AddIndexers(indexers cache.Indexers) error {
	x.adding.Lock()
	defer x.adding.Unlock()
	before := x.GetIndexers()
	functions := make(map[string]store.IndexFunc, len(indexers))
	for name, function := range indexers {
		if _, taken := before[name]; taken {
			return fmt.Errorf("indexer conflict: %v", sets.KeySet(before).Intersection(sets.KeySet(indexers)))
		}
		if function == nil {
			functions[name] = nil // The store returns the error.
			continue
		}
		functions[name] = func(obj any) []string {
			if obj == nil {
				return nil // A ThreadSafeStore may hold nil, which has no values.
			}
			values, err := function(obj)
			if err != nil {
				key, _ := x.keys.Of(obj)
				text := "unable to calculate an index entry for key %q on index %q: %w"
				panic(fmt.Errorf(text, x.keys.String(key), name, err))
			}
			return values
		}
	}
	if err := x.store.AddIndexes(functions); err != nil {
		return err
	}
	x.mu.Lock()
	defer x.mu.Unlock()
	maps.Copy(x.indexers, indexers)
	return nil
}
