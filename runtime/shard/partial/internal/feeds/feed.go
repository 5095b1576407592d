package feeds

import (
	"context"

	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/util/resourceversion"

	"github.com/kubewright/kubewright/runtime/internal/reflector"
	"github.com/kubewright/kubewright/runtime/shard"
)

// feed reads some ranges from a position on. The group's mu guards it.
type feed struct {
	group     *Group
	reflector *reflector.Reflector
	cancel    context.CancelFunc
	// ended means that what the reflector still reads is ignored.
	ended bool

	// ranges only ever shrink.
	ranges shard.Ranges
	// watermarks are the versions, later than at, that the sink already shows of some of the ranges.
	watermarks []watermark
	// listing is set while a list is staged, listed once one was committed.
	listing, listed bool
	// since is the version of the last list. at is the version up to which the sink has received everything.
	since, at string
	// request is the last list or watch that was sent.
	request request
}

// watermark means that the sink already shows some ranges at a version.
type watermark struct {
	ranges  shard.Ranges
	version string
}

// sees records that an object has arrived, and reports whether it is in the feed's ranges. The
// caller holds the group's mu.
func (f *feed) sees(hash uint64) bool {
	f.request.recordArrival(hash, &f.group.filtering)
	return f.covers(hash)
}

// covers reports whether a hash is in the feed's ranges. The caller holds the group's mu.
func (f *feed) covers(hash uint64) bool { return f.ranges.Contains(hash) }

// lacks reports whether the sink doesn't show a change yet. The caller holds the group's mu.
func (f *feed) lacks(hash uint64, version string) bool {
	for _, mark := range f.watermarks {
		// An object without a version may be newer.
		if mark.ranges.Contains(hash) && version != "" && !isBefore(mark.version, version) {
			return false
		}
	}
	return true
}

// advanceTo records that the sink has received everything up to a version. The caller holds the group's mu.
func (f *feed) advanceTo(version string) {
	if version == "" {
		return
	}
	f.at = version
	if f.group.mixed {
		f.watermarks = watermarksAfter(version, f.watermarks)
		f.group.updateSink()
	}
}

// watermarksAfter returns those of marks that are later than a version.
func watermarksAfter(version string, marks []watermark) (later []watermark) {
	for _, mark := range marks {
		if isBefore(version, mark.version) {
			later = append(later, mark)
		}
	}
	return later
}

// joinTwo joins two feeds, if any two may be joined. The caller holds the group's mu.
func (g *Group) joinTwo() bool {
	for i, a := range g.feeds {
		for _, b := range g.feeds[i+1:] {
			if g.canJoin(a, b) {
				g.endFeed(a)
				g.endFeed(b)
				g.startFeed(joinFeeds(a, b))
				return true
			}
		}
	}
	return false
}

// canJoin reports whether one watch of both can resume at the position of the feed that is behind. Each must
// have passed the version of the other's list. Otherwise that position may be so old that the server has
// forgotten it. If all watches deliver everything, no feed is ever far behind, so that isn't needed.
//
// Feeds whose objects have no versions can't be joined. They read fake clientsets, which never send a
// deletion that comes while no watch is open.
func (g *Group) canJoin(a, b *feed) bool {
	if g.versionless || !a.listed || !b.listed || a.listing || b.listing || !haveOrder(a.at, b.at) {
		return false
	}
	return g.filtering.watchesAreWhole() || !isBefore(a.at, b.since) && !isBefore(b.at, a.since)
}

// joinFeeds returns a feed that continues two feeds that have ended.
func joinFeeds(a, b *feed) *feed {
	if isBefore(b.at, a.at) {
		a, b = b, a
	}
	f := &feed{group: a.group, ranges: a.ranges.Plus(b.ranges), listed: true, since: a.since, at: a.at}
	if isBefore(a.since, b.since) {
		f.since = b.since
	}
	f.watermarks = append(watermarksAfter(a.at, a.watermarks), watermarksAfter(a.at, b.watermarks)...)
	return f.withWatermark(b.ranges, b.at)
}

// withWatermark adds a watermark, if it is later than the feed's position.
func (f *feed) withWatermark(ranges shard.Ranges, version string) *feed {
	f.watermarks = append(f.watermarks, watermarksAfter(f.at, []watermark{{ranges, version}})...)
	return f
}

// hashObject returns the hash of an object that has arrived, and records if it has no version. It returns
// false if that isn't an API object, for which the sink returns an error. The caller holds the group's mu.
func (g *Group) hashObject(obj any) (hash uint64, ok bool) {
	m, err := meta.Accessor(obj)
	if err != nil {
		return 0, false
	}
	g.versionless = g.versionless || m.GetResourceVersion() == ""
	return g.options.Field.Hash(m), true
}

// streamOf returns what reports whether a stored object has come from the stream of an object with a hash. It
// is nil while there is one stream. The caller holds the group's mu.
func (g *Group) streamOf(hash uint64) func(stored any) bool {
	if !g.mixed {
		return nil
	}
	return func(stored any) bool { return HashOf(g.options.Field, stored) == hash }
}

// inRanges returns what reports whether an object is in ranges.
func (g *Group) inRanges(ranges shard.Ranges) func(obj any) bool {
	return func(obj any) bool { return ranges.Contains(HashOf(g.options.Field, obj)) }
}

// HashOf returns the hash of an object, 0 if that is no API object.
func HashOf(by shard.Field, obj any) uint64 {
	m, err := meta.Accessor(obj)
	if err != nil {
		return 0
	}
	return by.Hash(m)
}

// isBefore reports whether version a is before b. It is false if they have no order.
func isBefore(a, b string) bool {
	order, err := resourceversion.CompareResourceVersion(a, b)
	return err == nil && order < 0
}

func haveOrder(a, b string) bool {
	_, err := resourceversion.CompareResourceVersion(a, b)
	return err == nil
}
