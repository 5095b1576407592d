package cache

import (
	"errors"
	"fmt"
	"maps"
	"time"

	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/features"

	"github.com/kubewright/kubewright/runtime/internal/transforms"
)

// NewInformer is [NewInformerWithOptions] with the options that most informers need.
//
// Deprecated: use NewInformerWithOptions.
func NewInformer(
	lw ListerWatcher, objType runtime.Object, resyncPeriod time.Duration, h ResourceEventHandler,
) (Store, Controller) {
	return NewTransformingIndexerInformer(lw, objType, resyncPeriod, h, nil, nil)
}

// NewIndexerInformer is [NewInformer] with indexes.
//
// Deprecated: use NewInformerWithOptions.
func NewIndexerInformer(
	lw ListerWatcher, objType runtime.Object, resyncPeriod time.Duration, h ResourceEventHandler,
	indexers Indexers,
) (Indexer, Controller) {
	return NewTransformingIndexerInformer(lw, objType, resyncPeriod, h, indexers, nil)
}

// NewTransformingInformer is [NewInformer] with a transform.
//
// Deprecated: use NewInformerWithOptions.
func NewTransformingInformer(
	lw ListerWatcher, objType runtime.Object, resyncPeriod time.Duration, h ResourceEventHandler,
	transformer TransformFunc,
) (Store, Controller) {
	return NewTransformingIndexerInformer(lw, objType, resyncPeriod, h, nil, transformer)
}

// NewTransformingIndexerInformer is [NewInformer] with indexes and a transform.
//
// Deprecated: use NewInformerWithOptions.
func NewTransformingIndexerInformer(
	lw ListerWatcher, objType runtime.Object, resyncPeriod time.Duration, h ResourceEventHandler,
	indexers Indexers, transformer TransformFunc,
) (Indexer, Controller) {
	return newInformer(InformerOptions{
		ListerWatcher: lw, ObjectType: objType, ResyncPeriod: resyncPeriod, Handler: h,
		Indexers: indexers, Transform: transformer,
	})
}

// NewInformerWithOptions returns a store and a controller. The controller keeps the store equal to the listed
// and watched objects, and calls the handler for each change of the store, including updates that changed
// nothing. The store is an [Indexer]; only the controller may write to it. The calls come from one goroutine,
// one at a time: a slow handler delays the store. A shared informer can have several handlers, none of which
// delays its store.
func NewInformerWithOptions(options InformerOptions) (Store, Controller) { return newInformer(options) }

func newInformer(options InformerOptions) (Indexer, Controller) {
	state := NewIndexer(DeletionHandlingMetaNamespaceKeyFunc, options.Indexers,
		WithStoreMetrics(options.Identifier, options.InformerMetricsProvider))
	p := &plainInformer{state: state, handler: options.Handler}
	return state, New(&Config{
		Queue:            p.queue(options),
		ListerWatcher:    options.ListerWatcher,
		ObjectType:       options.ObjectType,
		FullResyncPeriod: options.ResyncPeriod,
		MinWatchTimeout:  options.MinWatchTimeout,
		Process:          p.process,
	})
}

// plainInformer applies queued deltas to a store and calls one handler.
type plainInformer struct {
	state   Indexer
	handler ResourceEventHandler
	// names are those of the objects in the state, if there is a transform.
	names transforms.Names[string]
}

// queue returns the queue between the reflector and the store. client-go's feature gates decide whether a
// list is one event in it, or one for each of its objects.
func (p *plainInformer) queue(options InformerOptions) Queue {
	o := RealFIFOOptions{
		Logger:          options.Logger,
		Name:            fmt.Sprintf("RealFIFO %T", options.ObjectType),
		Identifier:      options.Identifier,
		MetricsProvider: options.InformerMetricsProvider,
	}
	gates := features.FeatureGates()
	if gates.Enabled(features.AtomicFIFO) {
		o.AtomicEvents = true
		o.EmitDeltaTypeBookmark = true
		o.UnlockWhileProcessing = gates.Enabled(features.UnlockWhileProcessingFIFO)
	} else {
		o.KnownObjects = p.state
	}
	if options.Transform != nil {
		return newTransformingQueue(o, options.Transform)
	}
	return NewRealFIFOWithOptions(o)
}

var errNotDeltas = errors.New("object given as Process argument is not Deltas")

func (p *plainInformer) process(obj any, isInInitialList bool) error {
	deltas, ok := obj.(Deltas)
	if !ok {
		return errNotDeltas
	}
	for _, d := range deltas {
		if err := p.apply(d, isInInitialList); err != nil {
			return err
		}
	}
	return nil
}

// apply makes the change of one delta in the store and calls the handler for it.
func (p *plainInformer) apply(d Delta, isInInitialList bool) error {
	switch info := d.Object.(type) {
	case ReplacedAllInfo:
		return p.replace(info, isInInitialList)
	case SyncAllInfo:
		for _, obj := range p.state.List() {
			p.handler.OnUpdate(obj, obj)
		}
		return nil
	case BookmarkInfo:
		p.state.Bookmark(info.ResourceVersion)
		return nil
	case *transforms.Names[string]:
		p.names = *info
		return nil
	case transformed:
		return p.applyTransformed(d.Type == Deleted, info, isInInitialList)
	}
	switch d.Type {
	case Added, Updated, Deleted:
		if p.names.Changed() {
			return p.applyNamed(d, isInInitialList)
		}
	}
	if d.Type == Deleted {
		return p.remove(d.Object)
	}
	return p.update(d.Object, isInInitialList)
}

func (p *plainInformer) remove(obj any) error {
	if err := p.state.Delete(obj); err != nil {
		return err
	}
	p.handler.OnDelete(obj)
	return nil
}

func (p *plainInformer) update(obj any, isInInitialList bool) error {
	old, exists, err := p.state.Get(obj)
	if err != nil {
		return err
	}
	if err := p.state.Update(obj); err != nil {
		return err
	}
	p.callHandler(old, exists, obj, isInInitialList)
	return nil
}

// callHandler calls the handler for an object that was added or updated.
func (p *plainInformer) callHandler(old any, existed bool, obj any, isInInitialList bool) {
	if existed {
		p.handler.OnUpdate(old, obj)
	} else {
		p.handler.OnAdd(obj, isInInitialList)
	}
}

// replace makes a list the content of the store. Then it calls the handler for each object that was deleted,
// and for each object of the list.
func (p *plainInformer) replace(info ReplacedAllInfo, isInInitialList bool) error {
	if len(info.Objects) > 0 {
		if names, ok := info.Objects[0].(*transforms.Names[string]); ok {
			p.names, info.Objects = *names, info.Objects[1:]
		}
	}
	before := map[string]any{}
	for _, key := range p.state.ListKeys() {
		if obj, exists, _ := p.state.GetByKey(key); exists {
			before[key] = obj
		}
	}
	// All keys are computed before the store changes: if an object has none, the whole list is refused.
	keys := make([]string, len(info.Objects))
	gone := maps.Clone(before)
	for i, obj := range info.Objects {
		key, err := DeletionHandlingMetaNamespaceKeyFunc(obj)
		if err != nil {
			return KeyError{Obj: obj, Err: err}
		}
		keys[i] = key
		delete(gone, key)
	}
	if err := p.state.Replace(info.Objects, info.ResourceVersion); err != nil {
		return err
	}
	for key, obj := range gone {
		p.handler.OnDelete(DeletedFinalStateUnknown{Key: key, Obj: obj})
	}
	for i, obj := range info.Objects {
		old, existed := before[keys[i]]
		p.callHandler(old, existed, obj, isInInitialList)
	}
	return nil
}
