package feeds

import (
	"context"
	"slices"
	"sync"
	"time"

	"k8s.io/client-go/tools/cache"

	"github.com/kubewright/kubewright/runtime/internal/engine"
	"github.com/kubewright/kubewright/runtime/internal/reflector"
	"github.com/kubewright/kubewright/runtime/internal/sources"
	"github.com/kubewright/kubewright/runtime/shard"
)

// Options configure a group.
type Options struct {
	// Field is what is hashed.
	Field shard.Field
	// Reflector are the options of the feeds' reflectors.
	Reflector reflector.Options
}

// Group keeps a sink equal to the server's objects in some ranges. Call Run once. All methods are safe for
// concurrent use.
type Group struct {
	source  sources.Source
	sink    engine.Sink
	options Options
	// stub is a reflector that never runs, for ClientGoStub and the initial health.
	stub *reflector.Reflector
	// running counts the goroutines of feeds and resyncs.
	running sync.WaitGroup

	// mu is held while the sink is called. The sink takes its own locks under it.
	mu sync.Mutex
	// ctx is nil until Run.
	ctx     context.Context
	stopped bool
	// wanted are the ranges that were set, held those whose objects are in the sink. commits are the lists on
	// their way there.
	wanted, held shard.Ranges
	commits      []*commit
	feeds        []*feed
	// ending are the feeds that were ended, and still run: one may be ended by its own list, and counts it then.
	ending []*feed
	// complete is set once held has covered wanted.
	complete bool
	// mixed is set while changes come from several feeds. Then the sink is pinned, and version is its last
	// bookmark.
	mixed   bool
	version string
	// fatal is the error that has ended all reading.
	fatal     error
	filtering Filtering
	// versionless is set once an object without a version has arrived. Servers send none, but fake clientsets
	// do: their lists have versions, their objects and events don't.
	versionless bool
	// past is the health of the feeds that were ended and no longer run.
	past reflector.Health
}

// commit is a list that was passed to the sink, with those of its ranges that are still wanted.
type commit struct{ ranges shard.Ranges }

// New returns a group without ranges, which doesn't run yet.
func New(source sources.Source, sink engine.Sink, options Options) *Group {
	g := &Group{source: source, sink: sink, options: options}
	g.filtering = Filtering{Lists: Unknown, Watches: Unknown}
	g.stub = reflector.New(feedSource{Source: source}, nil, options.Reflector)
	g.past = g.stub.Health()
	return g
}

// SetRanges replaces the ranges. Objects outside of them leave the sink, and added ranges are listed. It
// returns at once, with an error if a fatal one has ended all reading.
func (g *Group) SetRanges(ranges shard.Ranges) error {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.fatal != nil {
		return g.fatal
	}
	added, removed := ranges.Minus(g.wanted), g.wanted.Minus(ranges)
	g.wanted = ranges
	if g.ctx == nil || g.stopped {
		return nil
	}
	if len(removed) > 0 {
		g.releaseRanges(removed)
	}
	if len(added) > 0 {
		g.startFeed(&feed{group: g, ranges: added})
	}
	g.updateSink()
	return nil
}

// releaseRanges gives ranges up. The caller holds mu.
func (g *Group) releaseRanges(removed shard.Ranges) {
	g.held = g.held.Minus(removed)
	for _, c := range g.commits {
		c.ranges = c.ranges.Minus(removed)
	}
	for _, f := range slices.Clone(g.feeds) {
		if f.ranges = f.ranges.Minus(removed); len(f.ranges) == 0 {
			g.endFeed(f)
		}
	}
	g.sink.Release(g.inRanges(g.wanted))
}

// Run reads until ctx is done, and returns when everything that it started has ended.
func (g *Group) Run(ctx context.Context) {
	g.startReading(ctx)
	<-ctx.Done()
	g.stopStarting()
	g.running.Wait()
}

// stopStarting keeps feeds from being started.
func (g *Group) stopStarting() {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.stopped = true
}

func (g *Group) startReading(ctx context.Context) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.ctx = ctx
	if len(g.wanted) > 0 {
		g.startFeed(&feed{group: g, ranges: g.wanted})
	}
	g.updateSink()
	if g.options.Reflector.ResyncPeriod > 0 {
		g.running.Go(g.resync)
	}
}

