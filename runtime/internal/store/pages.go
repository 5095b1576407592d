package store

import "sync/atomic"

const (
	pageBits = 8
	// pageSize is the number of slots of a page. With keys of namespace and name, a
	// full page has 16 KB. The first update of a page after a snapshot copies 8 KB of
	// that, and 2 KB of summaries of labels if there are any. The first write to any page
	// copies the directory, too: 3 KB for 100,000 objects.
	pageSize = 1 << pageBits
	pageMask = pageSize - 1

	// firstCapacity is the initial number of slots. Most informers of a program watch a
	// handful of objects: so the first page grows by half until it is full, and a store of
	// 10 objects has room for 12 and not for 16. Further pages are full-size.
	firstCapacity = 8
)

// page holds consecutive slots, in a column for each kind of data: lists read only the
// objects. All pages but the last are full.
//
// A page that a snapshot has doesn't change, except for the summaries of labels that
// readers add. Its arrays may hold more elements behind the end of its columns, which
// belong to a younger page.
type page[K comparable] struct {
	keys     []K
	objects  []any
	versions []string
	// summaries is nil until a list makes them, and while the page isn't full.
	summaries atomic.Pointer[pageSummaries]
	// epoch is when objects and versions were copied or made, keysEpoch when keys were.
	// Keys are copied for deletions only: updates don't change them, and additions write
	// behind the end of what snapshots read.
	epoch, keysEpoch uint64
}

// copied returns a copy of a column, with as much room.
func copied[E any](column []E) []E { return withRoom(column, cap(column)) }

func withRoom[E any](column []E, capacity int) []E {
	return append(make([]E, 0, capacity), column...)
}

// grow makes room in a full first page.
func (p *page[K]) grow() {
	capacity := min(cap(p.objects)*3/2, pageSize)
	p.keys = withRoom(p.keys, capacity)
	p.objects = withRoom(p.objects, capacity)
	p.versions = withRoom(p.versions, capacity)
}

// copy returns a page whose objects and versions may be written, and whose keys may
// be appended to.
func (p *page[K]) copy() *page[K] {
	c := &page[K]{
		keys: p.keys, keysEpoch: p.keysEpoch,
		objects: copied(p.objects), versions: copied(p.versions),
	}
	c.copySummaries(p)
	return c
}

// pages is a growable array of slots, copied on write: a snapshot shares all pages
// and the directory of them, and the first write of each copies it.
type pages[K comparable] struct {
	directory []*page[K]
	length    int
	// shared means that a snapshot has the directory. Readers set it, concurrently.
	shared atomic.Bool
	// epoch counts the copies of the directory. No snapshot has the data that a page made
	// or copied in this epoch, unless the directory is shared.
	epoch uint64
}

// snapshot may run concurrently with reads, not with writes. It leaves the
// resourceVersion to its caller.
func (ps *pages[K]) snapshot() Snapshot[K] {
	// Don't write needlessly: processors can share the cache line while it is only read.
	if !ps.shared.Load() {
		ps.shared.Store(true)
	}
	return ps.view()
}

// view is a snapshot for as long as nothing is written.
func (ps *pages[K]) view() Snapshot[K] {
	return Snapshot[K]{directory: ps.directory, length: ps.length}
}

// owns reports whether a page, and the directory, may be written: no snapshot has them.
func (ps *pages[K]) owns(number uint32) bool {
	return !ps.shared.Load() && (int(number) == len(ps.directory) || ps.directory[number].epoch == ps.epoch)
}

// ownCopy holds copies for a write, in place of the page and directory that snapshots share.
type ownCopy[K comparable] struct {
	number    uint32
	page      *page[K]   // nil for the page that comes next
	directory []*page[K] // nil if no snapshot has the directory
}

// copyOf makes the copies for a write to a page. It changes nothing, so it may run
// concurrently with reads and snapshots.
func (ps *pages[K]) copyOf(number uint32) ownCopy[K] {
	c := ownCopy[K]{number: number}
	if ps.shared.Load() {
		c.directory = append(make([]*page[K], 0, len(ps.directory)+1), ps.directory...)
	}
	if int(number) < len(ps.directory) {
		c.page = ps.directory[number].copy()
	}
	return c
}

// install puts copies in place. It doesn't install the page if a snapshot has taken the
// directory since, and the directory isn't among the copies.
func (ps *pages[K]) install(c ownCopy[K]) {
	if c.directory != nil {
		ps.directory = c.directory
		ps.epoch++
		ps.shared.Store(false)
	}
	if c.page != nil && !ps.shared.Load() {
		c.page.epoch = ps.epoch
		ps.directory[c.number] = c.page
	}
}

// writable returns the page of a slot, whose objects and versions may be written and
// whose keys may be appended to.
func (ps *pages[K]) writable(slot uint32) *page[K] {
	number := slot >> pageBits
	if !ps.owns(number) {
		ps.install(ps.copyOf(number))
	}
	return ps.directory[number]
}

// rewritable returns a page whose keys may be changed, too.
func (ps *pages[K]) rewritable(slot uint32) *page[K] {
	p := ps.writable(slot)
	if p.keysEpoch < ps.epoch {
		p.keys, p.keysEpoch = copied(p.keys), ps.epoch
	}
	return p
}

func (ps *pages[K]) key(slot uint32) K {
	return ps.directory[slot>>pageBits].keys[slot&pageMask]
}

// at returns the content of a slot.
func (ps *pages[K]) at(slot uint32) (object any, version string) {
	p := ps.directory[slot>>pageBits]
	return p.objects[slot&pageMask], p.versions[slot&pageMask]
}

// append puts an object into the next slot.
func (ps *pages[K]) append(key K, object any, version string) uint32 {
	slot := uint32(ps.length)
	if slot&pageMask == 0 {
		if !ps.owns(slot >> pageBits) {
			ps.install(ps.copyOf(slot >> pageBits))
		}
		capacity := pageSize
		if slot == 0 {
			capacity = firstCapacity
		}
		ps.directory = append(ps.directory, &page[K]{
			keys:      make([]K, 0, capacity),
			objects:   make([]any, 0, capacity),
			versions:  make([]string, 0, capacity),
			epoch:     ps.epoch,
			keysEpoch: ps.epoch,
		})
	}
	p := ps.writable(slot)
	if len(p.objects) == cap(p.objects) {
		p.grow()
	}
	p.keys = append(p.keys, key)
	p.objects = append(p.objects, object)
	p.versions = append(p.versions, version)
	ps.length++
	return slot
}

// truncate forgets the last slot.
func (ps *pages[K]) truncate() {
	slot := uint32(ps.length - 1)
	p, i := ps.rewritable(slot), slot&pageMask
	clear(p.keys[i:])
	clear(p.objects[i:])
	clear(p.versions[i:])
	p.keys, p.objects, p.versions = p.keys[:i], p.objects[:i], p.versions[:i]
	p.summaries.Store(nil)
	if i == 0 {
		last := len(ps.directory) - 1
		ps.directory[last] = nil
		ps.directory = ps.directory[:last]
	}
	ps.length--
}
