package feeds

import (
	"k8s.io/apimachinery/pkg/watch"

	"github.com/kubewright/kubewright/runtime/internal/engine"
	"github.com/kubewright/kubewright/runtime/internal/reflector"
)

// feedSink passes what one feed reads on to the group's sink.
type feedSink struct{ *feed }

func (s feedSink) applyChange(t watch.EventType, obj any, version string) (err error) {
	g := s.group
	g.mu.Lock()
	hash, hasHash := g.hashObject(obj)
	takes := !s.ended && (!hasHash || s.sees(hash) && s.lacks(hash, version))
	g.mu.Unlock()
	var apply func(sameStream func(stored any) bool)
	if takes {
		apply, err = g.sink.Prepare(t, obj, version)
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	if s.ended {
		return nil
	}
	// The ranges and watermarks may have changed meanwhile.
	if apply != nil && (!hasHash || s.covers(hash) && s.lacks(hash, version)) {
		apply(g.streamOf(hash))
	}
	s.advanceTo(version)
	return err
}

func (s feedSink) Added(obj any, version string) error {
	return s.applyChange(watch.Added, obj, version)
}
func (s feedSink) Updated(obj any, version string) error {
	return s.applyChange(watch.Modified, obj, version)
}
func (s feedSink) Deleted(obj any, version string) error {
	return s.applyChange(watch.Deleted, obj, version)
}

func (s feedSink) Bookmark(version string) error {
	s.group.mu.Lock()
	defer s.group.mu.Unlock()
	if s.ended {
		return nil
	}
	// While the sink is mixed, advanceTo sends it bookmarks of the version that all feeds have passed.
	if !s.group.mixed {
		s.group.sink.Bookmark(version)
	}
	s.advanceTo(version)
	return nil
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
	staging engine.Staging
}

func (s *feedStaging) Add(obj any, version string) error {
	if !s.coversObject(obj) {
		return nil
	}
	return s.staging.Add(obj, version)
}

func (s *feedStaging) Update(obj any, version string) error {
	if !s.coversObject(obj) {
		return nil
	}
	return s.staging.Update(obj, version)
}

func (s *feedStaging) Remove(obj any) error {
	if !s.coversObject(obj) {
		return nil
	}
	return s.staging.Remove(obj)
}

func (s *feedStaging) coversObject(obj any) bool {
	s.group.mu.Lock()
	defer s.group.mu.Unlock()
	hash, ok := s.group.hashObject(obj)
	return !ok || s.sees(hash)
}

func (s *feedStaging) Commit(version string) error {
	g := s.group
	g.mu.Lock()
	defer g.mu.Unlock()
	s.listing = false
	if s.ended {
		s.staging.Discard()
		return errEnded // Else the list would count as visible.
	}
	s.listed, s.since, s.at, s.watermarks = true, version, version, nil
	c := &commit{s.ranges}
	g.commits = append(g.commits, c)
	s.staging.Commit(g.inRanges(s.ranges), g.minVersion(), func() { g.recordStored(c) })
	g.updateSink()
	return nil
}

func (s *feedStaging) Discard() {
	s.group.mu.Lock()
	defer s.group.mu.Unlock()
	s.listing = false
	s.staging.Discard()
}
