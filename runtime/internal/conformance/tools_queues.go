package conformance

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"k8s.io/client-go/tools/cache"

	"github.com/kubewright/kubewright/internal/guarantee"
)

// describeQueued formats what a queue returns.
func describeQueued(obj any) string {
	switch obj := obj.(type) {
	case cache.Deltas:
		list := make([]string, len(obj))
		for i, d := range obj {
			list[i] = string(d.Type) + " " + describeQueued(d.Object)
		}
		return "[" + strings.Join(list, ", ") + "]"
	case cache.ReplacedAllInfo:
		list := make([]string, len(obj.Objects))
		for i, o := range obj.Objects {
			list[i] = describe(o)
		}
		return fmt.Sprintf("%v at %s", list, obj.ResourceVersion)
	}
	return describe(obj)
}

// pop pops n items from a queue.
func (b *Bench) pop(q cache.Queue, n int) {
	for range n {
		taken, err := q.Pop(func(obj any, initial bool) error {
			b.Note("process %s initial=%t", describeQueued(obj), initial)
			return nil
		})
		b.Note("pop %s %v; synced %t", describeQueued(taken), err, q.HasSynced())
	}
}

// kind returns the kind of an error.
func kind(err error) string {
	var key cache.KeyError
	return fmt.Sprintf("%t, a key's %t, ours %t", err != nil, errors.As(err, &key),
		errors.Is(err, errNoKey) || errors.Is(err, errBroken))
}

// known returns a store of what a queue's consumer knows.
func (b *Bench) known(names ...string) cache.Indexer {
	known := cache.NewIndexer(keyOfNamed, cache.Indexers{})
	for _, obj := range objects(names...) {
		b.check(known.Add(obj))
	}
	return known
}

func (b *Bench) check(err error) {
	if err != nil {
		b.T.Error(err)
	}
}

func (b *Bench) deltaFIFO(known cache.KeyListerGetter) cache.Queue {
	return b.Tools.DeltaFIFO(cache.DeltaFIFOOptions{KeyFunction: keyOfNamed, KnownObjects: known,
		EmitDeltaTypeReplaced: true})
}

// sorted pops everything from a queue and records it sorted, since missed deletions come in the random order
// of a map.
func (b *Bench) sorted(q cache.Queue, n int) {
	var list []string
	for range n {
		_, err := q.Pop(func(obj any, initial bool) error {
			list = append(list, fmt.Sprintf("%s %t", describeQueued(obj), initial))
			return nil
		})
		b.check(err)
	}
	slices.Sort(list)
	b.Note("%s; synced %t", strings.Join(list, "\n"), q.HasSynced())
}

