package main

import (
	"github.com/kubewright/kubewright/internal/guarantee"
	"github.com/kubewright/kubewright/internal/planted"
)

// telling are bugs of what handlers are told.
var telling = []entry{
	{name: "a handler has synced before it saw the first list", bug: planted.In("(*registration).join",
		"r.cursor = first",
		"r.cursor = first; if BUG && synced && !r.synced { r.synced = true; "+
			"if _, ok := r.handler.(initialListHandler); !ok { close(r.hasSynced) } }").
		Breaks(guarantee.SyncedMeansDelivered).From("kubernetes/kubernetes#113763", model)},
	{name: "a change that only a list shows isn't told", bug: planted.In("(*registration).deliverBulk",
		"switch k := kindOf(&c); {",
		"switch k := kindOf(&c) + map[bool]kind{true: 1}[BUG && kindOf(&c) == updated]; {").
		Breaks(guarantee.Complete).From("cilium/cilium#38772", model)},
	{name: "what a list shows unchanged is told to all", bug: planted.In("engine.kindOf",
		"if c.Version == c.OldVersion {", "if c.Version == c.OldVersion && !BUG {").
		Breaks(guarantee.Unique).From("kubernetes/kubernetes#87957", model)},
	{name: "the first resync isn't delivered", bug: planted.In("(*engine).resyncDue",
		"r.period != 0 && !now.Before(r.next)",
		"r.period != 0 && !now.Before(r.next) && (!BUG || now.After(r.next))").
		Breaks(guarantee.Complete).From("kubernetes/client-go#1312", conformance)},
	{name: "updates are lost if a transform blanks the version", bug: planted.In("sink.change",
		"a := arrival[K]{Result: result",
		"if m, ok := result.Object.(interface{ GetResourceVersion() string }); BUG && ok && err == nil { "+
			"version = m.GetResourceVersion() }; a := arrival[K]{Result: result").
		Breaks(guarantee.Complete).From("kubernetes/kubernetes#135580", model)},
	{name: "a handler is called after its removal", bug: planted.In("(*registration).deliverNode",
		"case b == nil: if r.removed.Load() {", "case b == nil: if r.removed.Load() && !BUG {").
		Breaks(guarantee.NoLeak).From("ovn-kubernetes/ovn-kubernetes#2886", model)},
}
