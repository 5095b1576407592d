package main

import (
	"github.com/kubewright/kubewright/internal/guarantee"
	"github.com/kubewright/kubewright/internal/planted"
)

// reading are bugs of how lists and watches are read.
var reading = []entry{
	{name: "a list from a server that is behind goes back in time", bug: planted.In("(*position).forList",
		`case p.version == "" && !p.consistent:`, `case BUG || p.version == "" && !p.consistent:`).
		Breaks(guarantee.NoTimeTravel, guarantee.Ordered).From("kubernetes/kubernetes#59848", lab)},
	{name: "a version that the server hasn't reached is asked for again, for ever",
		bug: planted.In("isVersionUnavailable",
			"isExpired(err) || isTooLarge(err)", "isExpired(err) || isTooLarge(err) && !BUG").
			Breaks(guarantee.Converging).From("kubernetes/kubernetes#107133", lab)},
	{name: "further pages are asked for with a version, which servers refuse",
		bug: planted.In("(*stagedList).list",
			`opts.ResourceVersion, opts.Continue = "", meta.Continue`,
			`if opts.Continue = meta.Continue; !BUG { opts.ResourceVersion = "" }`).
			Breaks(guarantee.Converging).From("kubernetes/kubernetes#85272", model), nightly: true},
	{name: "an event of an unknown type is passed over", bug: planted.In("(*Events).decode",
		"if isEventType(e.event.Type) {", "if BUG || isEventType(e.event.Type) {").
		Breaks(guarantee.Converging, guarantee.Told).From("kubernetes/kubernetes#128867", lab)},
	{name: "a deletion without an object is passed over", bug: planted.In("(*Events).body",
		"var c Cached",
		"if text := d.data[d.pos:]; BUG && e.event.Type == watch.Deleted && len(text) > 4 && "+
			"string(text[:4]) == \"null\" { return d.skip() }; var c Cached").
		And("(*watchStream).read",
			"raw, err := s.body.events.Next()",
			"raw, err := s.body.events.Next(); "+
				"for BUG && err == nil && raw.Object == nil && raw.Type == watch.Deleted { "+
				"raw, err = s.body.events.Next() }").
		Breaks(guarantee.Converging, guarantee.Told).From("kubernetes/kubernetes#76624", lab)},
	{name: "a watch that is refused with 429 is asked for again at once",
		bug: planted.In("watching.opened",
			"return nil, r.retry(ctx, err, watching{})",
			"if BUG { return nil, watching{} }; return nil, r.retry(ctx, err, watching{})").
			Breaks(guarantee.BoundedLoad).From("kubernetes/kubernetes#100878", lab), nightly: true},
	{name: "a watch that is closed as soon as it is open is opened again at once",
		bug: planted.In("watching.step",
			"return s.ended(ctx, r, tried, idle, err)",
			"if short := (*cache.VeryShortWatchError)(nil); BUG && (err == nil || errors.As(err, &short)) { "+
				"return watching{} }; return s.ended(ctx, r, tried, idle, err)").
			Breaks(guarantee.BoundedLoad).From("kubernetes/kubernetes#137089", lab)},
	{name: "a timeout of the client makes a watch a list", bug: planted.In("(*watchStream).ends",
		"utilnet.IsTimeout(err)", "!BUG && utilnet.IsTimeout(err)").
		Breaks(guarantee.Resumable).From("kubernetes/kubernetes#89652", lab)},
	{name: "a watch-list without an end is waited for, for ever", bug: planted.In("(*watchList).read",
		"func() { cancel(errNoEndBookmark) }", "func() { if !BUG { cancel(errNoEndBookmark) } }").
		Breaks(guarantee.Converging, guarantee.Told).From("kubernetes/kubernetes#140890", lab)},
	{name: "a dead connection looks quiet", bug: planted.In("startIdleTimeout",
		"s.ended.Store(true)", "if BUG { return }; s.ended.Store(true)").
		Breaks(guarantee.Converging).From("kubernetes/client-go#374", lab), nightly: true},
	{name: "a stop waits for the end of a back-off", bug: planted.In("(*Reflector).pause",
		"sleep(ctx, max(", "if BUG { ctx = context.WithoutCancel(ctx) }; sleep(ctx, max(").
		Breaks(guarantee.NoLeak).From("kubernetes/kubernetes#116435", lab)},
}
