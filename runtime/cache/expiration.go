package cache

import (
	"sync"
	"time"

	"k8s.io/utils/clock"

	"github.com/kubewright/kubewright/runtime/internal/store"
)

// ExpirationCache is a store whose objects expire by a policy. What has expired
// is removed when somebody reads it, ListKeys excepted.
type ExpirationCache struct {
	keyFunc KeyFunc
	policy  ExpirationPolicy
	clock   clock.PassiveClock
	// expire removes what has expired.
	expire func(key string)

	// mu makes a read that removes what expired one step.
	mu      sync.Mutex
	entries *store.Store[string, *TimestampedEntry]
}

// NewTTLStore returns a store whose objects expire ttl after they were written.
func NewTTLStore(keyFunc KeyFunc, ttl time.Duration) Store {
	return NewExpirationStore(keyFunc, &TTLPolicy{TTL: ttl, Clock: clock.RealClock{}})
}

// NewExpirationStore returns a store whose objects expire by a policy.
func NewExpirationStore(keyFunc KeyFunc, expirationPolicy ExpirationPolicy) Store {
	c := newExpirationCache(keyFunc, expirationPolicy, clock.RealClock{})
	c.expire = func(key string) { c.entries.Delete(key) }
	return c
}

// NewFakeExpirationStore returns a store that sends the keys of what has expired
// to deletedKeys, and removes nothing if that is nil.
func NewFakeExpirationStore(keyFunc KeyFunc, deletedKeys chan<- string, expirationPolicy ExpirationPolicy, cacheClock clock.Clock) Store {
	c := newExpirationCache(keyFunc, expirationPolicy, cacheClock)
	c.expire = func(key string) {
		if deletedKeys != nil {
			c.entries.Delete(key)
			deletedKeys <- key
		}
	}
	return c
}

func newExpirationCache(keyFunc KeyFunc, policy ExpirationPolicy, clock clock.PassiveClock) *ExpirationCache {
	return &ExpirationCache{
		keyFunc: keyFunc,
		policy:  policy,
		clock:   clock,
		entries: store.New(store.Config[string, *TimestampedEntry]{}),
	}
}

// Add stores an object, which becomes new.
func (c *ExpirationCache) Add(obj any) error {
	key, err := c.keyOf(obj)
	if err != nil {
		return err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.entries.Set(key, &TimestampedEntry{Obj: obj, Timestamp: c.clock.Now()}, "")
	return nil
}

// Update is Add.
func (c *ExpirationCache) Update(obj any) error { return c.Add(obj) }

// Delete removes the object that has obj's key.
func (c *ExpirationCache) Delete(obj any) error {
	key, err := c.keyOf(obj)
	if err != nil {
		return err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.entries.Apply([]store.Change[string, *TimestampedEntry]{{Type: store.Deleted, Key: key, Version: versionOf(obj)}})
	return nil
}

// Replace makes list, whose objects become new, the content of the store.
func (c *ExpirationCache) Replace(list []any, resourceVersion string) error {
	now := c.clock.Now()
	staged := c.entries.Begin()
	for _, obj := range list {
		key, err := c.keyOf(obj)
		if err != nil {
			staged.Discard()
			return err
		}
		staged.Set(key, &TimestampedEntry{Obj: obj, Timestamp: now}, "")
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	staged.Commit(resourceVersion)
	return nil
}

// Get returns the object that has obj's key, if it hasn't expired.
func (c *ExpirationCache) Get(obj any) (any, bool, error) {
	key, err := c.keyOf(obj)
	if err != nil {
		return nil, false, err
	}
	return c.GetByKey(key)
}

// GetByKey returns the object of a key, if it hasn't expired. The error is
// always nil.
func (c *ExpirationCache) GetByKey(key string) (any, bool, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	entry, ok := c.entries.Get(key)
	if !ok {
		return nil, false, nil
	}
	if c.policy.IsExpired(entry) {
		c.expire(key)
		return nil, false, nil
	}
	return entry.Obj, true, nil
}

// List returns the objects that haven't expired.
func (c *ExpirationCache) List() []any {
	keys := c.entries.Keys()
	list := make([]any, 0, len(keys))
	for _, key := range keys {
		if obj, ok, _ := c.GetByKey(key); ok {
			list = append(list, obj)
		}
	}
	return list
}

// ListKeys returns the keys of all objects, expired or not.
func (c *ExpirationCache) ListKeys() []string { return c.entries.Keys() }

// LastStoreSyncResourceVersion returns the last version that the store was told.
func (c *ExpirationCache) LastStoreSyncResourceVersion() string { return c.entries.ResourceVersion() }

// Bookmark tells the store a version.
func (c *ExpirationCache) Bookmark(resourceVersion string) { c.entries.Bookmark(resourceVersion) }

// Resync does nothing.
func (c *ExpirationCache) Resync() error { return nil }

func (c *ExpirationCache) keyOf(obj any) (string, error) {
	key, err := c.keyFunc(obj)
	if err != nil {
		return "", KeyError{Obj: obj, Err: err}
	}
	return key, nil
}
