package partial

import (
	"context"
	"errors"
	"fmt"

	"k8s.io/client-go/tools/cache"

	"github.com/kubewright/kubewright/runtime/informer"
	"github.com/kubewright/kubewright/runtime/internal/engine"
	"github.com/kubewright/kubewright/runtime/internal/sources"
	"github.com/kubewright/kubewright/runtime/internal/unwrap"
	"github.com/kubewright/kubewright/runtime/shard"
)

// Part controls which part of the objects an informer caches. All methods are safe for concurrent use.
//
// Objects whose hashes are in the ranges enter and leave the cache as with any informer. When ranges are
// added, their objects are listed, from the newest state, and become visible together; handlers receive
// additions. When ranges are removed, their objects leave the cache. Handlers receive no deletions, since
// nothing was deleted. If a handler has a method OnRelease(obj T), or OnRelease(obj any) for an untyped
// handler, it is called for each of these objects; a loop over [informer.Typed.Events] receives Released.
//
// Requests carry a selector of the ranges. Filtering takes a server of 1.36 or later with the feature gate
// ShardedListAndWatch. Other servers send all objects, and the informer drops those outside its ranges.
//
// While ranges are being added, the version of the cache, which [informer.WaitForVersion] waits for, is one
// that all ranges in the cache have reached. It may be lower than before.
type Part struct {
	selection selection
	informer  selectable
	source    sources.Source
}

// PartStatus is the state of a Part.
type PartStatus struct {
	// Wanted are the ranges that were set, Held the part of them whose objects are in the cache.
	Wanted, Held shard.Ranges
	// Feeds is how many lists or watches the informer has open. It is more than one for a while after ranges
	// were added. With fake clientsets, whose objects have no versions, it stays above one.
	Feeds int
	// Lists and Watches are "filtered" if the server filters them, "whole" if it doesn't, or "unknown".
	Lists, Watches string
	// Err is not nil if the server has refused the selector. The informer then stops reading.
	Err error
}

// selectable is an informer of this module.
type selectable interface {
	Select(engine.Selection) (sources.Source, error)
	WaitUntil(ctx context.Context, met func() (bool, error)) error
}

// Shard restricts i to a part of its objects: those whose hash of the field by is in the ranges of the
// returned Part. There are no ranges until SetRanges is called. An informer without ranges lists and watches
// nothing, and has synced as soon as it has started. Transform functions must keep the field: an object for
// which one changes it is an error.
//
// It returns an error if i has started or has a Part already, or if the server can't hash the field. The
// error is [informer.ErrUnsupportedInformer] if i is not an informer of this module.
func Shard(i cache.SharedInformer, by shard.Field) (*Part, error) {
	p := &Part{selection: selection{field: by}}
	if err := p.attach(i); err != nil {
		return nil, fmt.Errorf("shard %T: %w", i, err)
	}
	return p, nil
}

// attach makes p the part of an informer.
func (p *Part) attach(i cache.SharedInformer) (err error) {
	if unwrap.Innermost(i) == nil {
		return errors.New("the informer is nil")
	}
	core, ok := unwrap.As[selectable](i)
	if !ok {
		return informer.ErrUnsupportedInformer
	}
	if err := p.selection.field.Check(); err != nil {
		return err
	}
	p.informer = core
	p.source, err = core.Select(&p.selection)
	return err
}

// SetRanges replaces the ranges, at any time. It returns before the objects have entered or left the cache,
// see WaitFor. It returns an error if the server has refused the selector.
func (p *Part) SetRanges(ranges ...shard.Range) error {
	return p.selection.setRanges(shard.Join(ranges...))
}

// WaitFor waits until the objects of the ranges are in the cache. If ctx ends first, it returns the cause; if
// the informer stops first, [informer.ErrStopped]; and if the server refuses the selector, PartStatus.Err. If
// the ranges are removed, it keeps waiting.
func (p *Part) WaitFor(ctx context.Context, ranges ...shard.Range) error {
	wanted := shard.Join(ranges...)
	return p.informer.WaitUntil(ctx, func() (bool, error) {
		status := p.Status()
		return status.Held.Covers(wanted), status.Err
	})
}

// Status returns the state of the part.
func (p *Part) Status() PartStatus { return p.selection.status() }

// Namespaces counts the server's objects in each namespace, whatever the ranges, by one list of their
// metadata in pages of 500. The informer needn't run. If its lists aren't streamed (see package listwatch),
// this list has whole objects.
func (p *Part) Namespaces(ctx context.Context) (map[string]int, error) {
	source, ok := p.source.(interface {
		Namespaces(context.Context, func(namespace string)) error
	})
	if !ok {
		return nil, errors.New("the informer's source can't list metadata")
	}
	counts := map[string]int{}
	err := source.Namespaces(ctx, func(namespace string) { counts[namespace]++ })
	return counts, err
}