// startFeed starts a feed. The caller holds mu.
func (g *Group) startFeed(f *feed) {
	ctx, cancel := context.WithCancel(g.ctx)
	f.cancel = cancel
	options := g.options.Reflector
	options.ResyncPeriod = 0 // The group's, not each feed's.
	options.Consistent, options.From = true, f.at
	if newest := options.Newest; newest != nil {
		options.Newest = func() func() {
			wentBack := newest()
			return func() {
				if g.isOnly(f) {
					wentBack()
				}
			}
		}
	}
	f.reflector = reflector.New(feedSource{g.source, f}, feedSink{f}, options)
	g.feeds = append(g.feeds, f)
	g.running.Go(func() {
		f.reflector.Run(ctx)
		g.recordEnd(f)
	})
}

// recordEnd records that a feed no longer runs. The feeds of a group that was stopped didn't end, and stay.
func (g *Group) recordEnd(f *feed) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if f.ended {
		g.ending = slices.DeleteFunc(g.ending, func(other *feed) bool { return other == f })
		g.past = merge(g.past, f.reflector.Health())
	}
}

// isOnly reports whether no other feed than f reads. Only then what f has listed is all that the sink shows.
func (g *Group) isOnly(f *feed) bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	return len(g.feeds) == 1 && g.feeds[0] == f
}

// endFeed ends a feed. What it reads from now on is ignored. The caller holds mu.
func (g *Group) endFeed(f *feed) {
	f.ended = true
	f.cancel()
	g.feeds = slices.DeleteFunc(g.feeds, func(other *feed) bool { return other == f })
	g.ending = append(g.ending, f)
}

// updateSink joins feeds, and tells the sink what follows from a change of feeds, ranges or versions. The
// caller holds mu.
func (g *Group) updateSink() {
	for !g.stopped && g.joinTwo() {
	}
	if !g.complete && g.held.Covers(g.wanted) {
		g.complete = true
		g.sink.Complete()
	}
	mixed := len(g.feeds) > 1 ||
		slices.ContainsFunc(g.feeds, func(f *feed) bool { return len(f.watermarks) > 0 })
	if mixed && !g.mixed {
		g.mixed, g.version = true, ""
		g.sink.Pin(true)
	}
	if version := g.minVersion(); g.mixed && version != "" && version != g.version {
		g.version = version
		g.sink.Bookmark(version)
	}
	if g.mixed && !mixed {
		g.mixed = false
		g.sink.Pin(false)
	}
}

// minVersion returns the lowest version of the feeds that have listed, "" if none has. The caller holds mu.
func (g *Group) minVersion() (lowest string) {
	for _, f := range g.feeds {
		if f.listed && (lowest == "" || isBefore(f.at, lowest)) {
			lowest = f.at
		}
	}
	return lowest
}

// LastSyncResourceVersion returns the lowest version of the feeds that have listed, "" if none has.
func (g *Group) LastSyncResourceVersion() string {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.minVersion()
}

// ClientGoStub is [reflector.Reflector.ClientGoStub].
func (g *Group) ClientGoStub() *cache.Reflector { return g.stub.ClientGoStub() }

// recordStored records that a list is in the sink.
func (g *Group) recordStored(c *commit) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.held = g.held.Plus(c.ranges)
	g.commits = slices.DeleteFunc(g.commits, func(other *commit) bool { return other == c })
	g.updateSink()
}

// fail ends all feeds for good.
func (g *Group) fail(err error) {
	if !g.endAll(err) {
		return
	}
	options := g.options.Reflector
	if options.ErrorHandler != nil {
		options.ErrorHandler(g.ctx, err)
	} else {
		reflector.LogError(g.ctx, options.Name, options.TypeDescription, err)
	}
	if options.Failed != nil {
		options.Failed(err)
	}
}

// endAll ends all feeds and records a fatal error. It returns false if the group has failed or stopped
// before.
func (g *Group) endAll(err error) bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.fatal != nil || g.stopped {
		return false
	}
	for len(g.feeds) > 0 {
		g.endFeed(g.feeds[0])
	}
	g.fatal = err
	g.past.FailingSince, g.past.Failures = time.Now(), g.past.Failures+1
	return true
}

// resync calls the sink's Resync after each ResyncPeriod.
func (g *Group) resync() {
	options := g.options.Reflector
	ticker := time.NewTicker(options.ResyncPeriod)
	defer ticker.Stop()
	for {
		select {
		case <-g.ctx.Done():
			return
		case <-ticker.C:
		}
		if options.ShouldResync == nil || options.ShouldResync() {
			g.mu.Lock()
			g.sink.Resync()
			g.mu.Unlock()
		}
	}
}
