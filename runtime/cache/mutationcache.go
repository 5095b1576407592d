package cache

import (
	"errors"
	"slices"
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	utilcache "k8s.io/apimachinery/pkg/util/cache"
	"k8s.io/apimachinery/pkg/util/resourceversion"
	utilruntime "k8s.io/apimachinery/pkg/util/runtime"
	"k8s.io/client-go/tools/cache"
	"k8s.io/klog/v2"
)

// The defaults of a mutation cache, as client-go has them.
const (
	mutationCacheSize = 100
	mutationCacheTTL  = 5 * time.Minute
)

// NewIntegerResourceVersionMutationCache is
// NewIntegerResourceVersionMutationCacheWithOptions for a cache of 100 objects.
func NewIntegerResourceVersionMutationCache(logger klog.Logger, backingCache Store, indexer Indexer, ttl time.Duration, includeAdds bool) MutationCache {
	return NewIntegerResourceVersionMutationCacheWithOptions(logger, backingCache, MutationCacheOptions{
		Indexer: indexer, TTL: ttl, IncludeAdds: includeAdds,
	})
}

// NewIntegerResourceVersionMutationCacheWithOptions returns a cache that remembers
// for a while what its user wrote, and answers with that where backingCache is
// behind. It keeps at most 100 objects, for five minutes, unless the options say
// otherwise. Of versions that can't be compared, the one that came later counts
// as newer.
func NewIntegerResourceVersionMutationCacheWithOptions(logger klog.Logger, backingCache Store, options MutationCacheOptions) MutationCache {
	if options.MaxCacheSize == 0 {
		options.MaxCacheSize = mutationCacheSize
	}
	if options.TTL == 0 {
		options.TTL = mutationCacheTTL
	}
	return &mutationCache{
		logger:  logger,
		backing: backingCache,
		options: options,
		own:     utilcache.NewLRUExpireCache(options.MaxCacheSize),
	}
}

type mutationCache struct {
	// MutationCache has an unexported method, which only this can provide.
	cache.MutationCache

	logger  klog.Logger
	backing Store
	options MutationCacheOptions

	mu sync.Mutex
	// own holds what was written, and tombstones of what is gone.
	own *utilcache.LRUExpireCache
}

// tombstone is what remains of a deleted object, so that an older write isn't
// taken for a new one.
type tombstone struct {
	uid     types.UID
	version string
}

var errNoIndexer = errors.New("no indexer has been provided to the mutation cache")

// isNewer says that version isn't older than other. No version is the oldest.
func isNewer(version, other string) bool {
	if version == "" || other == "" {
		return other == ""
	}
	order, err := resourceversion.CompareResourceVersion(version, other)
	return err != nil || order >= 0
}

// known returns uid and version of what is cached for a key.
func (c *mutationCache) known(key string) (uid types.UID, version string, gone, ok bool) {
	cached, ok := c.own.Get(key)
	if !ok {
		return "", "", false, false
	}
	if t, gone := cached.(tombstone); gone {
		return t.uid, t.version, true, true
	}
	m, err := meta.Accessor(cached)
	if err != nil {
		return "", "", false, false
	}
	return m.GetUID(), m.GetResourceVersion(), false, true
}

// newer returns what was written of an object, if that is newer than backing.
func (c *mutationCache) newer(key string, backing any) any {
	_, version, gone, ok := c.known(key)
	if !ok {
		return backing
	}
	if isNewer(versionOf(backing), version) {
		c.own.Remove(key)
		return backing
	}
	cached, ok := c.own.Get(key)
	if gone || !ok {
		return backing
	}
	return cached
}

func (c *mutationCache) GetByKey(key string) (any, bool, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	obj, exists, err := c.backing.GetByKey(key)
	switch {
	case err != nil:
		return nil, false, err
	case exists:
		return c.newer(key, obj), true, nil
	case !c.options.IncludeAdds:
		return nil, false, nil
	}
	obj, exists = c.own.Get(key)
	if _, gone := obj.(tombstone); gone || !exists {
		return nil, false, nil
	}
	return obj, true, nil
}

func (c *mutationCache) ByIndex(name, value string) ([]any, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.options.Indexer == nil {
		return nil, errNoIndexer
	}
	keys, err := c.options.Indexer.IndexKeys(name, value)
	if err != nil {
		return nil, err
	}
	var items []any
	for _, key := range keys {
		obj, exists, err := c.options.Indexer.GetByKey(key)
		if err != nil {
			return nil, err
		}
		if exists {
			items = append(items, c.newer(key, obj))
		}
	}
	if c.options.IncludeAdds {
		items = append(items, c.added(name, value, keys)...)
	}
	return items, nil
}

// added returns what was written, has a value in an index, and isn't there yet.
func (c *mutationCache) added(name, value string, there []string) (items []any) {
	indexFunc := c.options.Indexer.GetIndexers()[name]
	for _, key := range c.own.Keys() {
		obj, ok := c.own.Get(key)
		if _, gone := obj.(tombstone); gone || !ok || slices.Contains(there, key.(string)) {
			continue
		}
		values, err := indexFunc(obj)
		if err != nil {
			c.logger.V(4).Info("Unable to calculate an index entry for mutation cache entry", "key", key, "err", err)
			continue
		}
		if slices.Contains(values, value) {
			items = append(items, obj)
		}
	}
	return items
}

// Mutation remembers a write, unless something newer, or the deletion of that
// very object, is known.
func (c *mutationCache) Mutation(obj any) {
	key, ok := c.keyOf(obj)
	if !ok {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if uid, version, gone, known := c.known(key); known {
		m, err := meta.Accessor(obj)
		switch {
		case err != nil:
		case !isNewer(m.GetResourceVersion(), version):
			return
		case gone && (m.GetUID() == uid || m.GetResourceVersion() == version):
			return
		}
	}
	c.own.Add(key, obj, c.options.TTL)
}

// OnAddOrUpdate forgets a write that backingCache has caught up with.
func (c *mutationCache) OnAddOrUpdate(obj runtime.Object) {
	key, ok := c.keyOf(obj)
	if !ok {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if _, version, _, known := c.known(key); known && isNewer(versionOf(obj), version) {
		c.own.Remove(key)
	}
}

// OnDelete remembers that an object is gone, unless a newer one of its name was
// written.
func (c *mutationCache) OnDelete(obj runtime.Object) {
	key, ok := c.keyOf(obj)
	m, err := meta.Accessor(obj)
	if !ok || err != nil {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	uid, version, _, known := c.known(key)
	if known && uid != m.GetUID() && !isNewer(m.GetResourceVersion(), version) {
		return
	}
	c.own.Add(key, tombstone{uid: m.GetUID(), version: m.GetResourceVersion()}, c.options.TTL)
}

func (c *mutationCache) keyOf(obj any) (string, bool) {
	key, err := DeletionHandlingMetaNamespaceKeyFunc(obj)
	if err != nil {
		utilruntime.HandleErrorWithLogger(c.logger, err, "DeletionHandlingMetaNamespaceKeyFunc")
	}
	return key, err == nil
}
