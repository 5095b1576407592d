package sharding

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/client-go/tools/cache"

	"github.com/kubewright/kubewright/runtime/shard"
	"github.com/kubewright/kubewright/runtime/shard/partial"
)

// caches are a member's informers. Their ranges follow the table and not the Lease, so that after an outage
// nothing is listed again. A range that another member may have owned in between is listed anew, as the cache
// may lack what that member wrote. The member's lock guards all fields but those that addInformers sets.
type caches struct {
	field     shard.Field
	informers []cache.SharedInformer
	parts     []*partial.Part

	// target are the member's ranges by the last table, given those that the informers got last, and ready
	// those of target that the informers got after the table had assigned them to the member.
	target, given, ready shard.Ranges
	// worked are those of ready whose objects have been in the informers for JoinDelay, while the member might
	// act: most work there is done by then. coming are the others.
	worked shard.Ranges
	coming []*arrival
	// foreign are the hashes that others may have owned since the informers last got ranges. losses counts how
	// often ready has shrunk.
	foreign shard.Ranges
	losses  int
	// err is why an informer can't have ranges, nil if all can.
	err error
}

// arrival are ranges that the informers got together, without those that the member has lost since.
type arrival struct{ ranges shard.Ranges }

// addInformers makes the informers informers of a part.
func (c *caches) addInformers(field shard.Field, informers []cache.SharedInformer) error {
	c.field, c.informers = field, informers
	for i, one := range informers {
		part, err := partial.Shard(one, field)
		if err != nil {
			return fmt.Errorf("sharding: Config.Informers[%d]: %w; with other caches set Config.Hashes", i, err)
		}
		c.parts = append(c.parts, part)
	}
	return nil
}

// setTarget records the member's ranges by a new table, and those of them that it has kept since the last
// one. The caller holds mu.
func (c *caches) setTarget(target, kept shard.Ranges) {
	foreign := shard.All().Minus(kept)
	if len(c.ready.And(foreign)) > 0 {
		c.losses++
	}
	c.target, c.ready, c.foreign = target, c.ready.And(kept), c.foreign.Plus(foreign)
	c.worked = c.worked.And(c.ready)
	for _, a := range c.coming {
		a.ranges = a.ranges.And(c.ready)
	}
}

// updateInformers passes the ranges that the table assigns to the member on to the informers.
func (m *Member) updateInformers(ctx context.Context) {
	c := &m.caches
	if len(c.parts) == 0 {
		return
	}
	var noting sync.WaitGroup
	defer noting.Wait()
	isDue := func() bool { return c.err == nil && !(c.given.Equal(c.target) && c.ready.Equal(c.target)) }
	for m.await(ctx, nil, isDue) {
		m.mu.Lock()
		target, ready := c.target, c.ready
		c.foreign = nil
		m.mu.Unlock()
		// First only what is ready, so that the informers drop the rest and list it anew.
		err := c.setRanges(ready)
		if err == nil {
			err = c.setRanges(target)
		}
		m.mu.Lock()
		c.given, c.ready = target, target.Minus(c.foreign)
		if fresh := c.ready.Minus(ready); len(fresh) > 0 {
			a := &arrival{fresh}
			c.coming = append(c.coming, a)
			noting.Go(func() { m.noteWorked(ctx, a) })
		}
		if c.err = err; err != nil {
			m.log.Error(err, "Sharding: the member begins no work", "group", m.config.Group,
				"member", m.config.Identity)
		}
		m.signal()
		m.mu.Unlock()
	}
}

// setRanges is called without the lock, because an informer may take a while to drop what it has.
func (c *caches) setRanges(ranges shard.Ranges) error {
	for i, part := range c.parts {
		if err := part.SetRanges(ranges...); err != nil {
			return fmt.Errorf("sharding: Config.Informers[%d]: %w", i, err)
		}
	}
	return nil
}

// waitFor waits until the objects of ranges are in all informers.
func (c *caches) waitFor(ctx context.Context, ranges ...shard.Range) error {
	for i, part := range c.parts {
		if err := part.WaitFor(ctx, ranges...); err != nil {
			return fmt.Errorf("sharding: Config.Informers[%d]: %w", i, err)
		}
	}
	return nil
}

// noteWorked adds ranges to worked once their objects have been in the informers for JoinDelay, or if an
// informer reads nothing any more because of an error.
func (m *Member) noteWorked(ctx context.Context, a *arrival) {
	c := &m.caches
	err := errChanged
	for errors.Is(err, errChanged) {
		m.mu.Lock()
		ranges, changed := a.ranges, m.changed
		m.mu.Unlock()
		err = callUntilChanged(ctx, changed, func(ctx context.Context) error { return c.waitFor(ctx, ranges...) })
	}
	if ctx.Err() != nil || err == nil && !m.actsFor(ctx, m.config.JoinDelay) {
		return
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	c.worked = c.worked.Plus(a.ranges)
	c.coming = slices.DeleteFunc(c.coming, func(other *arrival) bool { return other == a })
	m.signal()
}

// actsFor waits until the member has been able to act for d without an interruption. It reports whether ctx
// is still running.
func (m *Member) actsFor(ctx context.Context, d time.Duration) bool {
	for {
		var hold int
		if !m.await(ctx, nil, func() bool { hold = m.hold; return m.acts() }) {
			return false
		}
		interrupted := func() bool { return !m.acts() || m.hold != hold }
		if !m.await(ctx, m.config.clock.after(d), interrupted) {
			return false
		}
		m.mu.Lock()
		held := !interrupted()
		m.mu.Unlock()
		if held {
			return true
		}
	}
}

// hashes returns those of the objects in a range, or false if the informers don't have all of them.
func (c *caches) hashes(r shard.Range) (found []uint64, known bool) {
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
