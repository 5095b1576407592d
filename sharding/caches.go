package sharding

import (
	"context"
	"fmt"
	"slices"

	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/client-go/tools/cache"

	"github.com/kubewright/kubewright/runtime/informer"
	"github.com/kubewright/kubewright/runtime/shard"
)

// caches are a member's informers. Their ranges follow the table and not the Lease, so that after an outage
// nothing is listed again. A range that another member may have owned in between is listed anew, as the cache
// may lack what that member wrote. The member's lock guards all but what add sets.
type caches struct {
	field     Field
	informers []cache.SharedInformer
	parts     []*informer.Part

	// target are the member's ranges by the last table, given what the informers were given last, and ready
	// those of target that they were given after they became the member's.
	target, given, ready shard.Ranges
	// worked are those of ready whose objects have been in the informers for JoinDelay: what there was to do
	// there is mostly done.
	worked shard.Ranges
	// foreign are the hashes that others may have owned since the informers were given ranges last. losses
	// counts how often ready has shrunk.
	foreign shard.Ranges
	losses  int
	// err is why an informer can't have ranges, nil if all can.
	err error
}

// add makes informers those of a part.
func (c *caches) add(field Field, informers []cache.SharedInformer) error {
	c.field, c.informers = field, informers
	for i, one := range informers {
		part, err := informer.Shard(one, field)
		if err != nil {
			return fmt.Errorf("sharding: Config.Informers[%d]: %w; with other caches set Config.Hashes", i, err)
		}
		c.parts = append(c.parts, part)
	}
	return nil
}

// follow notes the member's ranges by a new table, and those of them that it has kept since the last one. It
// needs the lock.
func (c *caches) follow(target, kept shard.Ranges) {
	foreign := shard.All().Minus(kept)
	if len(c.ready.And(foreign)) > 0 {
		c.losses++
	}
	c.target, c.ready, c.foreign = target, c.ready.And(kept), c.foreign.Plus(foreign)
	c.worked = c.worked.And(c.ready)
}

// inform gives the informers the ranges that the table gives the member.
func (m *Member) inform(ctx context.Context) {
	c := &m.caches
	if len(c.parts) == 0 {
		return
	}
	isDue := func() bool { return c.err == nil && !(c.given.Equal(c.target) && c.ready.Equal(c.target)) }
	for m.await(ctx, nil, isDue) {
		m.mu.Lock()
		target, ready := c.target, c.ready
		c.foreign = nil
		m.mu.Unlock()
		// First what is ready alone, so that the rest is listed anew.
		err := c.set(ready)
		if err == nil {
			err = c.set(target)
		}
		m.mu.Lock()
		c.given, c.ready = target, target.Minus(c.foreign)
		if c.err = err; err != nil {
			m.log.Error(err, "Sharding: the member begins no work", "group", m.config.Group,
				"member", m.config.Identity)
		}
		m.signal()
		m.mu.Unlock()
	}
}

// set doesn't need the lock: an informer may take a while to drop what it has.
func (c *caches) set(ranges shard.Ranges) error {
	for i, part := range c.parts {
		if err := part.SetRanges(ranges...); err != nil {
			return fmt.Errorf("sharding: Config.Informers[%d]: %w", i, err)
		}
	}
	return nil
}

// wait waits until the objects of ranges are in all informers.
func (c *caches) wait(ctx context.Context, ranges ...Range) error {
	for i, part := range c.parts {
		if err := part.WaitFor(ctx, ranges...); err != nil {
			return fmt.Errorf("sharding: Config.Informers[%d]: %w", i, err)
		}
	}
	return nil
}

// read reports whether the informers read objects. They don't before they start, without ranges, or when the
// server has refused them.
func (c *caches) read() bool {
	return len(c.parts) > 0 && !slices.ContainsFunc(c.parts, func(p *informer.Part) bool {
		status := p.Status()
		return status.Feeds == 0 || status.Err != nil
	})
}

// noteWorked notes when the objects of ranges have been in the informers for JoinDelay.
func (m *Member) noteWorked(ctx context.Context) {
	c := &m.caches
	var fresh shard.Ranges
	var losses int
	var changed <-chan struct{}
	isDue := func() bool {
		fresh, losses, changed = c.ready.Minus(c.worked), c.losses, m.changed
		return len(fresh) > 0
	}
	for m.await(ctx, nil, isDue) {
		if until(ctx, changed, func(ctx context.Context) error { return c.wait(ctx, fresh...) }) != nil {
			select {
			case <-changed:
			case <-ctx.Done():
			}
			continue
		}
		if !m.pause(ctx, m.config.JoinDelay) {
			return
		}
		m.mu.Lock()
		if c.losses == losses {
			c.worked = c.worked.Plus(fresh).And(c.ready)
			m.signal()
		}
		m.mu.Unlock()
	}
}

// hashes are those of the objects in a range, or false if they aren't all there.
func (c *caches) hashes(r Range) (found []uint64, known bool) {
	for _, part := range c.parts {
		if !part.Status().Held.Covers(shard.Join(r)) {
			return nil, false
		}
	}
	for _, one := range c.informers {
		for _, object := range one.GetStore().List() {
			accessor, err := meta.Accessor(object)
			if err != nil {
				return nil, false
			}
			if hash := c.field.Hash(accessor); r.Contains(hash) {
				found = append(found, hash)
			}
		}
	}
	return found, true
}
