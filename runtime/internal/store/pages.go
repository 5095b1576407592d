package store

import "sync/atomic"

const (
	pageBits = 8
	// pageSize is the number of slots of a page. With keys of namespace and
	// name, a full page is 18 KB where objects are any, as generated informers
	// keep them, and 16 where they are pointers, an eighth of which is the
	// allocator's. The first update of a page after a snapshot copies 8 KB of that,
	// or 6, and 2 of summaries of labels if there are any; the first write of all
	// copies the directory, too: 3 KB for 100,000 objects. See spares for where the
	// copies go.
	pageSize = 1 << pageBits
	pageMask = pageSize - 1
)

// page holds consecutive slots, a column each for what is read together:
// lists read nothing but objects. All pages but the last are full. Once a
// snapshot has a page, neither the page nor what it holds changes, but for the
// summaries of labels that readers add; and behind the end of its columns may stand
// more, of a younger page.
type page[K comparable] struct {
	keys     []K
	objects  []any
	versions []string
	// known is nil until a list makes summaries, and while the page isn't full.
	known atomic.Pointer[pageLabels]
}

func newPage[K comparable](capacity int) *page[K] {
	return &page[K]{
		keys:     make([]K, 0, capacity),
		objects:  make([]any, 0, capacity),
		versions: make([]string, 0, capacity),
	}
}

// copied returns a copy of a column, with as much room.
func copied[E any](column []E) []E { return append(make([]E, 0, cap(column)), column...) }

// copy returns a page whose objects and versions may be written, and whose keys
// may be appended to.
func (p *page[K]) copy() *page[K] {
	c := &page[K]{keys: p.keys, objects: copied(p.objects), versions: copied(p.versions)}
	c.copyLabels(p)
	return c
}

// pages is a growable array of slots whose pages are copied on the first
// write after a snapshot.
type pages[K comparable] struct {
	directory []*page[K]
	length    int
	// shared says that a snapshot was taken of the directory, and kept that there
	// is one without an end among them. Readers set both.
	shared, kept atomic.Bool
	readers      readers
	// epoch counts the directories, from 1. In lastKept the last snapshot without
	// an end was taken. What was born in frozen or before, a snapshot may hold;
	// the rest may be written.
	epoch, lastKept, frozen uint64
	born                    []birth

	spareDirectories spares[[]*page[K]]
	sparePages       spares[*page[K]]
	// unread counts the writes while nobody read and since a directory was copied.
	unread int

	// prepared are copies, made before readers have to wait, of what a write is
	// expected to change: the directory and pages by their number.
	prepared struct {
		directory []*page[K]
		pages     []preparedPage[K]
	}
}

// birth says when the columns of a page were copied last. Keys are copied for
// deletions only: updates leave them alone, and additions write where no
// snapshot looks.
type birth struct {
	keys, values uint64
	// prepared is the number of the page's copy in pages.prepared, plus one.
	prepared int
}

// share returns a snapshot without an end. Like lend, it may run concurrently
// with reads, not with writes, and leaves the resourceVersion to its caller.
func (ps *pages[K]) share() Snapshot[K] {
	set(&ps.kept, true)
	set(&ps.shared, true)
	return ps.view()
}

// lend returns a snapshot that ends when one is taken from the count.
func (ps *pages[K]) lend() (Snapshot[K], *atomic.Int64) {
	set(&ps.shared, true)
	return ps.view(), ps.readers.join()
}

// set writes only what changes, for processors to share the memory.
func set(b *atomic.Bool, to bool) {
	if b.Load() != to {
		b.Store(to)
	}
}

// view is a snapshot for as long as nothing is written.
func (ps *pages[K]) view() Snapshot[K] {
	return Snapshot[K]{directory: ps.directory, length: ps.length}
}

// read returns the last epoch of which a snapshot may be read still, or zero.
func (ps *pages[K]) read() uint64 {
	switch {
	case ps.kept.Load():
		return ps.epoch
	case ps.readers.none():
		return ps.lastKept
	case ps.shared.Load():
		return ps.epoch
	default:
		return ps.epoch - 1
	}
}

const (
	// maxSpareDirectories is for two that wait and one that is free.
	maxSpareDirectories = 3
	// After maxUnread writes while nobody reads, spares are given up: they keep
	// alive what was replaced and deleted since.
	maxUnread = 256
)

// unshare makes the directory the writer's own.
func (ps *pages[K]) unshare() {
	ps.frozen = ps.read()
	if ps.frozen < ps.epoch {
		if ps.readers.none() {
			set(&ps.shared, false)
			if ps.unread++; ps.unread == maxUnread {
				ps.spareDirectories, ps.sparePages = spares[[]*page[K]]{}, spares[*page[K]]{}
			}
		}
		return
	}
	if ps.kept.Load() {
		ps.lastKept = ps.epoch
	} else {
		ps.spareDirectories.keep(ps.directory, maxSpareDirectories)
	}
	if ps.readers.turn() {
		ps.spareDirectories.turn()
		ps.sparePages.turn()
	}
	if ps.prepared.directory != nil {
		ps.directory, ps.prepared.directory = ps.prepared.directory, nil
	} else {
		ps.directory = ps.copyOfDirectory()
	}
	ps.epoch++
	ps.unread = 0
	ps.shared.Store(false)
	ps.kept.Store(false)
}

// writable returns the page of slot, whose objects and versions may be written
// and whose keys may be appended to.
func (ps *pages[K]) writable(slot uint32) *page[K] {
	ps.unshare()
	number := slot >> pageBits
	born := &ps.born[number]
	if born.values > ps.frozen {
		return ps.directory[number]
	}
	old := ps.directory[number]
	if born.prepared > 0 {
		ps.directory[number] = ps.prepared.pages[born.prepared-1].page
	} else {
		ps.directory[number] = ps.copyOf(number)
	}
	if born.values > ps.lastKept && len(old.objects) == pageSize {
		ps.sparePages.keep(old, len(ps.directory)/2)
	}
	born.values = ps.epoch
	return ps.directory[number]
}

// rewritable is writable for who changes or takes back keys.
func (ps *pages[K]) rewritable(slot uint32) *page[K] {
	p, born := ps.writable(slot), &ps.born[slot>>pageBits]
	if born.keys <= ps.frozen {
		p.keys = copied(p.keys)
		born.keys = ps.epoch
	}
	return p
}

func (ps *pages[K]) key(slot uint32) K {
	return ps.directory[slot>>pageBits].keys[slot&pageMask]
}

// at returns what is in a slot.
func (ps *pages[K]) at(slot uint32) (object any, version string) {
	p := ps.directory[slot>>pageBits]
	return p.objects[slot&pageMask], p.versions[slot&pageMask]
}

// append puts an object into the next slot.
func (ps *pages[K]) append(key K, object any, version string) uint32 {
	slot := uint32(ps.length)
	if slot&pageMask == 0 {
		ps.unshare()
		// Most informers of a program watch a handful of objects: only what
		// outgrows the first page gets whole pages.
		capacity := pageSize
		if slot == 0 {
			capacity = 4
		}
		ps.directory = append(ps.directory, newPage[K](capacity))
		ps.born = append(ps.born, birth{keys: ps.epoch, values: ps.epoch})
	}
	p := ps.writable(slot)
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
	p.known.Store(nil)
	if i == 0 {
		last := len(ps.directory) - 1
		ps.directory[last] = nil
		ps.directory, ps.born = ps.directory[:last], ps.born[:last]
	}
	ps.length--
}
