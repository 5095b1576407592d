package engine

import (
	"errors"

	"k8s.io/apimachinery/pkg/watch"

	"github.com/kubewright/kubewright/runtime/internal/deltafifo"
	"github.com/kubewright/kubewright/runtime/internal/transforms"
)

var errSelection = errors.New("the informer caches a part of its objects already")

// selectionSink is the [Sink] of an informer. It queues everything but plain changes as functions, of type
// func(*writer[K]), that the writer calls.
type selectionSink[K comparable] struct{ sink[K] }

func (s selectionSink[K]) call(f func(*writer[K])) {
	s.queue.Call(f)
	s.metrics.queued(s.queue)
}

var deltaTypes = map[watch.EventType]deltafifo.DeltaType{
	watch.Added: deltafifo.Added, watch.Modified: deltafifo.Updated, watch.Deleted: deltafifo.Deleted,
}

func (s selectionSink[K]) Prepare(
	t watch.EventType, obj any, version string,
) (apply func(sameStream func(stored any) bool), err error) {
	if _, err := s.key(obj); err != nil {
		return nil, err
	}
	result, err := s.transformAndKey(obj)
	a := arrival[K]{Result: result, deleted: t == watch.Deleted, missed: err != nil, version: version}
	if err != nil && !a.deleted {
		return nil, err
	}
	return func(sameStream func(stored any) bool) {
		if sameStream != nil {
			s.call(func(w *writer[K]) { w.applyFromStream(a, sameStream) })
		} else {
			s.put(deltaTypes[t], a)
		}
	}, err
}

func (s selectionSink[K]) Bookmark(version string) { s.queue.Bookmark(version) }

func (s selectionSink[K]) Resync() { _ = s.sink.Resync() } // It never fails.

func (s selectionSink[K]) Pin(pinned bool) {
	s.call(func(w *writer[K]) { w.informer.store.Pin(pinned) })
}

func (s selectionSink[K]) Release(kept func(stored any) bool) {
	s.call(func(w *writer[K]) {
		w.release(kept)
		w.announceVersion() // Perhaps nothing is selected any more, and nothing was stored.
	})
}

func (s selectionSink[K]) Complete() {
	s.call(func(w *writer[K]) { w.step(w.markSynced) })
}

func (s selectionSink[K]) Begin() Staging {
	return selectionStaging[K]{&staging[K]{sink: s.sink, list: transforms.NewList(s.store)}}
}

type selectionStaging[K comparable] struct{ *staging[K] }

func (s selectionStaging[K]) Commit(in func(obj any) bool, version string, stored func()) {
	selectionSink[K]{s.sink}.call(func(w *writer[K]) {
		w.replace(s.list, version, in)
		stored()
		w.announceVersion()
	})
}
