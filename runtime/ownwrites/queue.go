package ownwrites

import (
	"context"
	"sync/atomic"

	"k8s.io/client-go/util/workqueue"

	"github.com/kubewright/kubewright/runtime/queue"
)

// NewQueue returns a queue whose items wait until the informers of t show what was written in their
// contexts. Function Run of package workqueue passes the context of an item to reconcile; other workers call
// [queue.Queue.Context]. A Context of the Config gets the context of the item. NewQueue panics if the Config
// has a Gate.
func NewQueue[T comparable](t *Tracker, c queue.Config[T]) *queue.Queue[T] {
	g := &gate[T]{tracker: t, records: map[T]*keyed[T]{}}
	if c.Metrics != nil {
		g.unknown = c.Metrics.UnknownWrites
	}
	if c.Gate != nil {
		panic("ownwrites: the queue has a Config.Gate already")
	}
	c.Gate, c.Why = g.holds, g.why
	if t.SkipEchoes {
		c.Skip, c.Finish = g.skips, g.finish
	}
	inner := c.Context
	c.Context = func(ctx context.Context, item T) context.Context {
		t.use()
		g.begin(item)
		ctx = &itemContext[T]{Context: ctx, gate: g, item: item}
		if inner != nil {
			ctx = inner(ctx, item)
		}
		return ctx
	}
	g.queue = queue.New(c)
	return g.queue
}

// gate is a queue of a tracker.
type gate[T comparable] struct {
	tracker *Tracker
	queue   *queue.Queue[T]
	// records are guarded by the tracker's lock. waiting is their number, for a look without the lock.
	records map[T]*keyed[T]
	waiting atomic.Int64
	// most is the highest number of records since there was none.
	most int
	// unknown counts the runs that have lost an answer, unless it is nil.
	unknown workqueue.CounterMetric
}

// holds is the queue's Gate.
func (g *gate[T]) holds(item T) bool {
	if g.waiting.Load() == 0 {
		return false
	}
	g.tracker.mu.Lock()
	defer g.tracker.mu.Unlock()
	k := g.records[item]
	return k != nil && g.tracker.holds(&k.record)
}

// why is the queue's Why.
func (g *gate[T]) why(item T) string {
	g.tracker.mu.Lock()
	defer g.tracker.mu.Unlock()
	if k := g.records[item]; k != nil {
		return k.why()
	}
	return ""
}

// begin is called when a run of an item begins.
func (g *gate[T]) begin(item T) {
	if !g.tracker.SkipEchoes || g.waiting.Load() == 0 {
		return
	}
	g.tracker.mu.Lock()
	defer g.tracker.mu.Unlock()
	if k := g.records[item]; k != nil {
		k.echoes.begin()
	}
}

// skips is the queue's Skip.
func (g *gate[T]) skips(item T, old, changed any) bool {
	if g.waiting.Load() == 0 {
		return false
	}
	c, ok := changeOf(old, changed)
	if !ok {
		return false
	}
	g.tracker.mu.Lock()
	defer g.tracker.mu.Unlock()
	k := g.records[item]
	return k != nil && k.echoes.skips(c)
}

// finish is the queue's Finish.
func (g *gate[T]) finish(item T) {
	if g.waiting.Load() == 0 {
		return
	}
	g.tracker.mu.Lock()
	add := false
	if k := g.records[item]; k != nil {
		add = k.echoes.finish()
		k.forgetIfEmpty()
	}
	g.tracker.mu.Unlock()
	if add {
		g.queue.Add(item)
	}
}

// keyed is the record of an item.
type keyed[T comparable] struct {
	record
	gate *gate[T]
	item T
}

func (k *keyed[T]) of() *Tracker { return k.gate.tracker }

func (k *keyed[T]) release(cause string) bool {
	if cause != "" {
		return k.gate.queue.ReleaseLate(k.item, cause)
	}
	return k.gate.queue.Release(k.item)
}

func (k *keyed[T]) add() { k.gate.queue.Add(k.item) }

func (k *keyed[T]) forget() {
	if k.gate.records[k.item] == k {
		k.gate.forget(k.item)
	}
}

// keepRecords is the number of records up to which the map is kept: maps never shrink.
const keepRecords = 1024

func (g *gate[T]) forget(item T) {
	delete(g.records, item)
	if g.waiting.Add(-1) > 0 {
		return
	}
	if g.most > keepRecords {
		g.records = map[T]*keyed[T]{}
	}
	g.most = 0
}

// run is the processing of an item, from its context.
type run interface {
	of() *Tracker
	// record returns the record of the item, and makes one if there is none. It needs the tracker's lock.
	record() *record
	// loses notes that an answer was lost.
	loses()
	// isOver reports whether the processing has ended, end notes that. Both need the tracker's lock.
	isOver() bool
	end()
}

type runKey struct{}

// itemContext is the context of an item: one allocation with what a run needs.
type itemContext[T comparable] struct {
	context.Context
	gate *gate[T]
	item T
	lost atomic.Bool
	over bool
}

func (c *itemContext[T]) Value(key any) any {
	if _, ok := key.(runKey); ok {
		return c
	}
	return c.Context.Value(key)
}

func (c *itemContext[T]) of() *Tracker { return c.gate.tracker }

func (c *itemContext[T]) loses() {
	if c.lost.CompareAndSwap(false, true) && c.gate.unknown != nil {
		c.gate.unknown.Inc()
	}
}

func (c *itemContext[T]) isOver() bool { return c.over }
func (c *itemContext[T]) end()         { c.over = true }

func (c *itemContext[T]) record() *record {
	if k := c.gate.records[c.item]; k != nil {
		return &k.record
	}
	k := &keyed[T]{gate: c.gate, item: c.item}
	k.key = k
	c.gate.records[c.item] = k
	c.gate.waiting.Add(1)
	c.gate.most = max(c.gate.most, len(c.gate.records))
	return &k.record
}
