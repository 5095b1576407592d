package ownwrites

import (
	"cmp"
	"fmt"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/types"
)

// record is what a key waits for. It exists while there is something, whether or not the key is parked. All
// records are guarded by the tracker's lock.
type record struct {
	key key
	// waits has at most one for each informer.
	waits    *wait
	removals *removal
	echoes   *echoes
	// open is the number of waits, and of removals that hold.
	open int32
	// parked means that the key waits for Release since then.
	parked bool
	since  time.Duration
	among  links[record]
}

func (r *record) links() *links[record] { return &r.among }

// key is an item of a queue.
type key interface {
	// release makes the item ready and reports whether it was parked. cause is what it has waited for too long,
	// "" if it hasn't. add adds it. Both are called without the tracker's lock.
	release(cause string) bool
	add()
	// forget removes the record of the item.
	forget()
	of() *Tracker
}

// wait is the version of the cache that a key waits for: the highest of its writes.
type wait struct {
	of      *record
	in      *watched
	version string
	// place is that in the heap of the informer.
	place int
	next  *wait
}

// removal is an object that a key has deleted, or that doesn't match the informer's selector any more. It
// holds the key while the cache shows the object. One that the cache doesn't show was removed, or has yet to
// be shown: then the removal holds once it is.
type removal struct {
	of  *record
	in  *watched
	key string
	uid types.UID
	// version, if not empty, is the version of a cache from which on it may show the object again.
	version string
	holds   bool
	// since is when the object was deleted.
	since time.Duration
	among links[removal]
	// next is the next of the record, same the next of the key.
	next, same *removal
}

func (d *removal) links() *links[removal] { return &d.among }

// waitIn returns what the record waits for in a cache, or nil.
func (r *record) waitIn(in *watched) *wait {
	for w := r.waits; w != nil; w = w.next {
		if w.in == in {
			return w
		}
	}
	return nil
}

// why says what the record waits for.
func (r *record) why() string {
	var all []string
	for w := r.waits; w != nil; w = w.next {
		all = append(all, fmt.Sprintf("the %s shows version %s", w.in.name, w.version))
	}
	for d := r.removals; d != nil; d = d.next {
		if d.holds {
			all = append(all, fmt.Sprintf("the %s no longer shows a deleted object", d.in.name))
		}
	}
	return strings.Join(all, ", and ")
}

// look makes the removals hold whose objects the caches show by now.
func (r *record) look() {
	for d := r.removals; d != nil; d = d.next {
		if !d.holds && d.isShown() {
			d.hold()
		}
	}
}

// isShown reports whether the cache shows the object of a removal.
func (d *removal) isShown() bool {
	uid, found := d.in.cache.UID(d.key)
	return found && uid == d.uid && (d.version == "" || !shows(d.in.cache.Version(), d.version))
}

func (d *removal) hold() {
	d.holds = true
	d.of.open++
	d.in.tracker.absent.remove(d)
}

// letGo makes a removal not hold, because the cache doesn't show its object.
func (d *removal) letGo(ready *released) {
	t := d.in.tracker
	d.holds, d.since = false, t.now()
	t.absent.push(d)
	t.arm()
	d.of.ended(ready)
}

// await makes the record wait for a version.
func (r *record) await(in *watched, version string) *wait {
	w := r.waitIn(in)
	if w == nil {
		w = &wait{of: r, in: in, version: version, next: r.waits}
		r.waits = w
		r.open++
		in.push(w)
	} else if compare(w.version, version) < 0 {
		w.version = version
		in.fix(w)
	}
	return w
}

// end ends a wait.
func (w *wait) end(ready *released) {
	w.in.remove(w)
	unlink(&w.of.waits, w, func(w *wait) **wait { return &w.next })
	w.of.ended(ready)
}

// end ends a removal.
func (d *removal) end(ready *released) {
	d.drop()
	if d.holds {
		d.of.ended(ready)
	} else {
		d.of.forgetIfEmpty()
	}
}

// drop removes a removal from its record and its informer.
func (d *removal) drop() {
	d.in.tracker.absent.remove(d)
	d.in.dropRemoval(d)
	unlink(&d.of.removals, d, func(d *removal) **removal { return &d.next })
}

// ended notes that one of the open conditions was met, and releases the key after the last one.
func (r *record) ended(ready *released) {
	r.open--
	if r.parked && r.open == 0 {
		r.look()
	}
	if r.parked && r.open == 0 {
		r.unpark(ready, false)
	}
	r.forgetIfEmpty()
}

func (r *record) unpark(ready *released, bound bool) {
	t := r.key.of()
	t.parked.remove(r)
	r.parked = false
	ready.keys = append(ready.keys, freed{r.key, bound})
}

func (r *record) forgetIfEmpty() {
	if r.waits == nil && r.removals == nil && r.open == 0 && !r.parked && r.echoes.isEmpty() {
		r.key.forget()
	}
}

// handOut ends a record whose time is over.
func (t *Tracker) handOut(r *record, ready *released) {
	r.unpark(ready, true)
	for w := r.waits; w != nil; w = w.next {
		w.in.remove(w)
	}
	for r.removals != nil {
		r.removals.drop()
	}
	r.waits, r.open = nil, 0
	r.forgetOwn() // The key runs before the cache shows them.
	r.forgetIfEmpty()
}

// reason says what a record waits for.
func (r *record) reason() (informer, missing string) {
	if r.waits != nil {
		return r.waits.in.name, "version " + r.waits.version
	}
	for d := r.removals; d != nil; d = d.next {
		if d.holds {
			return d.in.name, "deletion of " + d.key
		}
	}
	return "", ""
}

// released are keys that will be released without the tracker's lock.
type released struct {
	keys []freed
	// informer and missing say what the first key that reached the bound waited for.
	informer, missing string
}

type freed struct {
	key   key
	bound bool
}

func (all *released) release(t *Tracker) {
	overdue := 0
	for _, f := range all.keys {
		cause := ""
		if f.bound {
			cause = cmp.Or(all.informer, "an unknown informer")
		}
		if !f.key.release(cause) {
			continue // The queue was shut down.
		}
		if f.bound {
			overdue++
		}
	}
	if overdue > 0 {
		t.logger().Info("Keys are handed out though the cache doesn't show their own writes", "keys", overdue,
			"after", t.bound(), "informer", all.informer, "missing", all.missing)
	}
}
