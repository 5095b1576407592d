package feeds

import (
	"k8s.io/apimachinery/pkg/watch"

	"github.com/kubewright/kubewright/runtime/internal/reflector"
	"github.com/kubewright/kubewright/runtime/shard"
)

// Sink receives what a group reads, one call at a time. No call may block.
type Sink interface {
	// Prepare takes a change of an object: Added, Modified or Deleted. It is called without the group's lock,
	// because it transforms the object. What it returns applies the change, and is nil if there is nothing to
	// apply.
	Prepare(t watch.EventType, obj any, resourceVersion string) (apply func(), err error)
	// Bookmark reports that everything up to resourceVersion was delivered.
	Bookmark(resourceVersion string) error
	// Resync asks the sink to deliver all its objects again.
	Resync() error
	// Begin stages a list of some ranges. Several may be staged at a time.
	Begin() Staging
	// Mixed with true announces that the changes that follow come from several streams. Then only bookmarks
	// have the version of the collection, changes don't. Mixed with false ends that.
	Mixed(bool)
	// Released removes the objects outside of the kept ranges. That isn't a deletion.
	Released(kept shard.Ranges)
	// Complete announces, once, that the sink has all objects of the ranges that were set.
	Complete()
}

// Staging collects a list of some ranges.
type Staging interface {
	Add(obj any, resourceVersion string) error
	Update(obj any, resourceVersion string) error
	Remove(obj any) error
	// Commit replaces the sink's objects in some ranges by the staged ones; staged objects outside of these
	// ranges are dropped. version is that of the collection, over all ranges. stored is called when the objects
	// are in the sink.
	Commit(part shard.Ranges, version string, stored func())
	Discard()
}

// feedSink passes what one feed reads on to the group's sink.
type feedSink struct{ *feed }

func (s feedSink) change(t watch.EventType, obj any, version string) (err error) {
	g := s.group
	g.mu.Lock()
	hash, hasHash := g.look(obj)
	takes := !s.ended && (!hasHash || s.sees(hash) && s.lacks(hash, version))
	g.mu.Unlock()
	var apply func()
	if takes {
		apply, err = g.sink.Prepare(t, obj, version)
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	if s.ended {
		return nil
	}
	// The ranges and floors may have changed meanwhile.
	if apply != nil && (!hasHash || s.covers(hash) && s.lacks(hash, version)) {
		apply()
	}
	s.reached(version)
	return err
}

func (s feedSink) Added(obj any, version string) error { return s.change(watch.Added, obj, version) }
func (s feedSink) Updated(obj any, version string) error {
	return s.change(watch.Modified, obj, version)
}
func (s feedSink) Deleted(obj any, version string) error {
	return s.change(watch.Deleted, obj, version)
}

func (s feedSink) Bookmark(version string) error {
	s.group.mu.Lock()
	defer s.group.mu.Unlock()
	if s.ended {
		return nil
	}
	// While the sink is mixed, reached sends it bookmarks of the version that all feeds have passed.
	var err error
	if !s.group.mixed {
		err = s.group.sink.Bookmark(version)
	}
	s.reached(version)
	return err
}

// Resync isn't called: the group resyncs the sink.
func (s feedSink) Resync() error { return nil }

func (s feedSink) Begin() reflector.Staging {
	s.group.mu.Lock()
	defer s.group.mu.Unlock()
	s.listing = true
	return &feedStaging{feed: s.feed, staging: s.group.sink.Begin()}
}

// feedStaging stages the objects of the feed's ranges.
type feedStaging struct {
	*feed
	staging Staging
}

func (s *feedStaging) Add(obj any, version string) error {
	if !s.has(obj) {
		return nil
	}
	return s.staging.Add(obj, version)
}

func (s *feedStaging) Update(obj any, version string) error {
	if !s.has(obj) {
		return nil
	}
	return s.staging.Update(obj, version)
}

func (s *feedStaging) Remove(obj any) error {
	if !s.has(obj) {
		return nil
	}
	return s.staging.Remove(obj)
}

func (s *feedStaging) has(obj any) bool {
	s.group.mu.Lock()
	defer s.group.mu.Unlock()
	hash, ok := s.group.look(obj)
	return !ok || s.sees(hash)
}

func (s *feedStaging) Commit(version string) error {
	g := s.group
	g.mu.Lock()
	defer g.mu.Unlock()
	s.listing = false
	if s.ended {
		s.staging.Discard()
		return nil
	}
	s.listed, s.since, s.at, s.floors = true, version, version, nil
	c := &commit{s.ranges}
	g.commits = append(g.commits, c)
	s.staging.Commit(s.ranges, g.least(), func() { g.stored(c) })
	g.changed()
	return nil
}

func (s *feedStaging) Discard() {
	s.group.mu.Lock()
	defer s.group.mu.Unlock()
	s.listing = false
	s.staging.Discard()
}
