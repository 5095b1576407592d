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
	// ended means that what the reflector still reads doesn't count.
	ended bool

	// ranges only ever shrink.
	ranges shard.Ranges
	// floors are the versions up to which the sink shows some of the ranges already, beyond at.
	floors []floor
	// listing is set while a list is staged, listed once one was committed.
	listing, listed bool
	// since is the version of the last list, at the one up to which the sink was told everything.
	since, at string
	// request is the last list or watch that was sent.
	request request
}

// floor says that the sink shows some hashes at a version already.
type floor struct {
	ranges  shard.Ranges
	version string
}

// sees notes that an object has arrived, and reports whether it is the feed's. The caller holds the group's
// mu.
func (f *feed) sees(hash uint64) bool {
	f.request.brought(hash, &f.group.filtering)
	return f.ranges.Contains(hash)
}

// takes reports whether a change is the feed's to tell. The caller holds the group's mu.
func (f *feed) takes(obj any, version string) bool {
	hash, ok := f.group.look(obj)
	if !ok {
		return true // It is no API object; the sink says so.
	}
	if !f.sees(hash) {
		return false
	}
	for _, floor := range f.floors {
		// What has no version may be newer.
		if floor.ranges.Contains(hash) && version != "" && !isBefore(floor.version, version) {
			return false
		}
	}
	return true
}

// reached notes that the sink was told everything up to a version. The caller holds the group's mu.
func (f *feed) reached(version string) {
	if version == "" {
		return
	}
	f.at = version
	if f.group.mixed {
		f.floors = beyond(version, f.floors)
		f.group.changed()
	}
}

// beyond returns the floors that are later than a version.
func beyond(version string, floors []floor) (later []floor) {
	for _, floor := range floors {
		if isBefore(version, floor.version) {
			later = append(later, floor)
		}
	}
	return later
}

// joinTwo makes one feed of two, if there are two that may be joined. The caller holds the group's mu.
func (g *Group) joinTwo() bool {
	for i, a := range g.feeds {
		for _, b := range g.feeds[i+1:] {
			if g.joinable(a, b) {
				g.end(a)
				g.end(b)
				g.start(joined(a, b))
				return true
			}
		}
	}
	return false
}

// joinable reports whether a watch of both can resume where the one stands that is behind. Each must have
// passed the other's list, for else that may be long ago, and the server may have forgotten it; unless all
// watches bring everything, so that none is ever long behind.
//
// Where objects have no versions, nobody is joined. Those are fake clientsets: a deletion that comes while no
// watch is open is never sent.
func (g *Group) joinable(a, b *feed) bool {
	if g.versionless || !a.listed || !b.listed || a.listing || b.listing || !haveOrder(a.at, b.at) {
		return false
	}
	return g.filtering.watchesAreWhole() || !isBefore(a.at, b.since) && !isBefore(b.at, a.since)
}

// joined returns a feed that goes on for two that have ended.
func joined(a, b *feed) *feed {
	if isBefore(b.at, a.at) {
		a, b = b, a
	}
	f := &feed{group: a.group, ranges: a.ranges.Plus(b.ranges), listed: true, since: a.since, at: a.at}
	if isBefore(a.since, b.since) {
		f.since = b.since
	}
	f.floors = append(beyond(a.at, a.floors), beyond(a.at, b.floors)...)
	return f.withFloor(b.ranges, b.at)
}

// withFloor adds a floor, if it is beyond the feed's position.
func (f *feed) withFloor(ranges shard.Ranges, version string) *feed {
	f.floors = append(f.floors, beyond(f.at, []floor{{ranges, version}})...)
	return f
}

// look returns the hash of an object that has arrived, and notes if it has no version. The caller holds the
// group's mu.
func (g *Group) look(obj any) (hash uint64, ok bool) {
	m, err := meta.Accessor(obj)
	if err != nil {
		return 0, false
	}
	g.versionless = g.versionless || m.GetResourceVersion() == ""
	return g.options.Field.Hash(m), true
}

// isBefore reports whether version a is before b. Of versions without an order none is.
func isBefore(a, b string) bool {
	order, err := resourceversion.CompareResourceVersion(a, b)
	return err == nil && order < 0
}

func haveOrder(a, b string) bool {
	_, err := resourceversion.CompareResourceVersion(a, b)
	return err == nil
}
