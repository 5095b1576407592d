package engine

import "sync"

// coalescer is between the log and a handler with a bounded backlog. The
// registration's reader calls it in place of the handler. It never blocks, so the
// log is read at once, and at most one entry for each object waits for the handler.
// The coalescer calls the handler on a goroutine of its own, which exists only while
// entries wait.
type coalescer[K comparable] struct {
	registration *registration[K]
	handler      handler[K]

	mu      sync.Mutex
	waiting map[K]*mergedEntry[K]
	// ends closes a ring of the entries in waiting, in the order in which the objects first changed: its next
	// is the first of them, its previous the last.
	ends mergedEntry[K]
	// count is the number of the newest entry.
	count uint64
	// delivering is set while the goroutine exists, ending if it has to close
	// finished when it ends.
	delivering, ending bool
	// current is the number of the entry that the handler works on, or zero. given counts the entries that it
	// was given.
	current, given uint64
	// listing is set from the end of reading the initial list until the list was
	// delivered, that is, until no entry with a number up to initial is left.
	listing bool
	initial uint64
}

// mergedEntry is an entry: the changes of an object that the handler has not received, merged.
type mergedEntry[K comparable] struct {
	key            K
	number         uint64
	previous, next *mergedEntry[K]

	// gone is a deletion, if deleted is set. It is reported before latest.
	deleted bool
	gone    deletion[K]
	// latest is the latest state, if present is set: an addition if added is set,
	// else an update of old.
	present, added bool
	initial        bool
	old, latest    any
}

func newCoalescer[K comparable](r *registration[K], handler handler[K]) *coalescer[K] {
	c := &coalescer[K]{registration: r, handler: handler, waiting: map[K]*mergedEntry[K]{}}
	c.ends.previous, c.ends.next = &c.ends, &c.ends
	return c
}

// OnAdd merges an addition into the object's entry.
func (c *coalescer[K]) OnAdd(obj any, isInInitialList bool) {
	c.merge(c.key(obj), func(m *mergedEntry[K]) {
		m.present, m.added, m.initial, m.latest = true, true, isInInitialList, obj
	})
}

// OnUpdate merges an update into the object's entry.
func (c *coalescer[K]) OnUpdate(oldObj, newObj any) {
	c.merge(c.key(newObj), func(m *mergedEntry[K]) {
		if !m.present {
			m.present, m.old = true, oldObj
		}
		m.latest = newObj
	})
}

// OnDelete merges a deletion into the object's entry. If the handler never received the object, the entry is
// removed.
func (c *coalescer[K]) OnDelete(gone deletion[K]) {
	key := gone.Key
	if !gone.Missed {
		key = c.key(gone.Object)
	}
	c.merge(key, func(m *mergedEntry[K]) {
		unknown := m.added
		*m = mergedEntry[K]{key: m.key, number: m.number, previous: m.previous, next: m.next,
			deleted: m.deleted, gone: m.gone}
		switch {
		case unknown && !m.deleted:
			c.unlink(m)
		case !unknown, m.gone.Released && !gone.Released:
			m.deleted, m.gone = true, gone
		}
	})
}

// key returns the key of an object. The object is or was in the store, so it has one.
func (c *coalescer[K]) key(obj any) K {
	key, _ := c.registration.informer.config.Keys.Of(obj)
	return key
}

func (c *coalescer[K]) merge(key K, change func(*mergedEntry[K])) {
	c.mu.Lock()
	defer c.mu.Unlock()
	m := c.waiting[key]
	if m == nil {
		c.count++
		m = &mergedEntry[K]{key: key, number: c.count, previous: c.ends.previous, next: &c.ends}
		c.waiting[key] = m
		m.previous.next, m.next.previous = m, m
	}
	change(m)
	if len(c.waiting) > 0 && !c.delivering {
		c.delivering = true
		// The calling reader is counted in readers, so Run still waits for them.
		c.registration.informer.readers.Add(1)
		go c.deliver()
	}
}

func (c *coalescer[K]) unlink(m *mergedEntry[K]) {
	delete(c.waiting, m.key)
	m.previous.next, m.next.previous = m.next, m.previous
	c.checkListed()
}

// listed is called when the initial list was read to its end.
func (c *coalescer[K]) listed() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.listing, c.initial = true, c.count
	c.checkListed()
}

// checkListed closes the registration's hasSynced once the initial list was delivered.
// The caller holds mu.
func (c *coalescer[K]) checkListed() {
	waiting := len(c.waiting) > 0 && c.ends.next.number <= c.initial ||
		c.current != 0 && c.current <= c.initial
	if c.listing && !waiting {
		c.listing = false
		close(c.registration.hasSynced)
	}
}

// deliver calls the handler until no entry waits.
func (c *coalescer[K]) deliver() {
	r := c.registration
	defer r.informer.readers.Done()
	for m := c.popEntry(); m != nil; m = c.popEntry() {
		if m.deleted {
			r.callGuarded(func() { c.handler.OnDelete(m.gone) })
		}
		switch {
		case !m.present || r.removed.Load():
		case m.added:
			r.callGuarded(func() { c.handler.OnAdd(m.latest, m.initial) })
		default:
			r.callGuarded(func() { c.handler.OnUpdate(m.old, m.latest) })
		}
	}
}

// popEntry returns the next entry. If there is none or the handler was removed, it returns
// nil, and the goroutine has to end.
func (c *coalescer[K]) popEntry() *mergedEntry[K] {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.current = 0
	removed := c.registration.removed.Load()
	if !removed {
		c.checkListed()
	}
	if len(c.waiting) == 0 || removed {
		c.delivering = false
		if c.ending {
			close(c.registration.finished)
		}
		return nil
	}
	m := c.ends.next
	c.current = m.number
	c.given++
	c.unlink(m)
	return m
}

// finish drops all entries and closes finished, at once or when deliver ends. It is called
// when the reader has ended.
func (c *coalescer[K]) finish() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.waiting, c.ends = nil, mergedEntry[K]{}
	if c.delivering {
		c.ending = true
		return
	}
	close(c.registration.finished)
}

// progress returns how many entries the handler was given, and whether it works on one.
func (c *coalescer[K]) progress() (given uint64, calling bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.given, c.current != 0
}

func (c *coalescer[K]) len() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return len(c.waiting)
}
