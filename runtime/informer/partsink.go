package informer

import (
	"errors"

	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/watch"

	"github.com/kubewright/kubewright/runtime/internal/deltafifo"
	"github.com/kubewright/kubewright/runtime/internal/feeds"
	"github.com/kubewright/kubewright/runtime/internal/store"
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

var errUIDLost = errors.New("the transform function changed the UID, by which the objects are sharded")

// accept is sink.accept, and returns an error if the transform changed the hash of the object.
func (s partSink[K]) accept(obj any) (key K, accepted any, err error) {
	before := s.hash(obj)
	key, accepted, err = s.sink.accept(obj)
	if err == nil && s.field == shard.ByUID && s.hash(accepted) != before {
		err = errUIDLost
	}
	return key, accepted, err
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

func (s partSink[K]) Change(t watch.EventType, obj any, version string) error {
	key, obj, err := s.accept(obj)
	if err != nil {
		return err
	}
	if !*s.mixed {
		s.queue.Append(deltaTypes[t], key, obj, version)
		s.metrics.queued(s.queue)
		return nil
	}
	c := store.Change[K]{Type: store.Updated, Key: key, Object: obj, Version: version}
	if t == watch.Deleted {
		c.Type = store.Deleted
	}
	s.call(func(w *writer[K]) { w.changeMixed(c, s.hash) })
	return nil
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
	return partStaging[K]{sink: s, staged: s.store.Begin()}
}

// partStaging collects a list of some ranges.
type partStaging[K comparable] struct {
	sink   partSink[K]
	staged *store.Replacement[K]
}

func (s partStaging[K]) Add(obj any, version string) error {
	key, obj, err := s.sink.accept(obj)
	if err == nil {
		s.staged.Set(key, obj, version)
	}
	return err
}

func (s partStaging[K]) Remove(obj any) error {
	key, err := s.sink.key(obj)
	if err == nil {
		s.staged.Delete(key)
	}
	return err
}

func (s partStaging[K]) Commit(part shard.Ranges, version string, stored func()) {
	s.sink.call(func(w *writer[K]) {
		w.replacePart(s.staged, func(obj any) bool { return part.Contains(s.sink.hash(obj)) }, version)
		stored()
		w.announceVersion()
	})
}

func (s partStaging[K]) Discard() { s.staged.Discard() }
