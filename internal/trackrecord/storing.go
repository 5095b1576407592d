package main

import (
	"github.com/kubewright/kubewright/internal/guarantee"
	"github.com/kubewright/kubewright/internal/planted"
)

// storing are bugs of the store and its indexes.
var storing = []entry{
	{name: "values of an index stay when nothing has them", bug: planted.In("(*index).removePosting",
		"if last == 0 {", "if last == 0 && !BUG {").
		Breaks(guarantee.BoundedMemory).From("kubernetes/kubernetes#84959", stores)},
	{name: "an object that gets a second value isn't found by the first",
		bug: planted.In("(*index).update",
			"x.unset(slot)",
			"if old := x.column.value(slot); BUG && old < severalValues && len(values) > 1 { "+
				"values = slices.DeleteFunc(slices.Clone(values), "+
															"func(value string) bool { return value == x.texts[old] }) }; x.unset(slot)").
			Breaks(guarantee.IndexEqualsScan).From("kubernetes/kubernetes#109115", stores), nightly: true},
	{name: "a deleted object stays in an index", bug: planted.In("(*generation).remove",
		"x.unset(slot)", "if !BUG || slot == uint32(g.pages.length-1) { x.unset(slot) }").
		Breaks(guarantee.IndexEqualsScan).From("kubernetes/kubernetes#43605", model)},
	{name: "reading the indexers races with adding one", bug: planted.In("(*Indexer).GetIndexers",
		"return maps.Clone(x.indexers)", "if BUG { return x.indexers }; return maps.Clone(x.indexers)").
		Breaks(guarantee.NoRace).From("kubernetes/kubernetes#133788", raced)},
}

// facade are bugs of the DeltaFIFO of package cache, which only users of that type meet: no informer of ours
// has it.
var facade = []entry{
	{name: "what was only queued when a list came stays", bug: planted.In("cache.(*DeltaFIFO).Replace",
		"for _, key := range queued {", "for _, key := range queued { if BUG { break }").
		Breaks(guarantee.Complete).From("kubernetes/kubernetes#115658", deltas)},
	{name: "what a list brings back isn't added if its deletion is queued",
		bug: planted.In("cache.(*DeltaFIFO).Replace",
			"for i, key := range keys {",
			"for i, key := range keys { "+
				"if d := f.items[key].Newest(); BUG && d != nil && d.Type == Deleted { continue }").
			Breaks(guarantee.Complete).From("kubernetes/kubernetes#83810", deltas)},
	{name: "a deletion is ignored while the addition is queued", bug: planted.In("cache.(*DeltaFIFO).change",
		"!queued && !f.knows(key)", "(BUG || !queued) && !f.knows(key)").
		Breaks(guarantee.Complete).From("kubernetes/kubernetes#27004", deltas)},
	{name: "a resync brings back what is being deleted", bug: planted.In("cache.(*DeltaFIFO).Resync",
		"!queued {", "!queued || BUG {").
		Breaks(guarantee.Complete).From("kubernetes/kubernetes#26082", deltas)},
	{name: "a list that has a key twice is never synced", bug: planted.In("cache.(*DeltaFIFO).Replace",
		"f.populate(len(listed))",
		"f.populate(len(listed) + map[bool]int{true: max(0, len(list)-len(listed))}[BUG])").
		Breaks(guarantee.SyncedMeansDelivered).From("kubernetes/kubernetes#96797", deltas)},
	{name: "synced before the deletions of the list were handed out",
		bug: planted.In("cache.(*DeltaFIFO).Replace",
			"queued := slices.Clone(f.keys[f.taken:])",
			"queued := slices.Clone(f.keys[f.taken:]); if BUG { f.populate(len(listed)) }").
			Breaks(guarantee.SyncedMeansDelivered).From("kubernetes/kubernetes#31755", deltas)},
}
