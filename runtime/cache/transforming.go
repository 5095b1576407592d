package cache

import (
	"errors"

	"github.com/kubewright/kubewright/runtime/internal/indexer"
	"github.com/kubewright/kubewright/runtime/internal/reflector"
	"github.com/kubewright/kubewright/runtime/internal/store"
	"github.com/kubewright/kubewright/runtime/internal/transforms"
)

// transformingQueue is the queue of an informer with a transform. It transforms objects before it queues
// them. A change of an object that isn't stored under the server's key, or not at all, is queued as a
// transformed.
type transformingQueue struct {
	*RealFIFO
	transform transforms.Func[string]
}

// transformed is what a transform made of the object of an event.
type transformed struct {
	transforms.Result[string]
	// missed is set if the transform failed for the last state of a deleted object.
	missed bool
	// version is the version of the server's object.
	version string
}

func newTransformingQueue(options RealFIFOOptions, transform TransformFunc) *transformingQueue {
	options.KeyFunction = keyOfQueued
	return &transformingQueue{NewRealFIFOWithOptions(options),
		transforms.Func[string]{Key: DeletionHandlingMetaNamespaceKeyFunc, Transform: transform}}
}

// keyOfQueued returns the key of an object in the queue, "" for the names of a list.
func keyOfQueued(obj any) (string, error) {
	switch obj := obj.(type) {
	case transformed:
		return obj.Key, nil
	case *transforms.Names[string]:
		return "", nil
	}
	return MetaNamespaceKeyFunc(obj)
}

func (q *transformingQueue) Add(obj any) error    { return q.change(q.RealFIFO.Add, obj) }
func (q *transformingQueue) Update(obj any) error { return q.change(q.RealFIFO.Update, obj) }

func (q *transformingQueue) change(queue func(any) error, obj any) error {
	t, err := q.apply(obj)
	switch {
	case err != nil:
		return err
	case t.Object == nil:
		return q.RealFIFO.Delete(t)
	}
	return queue(t.queued())
}

// Delete queues a deletion even if the transform fails: it needs only the key.
func (q *transformingQueue) Delete(obj any) error {
	t, err := q.apply(obj)
	if _, unnamed := errors.AsType[KeyError](err); unnamed {
		return err
	}
	t.missed = err != nil
	return errors.Join(q.RealFIFO.Delete(t.queued()), err)
}

// apply transforms the object of an event. Its error is a KeyError if the object has no key.
func (q *transformingQueue) apply(obj any) (transformed, error) {
	from, err := q.transform.Key(obj)
	if err != nil {
		return transformed{}, KeyError{Obj: obj, Err: err}
	}
	version := indexer.VersionOf(obj)
	result, err := q.transform.Apply(from, obj)
	return transformed{Result: result, version: version}, err
}

// queued returns what is queued: the object alone if it has the server's key.
func (t transformed) queued() any {
	if t.Object != nil && t.Key == t.From {
		return t.Object
	}
	return t
}

// Begin stages a list.
func (q *transformingQueue) Begin() reflector.Staging {
	return &transformingStaging{queue: q, list: transforms.NewList(store.New[string]())}
}

// transformingStaging transforms a list while it is read.
type transformingStaging struct {
	queue *transformingQueue
	list  *transforms.List[string]
}

func (s *transformingStaging) Add(obj any, version string) error { return s.Update(obj, version) }

func (s *transformingStaging) Update(obj any, version string) error {
	t, err := s.queue.apply(obj)
	if err == nil {
		s.list.Put(t.Result, version)
	}
	return withoutObject(err)
}

func (s *transformingStaging) Remove(obj any) error {
	key, err := s.queue.transform.Key(obj)
	if err != nil {
		return withoutObject(KeyError{Obj: obj, Err: err})
	}
	s.list.Remove(key)
	return nil
}

// Commit queues the names of the objects, then the objects.
func (s *transformingStaging) Commit(resourceVersion string) error {
	items := make([]any, 0, 1+s.list.Len())
	items = append(items, &s.list.Names)
	s.list.Each(func(_ string, obj any, _ string) { items = append(items, obj) })
	return s.queue.RealFIFO.Replace(items, resourceVersion)
}

func (s *transformingStaging) Discard() {}

// applyNamed applies a change of an object that has the server's key, while others have not.
func (p *plainInformer) applyNamed(d Delta, isInInitialList bool) error {
	key, err := DeletionHandlingMetaNamespaceKeyFunc(d.Object)
	if err != nil {
		return KeyError{Obj: d.Object, Err: err}
	}
	if tombstone, ok := d.Object.(DeletedFinalStateUnknown); ok {
		p.names.ForgetStored(map[string]bool{key: true})
		if t, ok := tombstone.Obj.(transformed); ok {
			tombstone.Obj = t.Object
		}
		return p.remove(tombstone)
	}
	return p.applyTransformed(d.Type == Deleted, transformed{
		Result:  transforms.Result[string]{From: key, Key: key, Object: d.Object},
		version: indexer.VersionOf(d.Object),
	}, isInInitialList)
}

// applyTransformed applies an event of an object that may be stored under another key than the server's, or
// not be cached.
func (p *plainInformer) applyTransformed(deleted bool, t transformed, isInInitialList bool) error {
	if deleted || t.Object == nil {
		return p.deleteTransformed(t)
	}
	if old, moved := p.names.Put(t.From, t.Key, p.state.ListKeys); moved {
		if err := p.drop(old, false); err != nil {
			return err
		}
	}
	return p.update(t.Object, isInInitialList)
}

// deleteTransformed deletes an object. The handler gets its final state only if that has the key under which
// the object is stored.
func (p *plainInformer) deleteTransformed(t transformed) error {
	key, stored := p.names.Of(t.From)
	if !p.names.Changed() {
		_, stored, _ = p.state.GetByKey(key)
	}
	p.names.Forget(t.From)
	defer func() {
		if t.version != "" {
			p.state.Bookmark(t.version)
		}
	}()
	switch {
	case stored && (t.Object == nil || key != t.Key):
		return p.drop(key, t.missed)
	case t.Object != nil:
		return p.remove(t.Object)
	}
	return nil
}

// drop deletes what is stored under a key. If the deletion was missed, the handler gets a tombstone.
func (p *plainInformer) drop(key string, missed bool) error {
	obj, stored, err := p.state.GetByKey(key)
	if err != nil || !stored {
		return err
	}
	tombstone := DeletedFinalStateUnknown{Key: key, Obj: obj}
	// Without a version, since the object's own is older than the store's.
	if err := p.state.Delete(DeletedFinalStateUnknown{Key: key}); err != nil {
		return err
	}
	if missed {
		p.handler.OnDelete(tombstone)
	} else {
		p.handler.OnDelete(obj)
	}
	return nil
}
