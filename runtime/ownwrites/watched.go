package ownwrites

import (
	"net/http"
	"slices"
	"sync/atomic"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/selection"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/resourceversion"

	"github.com/kubewright/kubewright/runtime/internal/observe"
)

// watched is an informer. It is the [observe.Observer] of its cache.
type watched struct {
	tracker *Tracker
	cache   observe.Cache
	name    string
	// resource is what it lists, once that is known. It is guarded by the tracker's lock.
	resource schema.GroupResource
	// waits is a heap by version.
	waits []*wait
	// removals are by key. Those of one key are linked.
	removals map[string]*removal
	// awaited and removing are the lengths of both, for looks without the lock: a wait is counted before the
	// cache is asked whether it is over, and the cache changes before it tells the observer.
	awaited, removing atomic.Int32
	// unresolved is set as long as the informer is one of the tracker's unresolved ones.
	unresolved atomic.Bool
	// last is the version of the cache when it was last looked at while there were waits or own versions.
	last string
	// text and selector are the last label selector, parsed.
	text     string
	selector labels.Selector
}

// compare orders versions that can be compared.
func compare(a, b string) int {
	order, _ := resourceversion.CompareResourceVersion(a, b)
	return order
}

// shows reports whether a cache at a version shows another. Versions that can't be compared count as shown.
func shows(at, version string) bool {
	if at == "" {
		return false
	}
	order, err := resourceversion.CompareResourceVersion(at, version)
	return order >= 0 || err != nil
}

// note makes a key wait until the cache shows a write, unless it does. It returns why the write isn't waited
// for if that deserves a line in the log. The caller holds the tracker's lock.
func (in *watched) note(r run, w *write, ready *released) (ignored string) {
	version, removes := w.answer.version, w.removes()
	scope := in.cache.Scope()
	if version == "" && !removes || !in.mayHold(w, scope) {
		return ""
	}
	leaves := !removes && in.leavesOut(w, scope.Labels)
	if version != "" {
		if _, err := resourceversion.CompareResourceVersion(version, version); err != nil {
			return "its versions can't be compared"
		}
		if shows(in.cache.Version(), version) && !removes {
			return ""
		}
	}
	if leaves && w.method == http.MethodPost {
		return "" // The object was never in the cache.
	}
	if !in.cache.Running() {
		return "it isn't running"
	}
	record := r.record()
	record.open++ // It isn't released before all is noted.
	in.watchVersion()
	if version != "" && !leaves {
		wait := record.await(in, version)
		if shows(in.cache.Version(), wait.version) {
			wait.end(ready)
		}
	}
	if removes || leaves {
		in.noteRemoval(record, w)
	}
	if !in.cache.Running() { // It has stopped meanwhile, perhaps before it could see the wait.
		in.void(ready)
	}
	record.ended(ready)
	return ""
}

// watchVersion begins to look at the version of the cache, unless that has begun.
func (in *watched) watchVersion() {
	if len(in.waits) == 0 && in.tracker.counts[in.resource] == 0 {
		in.last = in.cache.Version()
	}
}

// removes reports whether a write has removed its object at once: the object may be in the cache until its
// deletion arrives.
func (w *write) removes() bool {
	if w.uid == "" {
		return false
	}
	if !w.deletes { // Namespaces have finalizers also in their spec.
		return w.answer.isRemoval() && w.GroupResource != schema.GroupResource{Resource: "namespaces"}
	}
	return w.answer.kind != "Status" && !w.answer.deleting || w.answer.kind == "Status" && w.answer.version == ""
}

// noteRemoval makes a record wait until an object isn't in the cache.
func (in *watched) noteRemoval(r *record, w *write) {
	key := in.cache.Key(w.namespace, w.name)
	d := &removal{of: r, in: in, key: key, uid: w.uid, since: in.tracker.now(), next: r.removals,
		same: in.removals[key]}
	if !w.removes() {
		d.version = w.answer.version
	}
	r.removals, in.removals[key] = d, d
	in.removing.Add(1)
	if d.isShown() {
		d.hold()
		return
	}
	in.tracker.absent.push(d)
	in.tracker.arm()
}

func (in *watched) dropRemoval(d *removal) {
	first := in.removals[d.key]
	unlink(&first, d, func(d *removal) **removal { return &d.same })
	if first == nil {
		delete(in.removals, d.key)
	} else {
		in.removals[d.key] = first
	}
	in.removing.Add(-1)
}

// mayHold reports whether the cache may hold, or have held, the object of a write.
func (in *watched) mayHold(w *write, scope observe.Scope) bool {
	if scope.Namespace != "" && scope.Namespace != w.namespace {
		return false
	}
	if !scope.Part && scope.Fields == "" {
		return true
	}
	object := &metav1.ObjectMeta{Namespace: w.namespace, Name: w.name, UID: w.uid}
	return in.cache.Selects(object) && fieldsMatch(scope.Fields, object)
}

// leavesOut reports whether text, the informer's label selector, leaves out the written object. The cache
// then gets an event only if the object matched before, and doesn't have the object afterwards.
func (in *watched) leavesOut(w *write, text string) bool {
	if text == "" || w.brief || w.answer.kind == "Status" || w.uid == "" {
		return false
	}
	if text != in.text {
		selector, err := labels.Parse(text)
		if err != nil {
			return false
		}
		in.text, in.selector = text, selector
	}
	return !in.selector.Matches(labels.Set(w.answer.labels))
}

