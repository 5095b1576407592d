package feeds

import (
	"slices"
	"time"

	"github.com/kubewright/kubewright/runtime/internal/reflector"
	"github.com/kubewright/kubewright/runtime/shard"
)

// Status is the state of a group.
type Status struct {
	// Wanted are the ranges that were set, Held those of them whose objects are in the sink.
	Wanted, Held shard.Ranges
	// Feeds is how many lists or watches there are.
	Feeds int
	Filtering
	// Fatal is the error that has ended all reading, nil if there is none.
	Fatal error
}

// Status returns the state of the group.
func (g *Group) Status() Status {
	g.mu.Lock()
	defer g.mu.Unlock()
	return Status{Wanted: g.wanted, Held: g.held, Feeds: len(g.feeds), Filtering: g.filtering, Fatal: g.fatal}
}

// Health returns the health of all feeds together. Its state is that of a feed that doesn't watch, if there
// is one. Without ranges it is Idle.
func (g *Group) Health() reflector.Health {
	g.mu.Lock()
	defer g.mu.Unlock()
	h := g.past
	for _, f := range g.ending {
		h = merge(h, f.reflector.Health())
	}
	// Only those of feeds that run count.
	h.LastBookmark, h.ListingSince, h.Relisting = time.Time{}, time.Time{}, nil
	h.State = reflector.Idle
	if g.stopped || g.fatal != nil {
		h.State = reflector.Stopped
	}
	if g.fatal != nil {
		h.LastError = g.fatal
	}
	for i, f := range g.feeds {
		one := f.reflector.Health()
		h = merge(h, one)
		if i == 0 || h.State == reflector.Watching {
			h.State, h.Since = one.State, one.Since
		}
		if one.Failures > h.Failures {
			h.Failures, h.FailingSince = one.Failures, one.FailingSince
		}
	}
	return h
}

// merge returns a with the lists and watches, the last events and the last error of both.
func merge(a, b reflector.Health) reflector.Health {
	a.Lists, a.Watches = a.Lists+b.Lists, a.Watches+b.Watches
	if b.Synced.After(a.Synced) {
		a.Synced, a.ListTook, a.ListItems = b.Synced, b.ListTook, b.ListItems
	}
	if b.RelistedAt.After(a.RelistedAt) {
		a.Relisted, a.RelistedAt = b.Relisted, b.RelistedAt
	}
	// Not the lists of both together: each range that is added has a first list, which is no relist.
	if slices.CompareFunc(a.RecentLists[:], b.RecentLists[:], time.Time.Compare) < 0 {
		a.RecentLists, a.RelistingSince = b.RecentLists, b.RelistingSince
	}
	if a.ListingSince.IsZero() || !b.ListingSince.IsZero() && b.ListingSince.Before(a.ListingSince) {
		a.ListingSince, a.Relisting = b.ListingSince, b.Relisting
	}
	a.LastEvent, a.LastBookmark = later(a.LastEvent, b.LastEvent), later(a.LastBookmark, b.LastBookmark)
	if b.LastError != nil {
		a.LastError = b.LastError
	}
	return a
}

func later(a, b time.Time) time.Time {
	if a.After(b) {
		return a
	}
	return b
}
