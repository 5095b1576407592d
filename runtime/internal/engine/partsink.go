package engine

import (
	"fmt"

	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/watch"

	"github.com/kubewright/kubewright/runtime/internal/deltafifo"
	"github.com/kubewright/kubewright/runtime/internal/feeds"
	"github.com/kubewright/kubewright/runtime/internal/transforms"
	"github.com/kubewright/kubewright/runtime/shard"
)

// partSink is the sink of an informer with a Part. It queues everything but plain changes as functions, of
// type func(*writer[K]), that the writer calls.
type partSink[K comparable] struct {
	sink[K]
	field shard.Field
	// mixed is set while changes come from several streams. The lock of the feeds.Group guards it.
	mixed *bool
}

// newPartSink returns a sink whose transform returns an error if it changes the hash of an object.
func newPartSink[K comparable](s sink[K], field shard.Field) partSink[K] {
	p := partSink[K]{s, field, new(bool)}
	if transform := s.transform; transform != nil {
		p.transform = func(from K, obj any) (transforms.Result[K], error) {
			before := p.hash(obj)
			result, err := transform(from, obj)
			if err == nil && result.Object != nil && p.hash(result.Object) != before {
				err = fmt.Errorf("transform %v: the function changed the %s, by which the objects are sharded",
					from, field)
				result.Key, result.Object = from, nil
			}
			return result, err
		}
	}
	return p
}

func (s partSink[K]) hash(obj any) uint64 {
	m, err := meta.Accessor(obj)
	if err != nil {
		return 0
	}
	return s.field.Hash(m)
}

func (s partSink[K]) call(f func(*writer[K])) {
	s.queue.Call(f)
	s.metrics.queued(s.queue)
}

var deltaTypes = map[watch.EventType]deltafifo.DeltaType{
	watch.Added: deltafifo.Added, watch.Modified: deltafifo.Updated, watch.Deleted: deltafifo.Deleted,
}

func (s partSink[K]) Prepare(t watch.EventType, obj any, version string) (apply func(), err error) {
	if _, err := s.key(obj); err != nil {
		return nil, err
	}
	hash := s.hash(obj)
	result, err := s.accept(obj)
	a := arrival[K]{Result: result, deleted: t == watch.Deleted, missed: err != nil, version: version}
	if err != nil && !a.deleted {
		return nil, err
	}
	return func() {
		if *s.mixed {
			s.call(func(w *writer[K]) { w.arriveMixed(a, hash, s.hash) })
		} else {
			s.put(deltaTypes[t], a)
		}
	}, err
}

func (s partSink[K]) Mixed(mixed bool) {
	*s.mixed = mixed
	s.call(func(w *writer[K]) { w.informer.store.Pin(mixed) })
}

func (s partSink[K]) Released(kept shard.Ranges) {
	s.call(func(w *writer[K]) { w.release(func(obj any) bool { return kept.Contains(s.hash(obj)) }) })
}

func (s partSink[K]) Complete() { s.call((*writer[K]).complete) }

func (s partSink[K]) Begin() feeds.Staging {
	return partStaging[K]{staging: &staging[K]{sink: s.sink, list: transforms.NewList(s.store)}, sink: s}
}

// partStaging collects a list of some ranges.
type partStaging[K comparable] struct {
	*staging[K]
	sink partSink[K]
}

func (s partStaging[K]) Commit(part shard.Ranges, version string, stored func()) {
	s.sink.call(func(w *writer[K]) {
		w.replacePart(s.list, func(obj any) bool { return part.Contains(s.sink.hash(obj)) }, version)
		stored()
		w.announceVersion()
	})
}