// fieldsMatch returns false if a field selector excludes the object by its name or namespace. Other fields
// aren't known here.
func fieldsMatch(text string, object *metav1.ObjectMeta) bool {
	if text == "" {
		return true
	}
	selector, err := fields.ParseSelector(text)
	if err != nil {
		return true
	}
	names := fields.Set{"metadata.name": object.Name, "metadata.namespace": object.Namespace}
	return !slices.ContainsFunc(selector.Requirements(), func(r fields.Requirement) bool {
		is, known := names[r.Field]
		return known && (is == r.Value) == (r.Operator == selection.NotEquals)
	})
}

// Reached is a method of [observe.Observer].
func (in *watched) Reached(version string) {
	if version != "" && in.unresolved.Load() {
		in.tracker.resolveListed(in)
	}
	if in.awaited.Load() == 0 && in.tracker.owned.Load() == 0 {
		return
	}
	var ready released // Not by the method locked, which allocates: this is called for each event.
	in.tracker.mu.Lock()
	if in.wentBack(version) {
		in.void(&ready)
	}
	for len(in.waits) > 0 && shows(version, in.waits[0].version) {
		in.waits[0].end(&ready)
	}
	in.tracker.mu.Unlock()
	ready.release(in.tracker)
}

// wentBack notes the version of the cache, and reports whether it is lower than before: the server's data was
// restored. In an informer of a part that happens without a restore.
func (in *watched) wentBack(version string) bool {
	back := compare(version, in.last) < 0
	in.last = version
	return back && !in.cache.Scope().Part
}

// WantsRemovals is a method of [observe.Observer].
func (in *watched) WantsRemovals() bool { return in.removing.Load() > 0 }

// Removed is a method of [observe.Observer].
func (in *watched) Removed(key string, uid types.UID) {
	var ready released
	in.tracker.mu.Lock()
	for d := in.removals[key]; d != nil; d = d.same { // One that ends keeps what is next.
		if d.uid == uid {
			in.removed(d, &ready)
		}
	}
	in.tracker.mu.Unlock()
	ready.release(in.tracker)
}

// removed notes that the object of a removal has left the cache. Behind a selector that may be because others
// changed it earlier: then it may come back before the removal.
func (in *watched) removed(d *removal, ready *released) {
	if scope := in.cache.Scope(); scope.Labels == "" && scope.Fields == "" {
		d.end(ready)
	} else if d.holds {
		d.letGo(ready)
	}
}

// Released is a method of [observe.Observer].
func (in *watched) Released(kept func(any) bool) {
	in.tracker.mu.Lock()
	defer in.tracker.mu.Unlock()
	in.tracker.moves++
	in.tracker.forgetOwn(func(v *ownVersion) bool {
		return v.resource == in.resource && !kept(&metav1.ObjectMeta{Namespace: v.namespace, UID: v.uid})
	})
}

// Replaced is a method of [observe.Observer].
func (in *watched) Replaced() {
	if in.removing.Load() == 0 {
		return
	}
	in.locked(func(ready *released) {
		for _, d := range in.removals {
			for ; d != nil; d = d.same {
				if d.holds && !d.isShown() {
					in.removed(d, ready)
				}
			}
		}
	})
}

// Voided is a method of [observe.Observer].
func (in *watched) Voided() {
	in.locked(func(ready *released) {
		in.void(ready)
		if in.isStopped() {
			in.cache = stopped{in.cache.Scope()}
		}
	})
}

// stopped stands for the cache of an informer that has stopped, so that its objects are freed.
type stopped struct{ scope observe.Scope }

func (s stopped) Observe(observe.Observer)              {}
func (s stopped) Version() string                       { return "" }
func (s stopped) Resource() schema.GroupVersionResource { return schema.GroupVersionResource{} }
func (s stopped) Running() bool                         { return false }
func (s stopped) IsStopped() bool                       { return true }
func (s stopped) Key(namespace, name string) string     { return namespace + "/" + name }
func (s stopped) UID(string) (types.UID, bool)          { return "", false }
func (s stopped) Scope() observe.Scope                  { return s.scope }
func (s stopped) Selects(metav1.Object) bool            { return true }

// isStopped reports whether the informer has stopped. It then never runs again.
func (in *watched) isStopped() bool {
	c, ok := in.cache.(interface{ IsStopped() bool })
	return ok && c.IsStopped()
}

// void ends all waits for the cache, and forgets the own versions of its resource.
func (in *watched) void(ready *released) {
	for len(in.waits) > 0 {
		in.waits[len(in.waits)-1].end(ready)
	}
	for _, d := range in.removals {
		for ; d != nil; d = d.same {
			d.end(ready)
		}
	}
	in.tracker.forgetOwn(func(v *ownVersion) bool { return v.resource == in.resource })
}

// locked calls do with the tracker's lock, and releases keys afterwards.
func (in *watched) locked(do func(*released)) {
	var ready released
	in.tracker.mu.Lock()
	do(&ready)
	in.tracker.mu.Unlock()
	ready.release(in.tracker)
}
