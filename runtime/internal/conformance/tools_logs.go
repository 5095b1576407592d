package conformance

import (
	"errors"
	"fmt"
	"slices"

	"k8s.io/client-go/tools/cache"
)

func (b *Bench) realFIFO(o cache.RealFIFOOptions) cache.QueueWithBatch {
	o.KeyFunction = keyOfNamed
	if !o.AtomicEvents && o.KnownObjects == nil {
		o.KnownObjects = b.known()
	}
	return b.Tools.RealFIFO(o)
}

// popBatch takes from a queue in batches.
func (b *Bench) popBatch(q cache.QueueWithBatch, n int) {
	for range n {
		err := q.PopBatch(func(deltas []cache.Delta, initial bool) error {
			b.Note("batch %s initial=%t", describeQueued(cache.Deltas(deltas)), initial)
			return nil
		}, func(obj any, initial bool) error {
			b.Note("single %s initial=%t", describeQueued(obj), initial)
			return nil
		})
		b.Note("%v; synced %t", err, q.HasSynced())
	}
}

// realFIFOs are what happens to queues of everything.
var realFIFOs = []ToolScenario{
	{Name: "RealFIFO: everything in order", Script: func(b *Bench) {
		q := b.realFIFO(cache.RealFIFOOptions{})
		b.check(q.Add(object("a", "1")))
		b.check(q.Add(object("b", "1")))
		b.check(q.Update(object("a", "2")))
		b.check(q.Delete(object("a", "3")))
		b.check(q.Delete(object("a", "3")))
		b.check(q.Delete(object("unknown", "3")))
		b.pop(q, 6)
	}},
	{Name: "RealFIFO: a list", Script: func(b *Bench) {
		q := b.realFIFO(cache.RealFIFOOptions{KnownObjects: b.known("a", "b", "k")})
		b.check(q.Update(object("a", "6")))
		b.check(q.Delete(object("b", "7")))
		b.check(q.Add(object("q", "5")))
		b.check(q.Replace(objects("x", "y"), "9"))
		b.sorted(q, 8)
	}},
	{Name: "RealFIFO: the first list", Script: func(b *Bench) {
		q := b.realFIFO(cache.RealFIFOOptions{})
		b.check(q.Replace(objects("a", "b"), "9"))
		b.check(q.Add(object("a", "2")))
		b.pop(q, 3)
	}},
	{Name: "RealFIFO: a list as one", Script: func(b *Bench) {
		q := b.realFIFO(cache.RealFIFOOptions{AtomicEvents: true})
		b.check(q.Replace(objects("a", "b"), "9"))
		b.check(q.Add(object("c", "1")))
		b.check(q.Replace(nil, "10"))
		b.pop(q, 3)
	}},
	{Name: "RealFIFO: a resync", Script: func(b *Bench) {
		q := b.realFIFO(cache.RealFIFOOptions{KnownObjects: b.known("a", "b")})
		b.check(q.Add(object("a", "2")))
		b.check(q.Resync())
		b.check(q.Resync())
		b.pop(q, 2)
	}},
	{Name: "RealFIFO: a resync as one", Script: func(b *Bench) {
		q := b.realFIFO(cache.RealFIFOOptions{AtomicEvents: true})
		b.check(q.Resync())
		b.Note("%t", q.HasSynced())
		b.check(q.Resync())
		b.pop(q, 2)
	}},
	{Name: "RealFIFO: bookmarks", Script: func(b *Bench) {
		for _, emit := range []bool{false, true} {
			q := b.realFIFO(cache.RealFIFOOptions{AtomicEvents: true, EmitDeltaTypeBookmark: emit})
			b.check(q.(cache.ReflectorBookmarkStore).Bookmark("7"))
			b.Note("%t", q.HasSynced())
			b.check(q.Add(object("a", "8")))
			q.Close()
			b.pop(q, 2)
		}
	}},
	{Name: "RealFIFO: objects without a key", Script: func(b *Bench) {
		q := b.realFIFO(cache.RealFIFOOptions{})
		b.Note("%s", kind(q.Add(object("bad", "1"))))
		b.Note("%s", kind(q.Delete(object("bad", "1"))))
		b.Note("%s", kind(q.Replace(objects("bad"), "1")))
		b.Note("%t", q.HasSynced())
	}},
	{Name: "RealFIFO: a transform", Script: func(b *Bench) {
		q := b.realFIFO(cache.RealFIFOOptions{AtomicEvents: true, Transformer: func(obj any) (any, error) {
			b.Note("transform %s", describe(obj))
			if describe(obj) == "no@1" {
				return nil, errBroken
			}
			return object("t", "1"), nil
		}})
		b.Note("%s", kind(q.Add(object("no", "1"))))
		b.Note("%t", q.Replace(objects("a", "no"), "9") != nil)
		b.check(q.Delete(cache.DeletedFinalStateUnknown{Key: "a", Obj: object("a", "1")}))
		b.check(q.Replace(objects("a"), "9"))
		b.pop(q, 2)
	}},
	{Name: "RealFIFO: a batch ends where an object comes again", Script: func(b *Bench) {
		q := b.realFIFO(cache.RealFIFOOptions{})
		for _, name := range []string{"a", "b", "a", "c", "d"} {
			b.check(q.Add(object(name, "1")))
		}
		b.popBatch(q, 2)
	}},
	{Name: "RealFIFO: a batch ends where the first list does", Script: func(b *Bench) {
		q := b.realFIFO(cache.RealFIFOOptions{})
		b.check(q.Replace(objects("a", "b"), "9"))
		b.check(q.Add(object("c", "1")))
		b.check(q.Add(object("d", "1")))
		b.popBatch(q, 2)
	}},
	{Name: "RealFIFO: what can't be part of a batch", Script: func(b *Bench) {
		q := b.realFIFO(cache.RealFIFOOptions{AtomicEvents: true, EmitDeltaTypeBookmark: true})
		b.check(q.Replace(objects("a", "b"), "9"))
		b.check(q.Add(object("c", "1")))
		b.check(q.Add(object("d", "1")))
		b.check(q.(cache.ReflectorBookmarkStore).Bookmark("7"))
		b.check(q.Add(object("e", "1")))
		b.check(q.Resync())
		q.Close()
		b.popBatch(q, 6)
	}},
	{Name: "RealFIFO: processing fails", Script: func(b *Bench) {
		q := b.realFIFO(cache.RealFIFOOptions{AtomicEvents: true, UnlockWhileProcessing: true})
		b.check(q.Replace(objects("a"), "9"))
		taken, err := q.Pop(func(any, bool) error {
			b.check(q.Add(object("b", "1"))) // The lock isn't held.
			return errBroken
		})
		b.Note("%s %s; synced %t", describeQueued(taken), kind(err), q.HasSynced())
		b.pop(q, 1)
	}},
	{Name: "RealFIFO: options that contradict each other", Script: func(b *Bench) {
		for _, o := range []cache.RealFIFOOptions{
			{}, {AtomicEvents: true, KnownObjects: b.known()}, {KnownObjects: b.known(), UnlockWhileProcessing: true},
			{KnownObjects: b.known(), EmitDeltaTypeBookmark: true}, {AtomicEvents: true},
		} {
			func() {
				defer func() { b.Note("panics %t", recover() != nil) }()
				b.Tools.RealFIFO(o)
			}()
		}
	}},
}

