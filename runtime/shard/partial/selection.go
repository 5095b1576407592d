package partial

import (
	"fmt"
	"sync"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubewright/kubewright/runtime/internal/engine"
	"github.com/kubewright/kubewright/runtime/internal/reflector"
	"github.com/kubewright/kubewright/runtime/internal/sources"
	"github.com/kubewright/kubewright/runtime/internal/transforms"
	"github.com/kubewright/kubewright/runtime/shard"
	"github.com/kubewright/kubewright/runtime/shard/partial/internal/feeds"
)

// selection is the [engine.Selection] of an informer with a [Part].
type selection struct {
	field shard.Field

	mu sync.Mutex
	// ranges are the ranges that were set before the start.
	ranges shard.Ranges
	// group is nil until the start.
	group *feeds.Group
}

func (s *selection) Reader(
	source sources.Source, sink engine.Sink, options reflector.Options,
) engine.Reader {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.group != nil { // The kind is optional, and comes or goes.
		s.ranges = s.group.Status().Wanted
	}
	s.group = feeds.New(source, sink, feeds.Options{Field: s.field, Reflector: options})
	_ = s.group.SetRanges(s.ranges) // It can't fail before the group runs.
	return s.group
}

// Transform returns a transform that returns an error if it changes the hash of an object.
func (s *selection) Transform(transform func(any) (any, error)) func(any) (any, error) {
	return func(obj any) (any, error) {
		before := feeds.HashOf(s.field, obj)
		transformed, err := transform(obj)
		if err == nil && !transforms.IsNil(transformed) && feeds.HashOf(s.field, transformed) != before {
			return nil, fmt.Errorf("the function changed the %s, by which the objects are sharded", s.field)
		}
		return transformed, err
	}
}

func (s *selection) Selects(obj metav1.Object) bool {
	return s.status().Wanted.Contains(s.field.Hash(obj))
}

func (s *selection) IsEmpty() bool { return len(s.status().Wanted) == 0 }

func (s *selection) setRanges(ranges shard.Ranges) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.group != nil {
		return s.group.SetRanges(ranges)
	}
	s.ranges = ranges
	return nil
}

func (s *selection) status() PartStatus {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.group == nil {
		return PartStatus{Wanted: s.ranges, Lists: string(feeds.Unknown), Watches: string(feeds.Unknown)}
	}
	g := s.group.Status()
	return PartStatus{
		Wanted: g.Wanted, Held: g.Held, Feeds: g.Feeds,
		Lists: string(g.Lists), Watches: string(g.Watches), Err: g.Fatal,
	}
}