// deltaFIFOs are scenarios of queues of deltas by key.
var deltaFIFOs = []ToolScenario{
	{Name: "DeltaFIFO: all that happened to an object", Guarantee: guarantee.Ordered, Script: func(b *Bench) {
		q := b.deltaFIFO(nil)
		b.check(q.Add(object("a", "1")))
		b.check(q.Add(object("b", "1")))
		b.check(q.Update(object("a", "2")))
		b.check(q.Delete(object("a", "3")))
		b.check(q.Add(object("a", "4")))
		b.pop(q, 2)
	}},
	{Name: "DeltaFIFO: two deletions", Guarantee: guarantee.Unique, Script: func(b *Bench) {
		for _, second := range []any{
			object("a", "3"), cache.DeletedFinalStateUnknown{Key: "a", Obj: object("a", "1")},
		} {
			for _, swapped := range []bool{false, true} {
				q := b.deltaFIFO(nil)
				first := any(object("a", "2"))
				if swapped {
					first, second = second, first
				}
				b.check(q.Add(object("a", "1")))
				b.check(q.Delete(first))
				b.check(q.Delete(second))
				b.pop(q, 1)
			}
		}
	}},
	{Name: "DeltaFIFO: the deletion of what nobody knows", Guarantee: guarantee.Complete,
		Script: func(b *Bench) {
			q := b.deltaFIFO(b.known("a"))
			b.check(q.Delete(object("x", "1")))
			b.check(q.Delete(object("a", "1")))
			b.check(q.Add(object("c", "1")))
			b.pop(q, 2)
		}},
	{Name: "DeltaFIFO: the first list", Guarantee: guarantee.SyncedMeansDelivered, Script: func(b *Bench) {
		q := b.deltaFIFO(nil)
		b.Note("%t", q.HasSynced())
		b.check(q.Replace(objects("a", "b"), "9"))
		b.Note("%t", q.HasSynced())
		b.check(q.Add(object("c", "1")))
		b.pop(q, 3)
	}},
	{Name: "DeltaFIFO: an empty first list", Guarantee: guarantee.SyncedMeansDelivered, Script: func(b *Bench) {
		q := b.deltaFIFO(nil)
		b.check(q.Replace(nil, "9"))
		b.Note("%t %t", q.HasSynced(), cache.IsDone(q.HasSyncedChecker()))
		b.check(q.Add(object("a", "1")))
		b.pop(q, 1)
	}},
	{Name: "DeltaFIFO: a change before the first list", Guarantee: guarantee.SyncedMeansDelivered,
		Script: func(b *Bench) {
			q := b.deltaFIFO(nil)
			b.check(q.Add(object("a", "1")))
			b.Note("%t", q.HasSynced())
			b.check(q.Replace(objects("a", "b"), "9"))
			b.pop(q, 2)
		}},
	{Name: "DeltaFIFO: a list without what is known and what is queued", Guarantee: guarantee.Complete,
		Script: func(b *Bench) {
			q := b.deltaFIFO(b.known("a", "b", "k"))
			b.check(q.Add(object("q", "5")))
			b.check(q.Update(object("a", "6")))
			b.check(q.Delete(object("b", "7")))
			b.check(q.Replace(objects("x"), "9"))
			b.sorted(q, 5)
		}},
	{Name: "DeltaFIFO: lists of old", Guarantee: guarantee.Complete, Script: func(b *Bench) {
		q := b.Tools.DeltaFIFO(cache.DeltaFIFOOptions{KeyFunction: keyOfNamed})
		b.check(q.Replace(objects("a"), "9"))
		b.check(q.Update(object("a", "2")))
		b.pop(q, 1)
	}},
	{Name: "DeltaFIFO: a resync", Guarantee: guarantee.Complete, Script: func(b *Bench) {
		q := b.deltaFIFO(b.known("a", "b"))
		b.check(q.Add(object("a", "2")))
		b.check(q.Resync())
		b.check(q.Resync())
		b.pop(q, 2)
		q = b.deltaFIFO(nil)
		b.check(q.Resync())
		b.Note("%t", q.HasSynced())
	}},
	{Name: "DeltaFIFO: a resync before the first list", Guarantee: guarantee.Complete, Script: func(b *Bench) {
		q := b.deltaFIFO(b.known("a"))
		b.check(q.Resync())
		b.Note("%t", q.HasSynced())
		b.check(q.Replace(objects("a", "b"), "9"))
		b.pop(q, 2)
	}},
	{Name: "DeltaFIFO: objects without a key", Guarantee: guarantee.Complete, Script: func(b *Bench) {
		q := b.deltaFIFO(nil)
		b.Note("%s", kind(q.Add(object("bad", "1"))))
		b.Note("%s", kind(q.Update(object("bad", "1"))))
		b.Note("%s", kind(q.Delete(object("bad", "1"))))
		b.Note("%s", kind(q.Replace(objects("bad"), "9")))
		b.Note("%t", q.HasSynced())
	}},
	{Name: "DeltaFIFO: a list that is refused", Guarantee: guarantee.Complete, Script: func(b *Bench) {
		q := b.deltaFIFO(nil)
		b.Note("%s", kind(q.Replace(objects("a", "bad", "c"), "9")))
		q.Close()
		b.pop(q, 1)
	}, Differs: "client-go queues what came before the object that is refused"},
	{Name: "DeltaFIFO: a transform", Guarantee: guarantee.Complete, Script: func(b *Bench) {
		q := b.Tools.DeltaFIFO(cache.DeltaFIFOOptions{KeyFunction: keyOfNamed, KnownObjects: b.known("k"),
			Transformer: func(obj any) (any, error) {
				b.Note("transform %s", describe(obj))
				if strings.HasPrefix(describe(obj), "no@") {
					return nil, errBroken
				}
				return object("t", "1"), nil
			}})
		b.check(q.Add(object("a", "1")))
		b.Note("%s", kind(q.Add(object("no", "1"))))
		b.check(q.Delete(cache.DeletedFinalStateUnknown{Key: "k", Obj: object("k", "1")}))
		b.check(q.Replace(objects("a"), "9"))
		b.pop(q, 2)
		b.check(q.Resync())
		b.pop(q, 1)
	}},
	{Name: "DeltaFIFO: closed", Guarantee: guarantee.NoneLost, Script: func(b *Bench) {
		q := b.deltaFIFO(nil)
		b.check(q.Add(object("a", "1")))
		b.Note("%t", q.(interface{ IsClosed() bool }).IsClosed())
		q.Close()
		b.Note("%t", q.(interface{ IsClosed() bool }).IsClosed())
		b.check(q.Add(object("b", "1")))
		b.pop(q, 3)
	}},
	{Name: "DeltaFIFO: processing fails", Guarantee: guarantee.Complete, Script: func(b *Bench) {
		q := b.deltaFIFO(nil)
		b.check(q.Replace(objects("a", "b"), "9"))
		taken, err := q.Pop(func(any, bool) error { return errBroken })
		b.Note("%s %s; synced %t", describeQueued(taken), kind(err), q.HasSynced())
		b.pop(q, 1)
	}},
	{Name: "DeltaFIFO: waiting for something", Guarantee: guarantee.NoneLost, Script: func(b *Bench) {
		q := b.deltaFIFO(nil)
		go b.pop(q, 2)
		b.check(q.Add(object("a", "1")))
		q.Close()
	}},
}