func (b *Bench) heap(names ...string) Heap {
	h := b.Tools.Heap(keyOfNamed, func(x, y any) bool { return describe(x) < describe(y) })
	for _, obj := range objects(names...) {
		b.check(h.Add(obj))
	}
	return h
}

// drain takes everything from a heap.
func (b *Bench) drain(h Heap) {
	h.Close()
	for {
		obj, err := h.Pop()
		if err != nil {
			b.Note("%v", err)
			return
		}
		b.Note("%s", describe(obj))
	}
}

// heaps are what happens to heaps.
var heaps = []ToolScenario{
	{Name: "Heap: the least comes first", Script: func(b *Bench) { b.drain(b.heap("c", "a", "d", "b")) }},
	{Name: "Heap: an object changes its place", Script: func(b *Bench) {
		h := b.Tools.Heap(keyOfNamed, func(x, y any) bool { return version(x) < version(y) })
		for i, name := range []string{"a", "b", "c"} {
			b.check(h.Add(object(name, fmt.Sprint(i+1))))
		}
		b.check(h.Update(object("c", "0")))
		b.check(h.Add(object("a", "9")))
		b.drain(h)
	}},
	{Name: "Heap: deletions", Script: func(b *Bench) {
		h := b.heap("a", "b", "c")
		b.check(h.Delete(object("b", "7")))
		b.Note("%v", h.Delete(object("b", "7")))
		b.Note("%s", kind(h.Delete(object("bad", "7"))))
		b.drain(h)
	}},
	{Name: "Heap: only what isn't there", Script: func(b *Bench) {
		h := b.heap("b")
		b.check(h.AddIfNotPresent(object("b", "0")))
		b.check(h.AddIfNotPresent(object("a", "0")))
		keys := h.ListKeys()
		slices.Sort(keys)
		obj, exists, err := h.GetByKey("b")
		b.Note("%v %d %s %t %v", keys, len(h.List()), describe(obj), exists, err)
		_, exists, err = h.Get(object("x", "0"))
		b.Note("%t %v", exists, err)
		_, exists, err = h.Get(object("bad", "0"))
		b.Note("%t %s", exists, kind(err))
		b.drain(h)
	}},
	{Name: "Heap: many at once", Script: func(b *Bench) {
		h := b.heap()
		b.Note("%s", kind(h.BulkAdd(objects("c", "a", "bad", "b"))))
		b.check(h.BulkAdd(objects("d", "c")))
		b.drain(h)
	}},
	{Name: "Heap: closed", Script: func(b *Bench) {
		h := b.heap("a")
		h.Close()
		b.Note("%t", h.IsClosed())
		b.Note("%v %v %v", h.Add(object("b", "1")), h.BulkAdd(objects("b")), h.AddIfNotPresent(object("b", "1")))
		b.Note("%v", errors.Is(h.Update(object("a", "2")), errNoKey))
		b.drain(h)
	}},
}

func version(obj any) string { return describe(obj)[2:] }
