package engine

import (
	"context"
	"errors"
	"sync"

	"github.com/kubewright/kubewright/runtime/informer"
	"github.com/kubewright/kubewright/runtime/internal/feeds"
	"github.com/kubewright/kubewright/runtime/internal/reflector"
	"github.com/kubewright/kubewright/runtime/internal/sources"
	"github.com/kubewright/kubewright/runtime/shard"
)

var (
	errPart   = errors.New("the informer has a Part already")
	errNoPart = errors.New("the informer has no Part")
)

// part is the state behind an [informer.Part].
type part struct {
	field shard.Field
	mu    sync.Mutex
	// ranges are the ranges that were set before the start.
	ranges shard.Ranges
	// group is nil until the start.
	group *feeds.Group
}

// start makes the reader.
func (p *part) start(source sources.Source, sink feeds.Sink, options reflector.Options) reader {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.group = feeds.New(source, sink, feeds.Options{Field: p.field, Reflector: options})
	_ = p.group.SetRanges(p.ranges) // It can't fail before the group runs.
	return p.group
}

func (p *part) setRanges(ranges shard.Ranges) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.group != nil {
		return p.group.SetRanges(ranges)
	}
	p.ranges = ranges
	return nil
}

func (p *part) status() informer.PartStatus {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.group == nil {
		return informer.PartStatus{Wanted: p.ranges, Lists: string(feeds.Unknown), Watches: string(feeds.Unknown)}
	}
	s := p.group.Status()
	return informer.PartStatus{
		Wanted: s.Wanted, Held: s.Held, Feeds: s.Feeds,
		Lists: string(s.Lists), Watches: string(s.Watches), Err: s.Fatal,
	}
}

// isNothing reports whether there are no ranges. A nil part means all objects.
func (p *part) isNothing() bool { return p != nil && len(p.status().Wanted) == 0 }

func (s *shared[K]) MakePart(by shard.Field) error {
	i := s.core
	i.mu.Lock()
	defer i.mu.Unlock()
	switch {
	case i.started:
		return errStarted
	case i.part != nil:
		return errPart
	}
	i.part = &part{field: by}
	return nil
}

// The methods below are for the Part that MakePart has made.

func (s *shared[K]) SetRanges(ranges shard.Ranges) error {
	if s.core.part == nil {
		return errNoPart
	}
	return s.core.part.setRanges(ranges)
}

func (s *shared[K]) PartStatus() informer.PartStatus {
	if s.core.part == nil {
		return informer.PartStatus{Err: errNoPart}
	}
	return s.core.part.status()
}

func (s *shared[K]) WaitForRanges(ctx context.Context, ranges shard.Ranges) error {
	if s.core.part == nil {
		return errNoPart
	}
	return s.core.waitUntil(ctx, func() (bool, error) {
		status := s.core.part.status()
		return status.Held.Covers(ranges), status.Err
	})
}

func (s *shared[K]) EachNamespace(ctx context.Context, each func(namespace string)) error {
	source, ok := s.core.config.Source.(interface {
		Namespaces(context.Context, func(namespace string)) error
	})
	if !ok {
		return errors.New("the informer's source can't list metadata")
	}
	return source.Namespaces(ctx, each)
}
