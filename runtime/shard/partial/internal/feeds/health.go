package feeds

import (
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
	h.State = reflector.Idle
	if g.stopped || g.fatal != nil {
		h.State = reflector.Stopped
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
	h.ResourceVersion = g.minVersion()
	return h
}

// merge returns a with the last events and the last error of both.
func merge(a, b reflector.Health) reflector.Health {
	a.Synced = later(a.Synced, b.Synced)
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
