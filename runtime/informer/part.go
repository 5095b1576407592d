package informer

import (
	"context"
	"errors"
	"fmt"
	"sync"

	"k8s.io/client-go/tools/cache"

	"github.com/kubewright/kubewright/runtime/internal/feeds"
	"github.com/kubewright/kubewright/runtime/internal/reflector"
	"github.com/kubewright/kubewright/runtime/internal/shell"
	"github.com/kubewright/kubewright/runtime/internal/sources"
	"github.com/kubewright/kubewright/runtime/shard"
)

// Part says which part of its objects an informer caches. All methods are safe for concurrent use.
//
// Objects whose hashes are in the ranges come into the cache and leave it as with any informer. When ranges
// are added, their objects are listed, from the newest state, and become visible together; handlers hear of
// them as additions. When ranges are taken away, their objects leave the cache, and handlers don't hear of
// that as deletions: nothing was deleted. A handler that has a method OnRelease(obj T), or OnRelease(obj any)
// if it isn't typed, hears of it there; a loop over [Core.Events] receives Released.
//
// Requests carry a selector of the ranges. Servers that don't filter by it (it takes 1.36 or later, and the
// feature gate ShardedListAndWatch) send all objects; the informer drops what isn't in its ranges.
//
// While ranges are being added, the version of the cache, which [WaitForVersion] waits for, is one that all
// ranges have passed whose objects are there. It may be lower than before.
type Part struct{ core partial }

// PartStatus is the state of a Part.
type PartStatus struct {
	// Wanted are the ranges that were set, Held those of them whose objects are in the cache.
	Wanted, Held shard.Ranges
	// Feeds is how many lists or watches the informer has at the server. It is more than one for a while
	// after ranges were added, and for good with fake clientsets, whose objects have no versions.
	Feeds int
	// Lists and Watches say whether the server filters them: "filtered", "whole" or "unknown".
	Lists, Watches string
	// Err is not nil if the server has refused the selector. The informer then reads nothing more.
	Err error
}

// partial is an informer that can have a Part.
type partial interface {
	makePart(shard.Field) error
	setRanges(shard.Ranges) error
	partStatus() PartStatus
	waitForRanges(context.Context, shard.Ranges) error
}

var errPart = errors.New("it is an informer of a part already")

// Shard makes i an informer of a part of its objects: those whose hashes of a field are in some ranges, at
// first none. Without ranges it lists and watches nothing, and has synced when it has started. With
// [shard.ByUID], transform functions must keep the UID.
//
// It returns an error if i has started or has a Part already, or if the server can't hash the field. The
// error is [ErrUnsupportedInformer] if i is not an informer of this package.
func Shard(i cache.SharedInformer, by shard.Field) (*Part, error) {
	core, ok := shell.As[partial](i)
	if !ok {
		return nil, fmt.Errorf("shard %T: %w", i, unsupported(i))
	}
	err := by.Check()
	if err == nil {
		err = core.makePart(by)
	}
	if err != nil {
		return nil, fmt.Errorf("shard %T: %w", i, err)
	}
	return &Part{core}, nil
}

// SetRanges replaces the ranges, at any time. It returns before the objects are there or have left; see
// WaitFor. It returns an error if the server has refused the selector.
func (p *Part) SetRanges(ranges ...shard.Range) error { return p.core.setRanges(shard.Join(ranges...)) }

// WaitFor waits until the objects of some ranges are in the cache. It returns the cause of ctx's end if that
// comes first, [ErrStopped] if the informer stops, and the error of the status if the server refuses the
// selector. If the ranges are taken away it goes on waiting.
func (p *Part) WaitFor(ctx context.Context, ranges ...shard.Range) error {
	return p.core.waitForRanges(ctx, shard.Join(ranges...))
}

// Status returns the state of the part.
func (p *Part) Status() PartStatus { return p.core.partStatus() }

// part is what an informer of a part has.
type part struct {
	field shard.Field
	mu    sync.Mutex
	// ranges are those that were set before the start.
	ranges shard.Ranges
	// group is nil until the start.
	group *feeds.Group
}

// start makes the reader.
func (p *part) start(source sources.Source, sink feeds.Sink, options reflector.Options) reader {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.group = feeds.New(source, sink, feeds.Options{Field: p.field, Reflector: options})
	_ = p.group.SetRanges(p.ranges) // It hasn't failed yet.
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

func (p *part) status() PartStatus {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.group == nil {
		return PartStatus{Wanted: p.ranges, Lists: string(feeds.Unknown), Watches: string(feeds.Unknown)}
	}
	s := p.group.Status()
	return PartStatus{
		Wanted: s.Wanted, Held: s.Held, Feeds: s.Feeds,
		Lists: string(s.Lists), Watches: string(s.Watches), Err: s.Fatal,
	}
}

// isNothing reports whether no objects are wanted. A part that is nil is all objects.
func (p *part) isNothing() bool { return p != nil && len(p.status().Wanted) == 0 }

func (s *shared[K]) makePart(by shard.Field) error {
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

func (s *shared[K]) setRanges(ranges shard.Ranges) error { return s.core.part.setRanges(ranges) }

func (s *shared[K]) partStatus() PartStatus { return s.core.part.status() }

func (s *shared[K]) waitForRanges(ctx context.Context, ranges shard.Ranges) error {
	return s.core.waitUntil(ctx, func() (bool, error) {
		status := s.core.part.status()
		return status.Held.Covers(ranges), status.Err
	})
}
