package cache

import (
	utilruntime "k8s.io/apimachinery/pkg/util/runtime"

	"github.com/kubewright/kubewright/runtime/internal/deltafifo"
)

// Replace queues a list: as one event, if events are atomic, else the deletion of
// what is queued or known and isn't in the list, then each of its objects. If an
// object is refused, nothing is queued.
func (f *RealFIFO) Replace(list []any, resourceVersion string) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	deltas, err := f.replacement(list, resourceVersion)
	if err != nil {
		return err
	}
	f.push(deltas...)
	f.populate(f.len())
	return nil
}

func (f *RealFIFO) replacement(list []any, resourceVersion string) (deltas []deltafifo.Delta[string, any], err error) {
	if f.opts.AtomicEvents {
		objects := make([]any, len(list))
		for i, obj := range list {
			if objects[i], err = f.transformed(obj); err != nil {
				return nil, err
			}
		}
		info := ReplacedAllInfo{ResourceVersion: resourceVersion, Objects: objects}
		return []deltafifo.Delta[string, any]{{Type: deltafifo.ReplacedAll, Object: info}}, nil
	}
	listed := make(map[string]struct{}, len(list))
	replaced := make([]deltafifo.Delta[string, any], len(list))
	for i, obj := range list {
		if replaced[i], err = f.delta(deltafifo.Replaced, obj); err != nil {
			return nil, err
		}
		listed[replaced[i].Key] = struct{}{}
	}
	queued := map[string]struct{}{}
	for _, d := range newestOf(f.all()) {
		queued[d.Key] = struct{}{}
		if _, there := listed[d.Key]; !there && d.Type != deltafifo.Deleted {
			deltas = append(deltas, buried(d.Key, d.Object))
		}
	}
	f.eachKnown(func(key string, obj any) {
		_, inList := listed[key]
		_, inQueue := queued[key]
		if !inList && !inQueue {
			deltas = append(deltas, buried(key, obj))
		}
	})
	return append(deltas, replaced...), nil
}

// newestOf returns the last delta of each key, in the order of the first ones.
func newestOf(deltas []deltafifo.Delta[string, any]) []deltafifo.Delta[string, any] {
	places := map[string]int{}
	var newest []deltafifo.Delta[string, any]
	for _, d := range deltas {
		if place, seen := places[d.Key]; seen {
			newest[place] = d
			continue
		}
		places[d.Key] = len(newest)
		newest = append(newest, d)
	}
	return newest
}

// buried is the deletion, which nobody saw, of an object.
func buried(key string, last any) deltafifo.Delta[string, any] {
	tombstone := DeletedFinalStateUnknown{Key: key, Obj: last}
	return deltafifo.Delta[string, any]{Type: deltafifo.Deleted, Key: key, Object: tombstone, FinalStateUnknown: true}
}

// eachKnown yields what the consumer knows; an object that can't be had is nil.
func (f *RealFIFO) eachKnown(yield func(key string, obj any)) {
	for _, key := range f.opts.KnownObjects.ListKeys() {
		obj, exists, err := f.opts.KnownObjects.GetByKey(key)
		if err != nil || !exists {
			utilruntime.HandleErrorWithLogger(f.logger, err, "A known key could not be looked up", "key", key)
			obj = nil
		}
		yield(key, obj)
	}
}

// Resync queues one SyncAll, if events are atomic, else a Sync for each known
// object of which nothing is queued.
func (f *RealFIFO) Resync() error {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.opts.AtomicEvents {
		f.push(deltafifo.Delta[string, any]{Type: deltafifo.SyncAll, Object: SyncAllInfo{}})
		return nil
	}
	queued := map[string]struct{}{}
	for _, d := range f.all() {
		queued[d.Key] = struct{}{}
	}
	var deltas []deltafifo.Delta[string, any]
	f.eachKnown(func(key string, obj any) {
		if _, ok := queued[key]; !ok && obj != nil {
			deltas = append(deltas, deltafifo.Delta[string, any]{Type: deltafifo.Sync, Key: key, Object: obj})
		}
	})
	f.push(deltas...)
	return nil
}
