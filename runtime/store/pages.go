package store

import "sync/atomic"

const (
	pageBits = 5
	// pageSize is the number of slots of a page. With keys of namespace and
	// name, a page is 1792 bytes, of which the allocator wastes none. The first
	// write of a page after a snapshot copies that; the first write of all
	// copies the directory, too: 25 KB for 100,000 objects.
	pageSize = 1 << pageBits
	pageMask = pageSize - 1
)

// page holds consecutive slots, a column each for what is read together:
// lists read nothing but objects. All pages but the last are full.
type page[K comparable, T any] struct {
	keys     [pageSize]K
	objects  [pageSize]T
	versions [pageSize]string
}

// pages is a growable array of slots whose pages are copied on the first
// write after a snapshot.
type pages[K comparable, T any] struct {
	directory []*page[K, T]
	length    int
	// shared says that a snapshot holds the directory. Readers set it.
	shared atomic.Bool
	// epoch counts the directories. A page may be written when born equals
	// epoch: it is younger than the last snapshot.
	epoch uint64
	born  []uint64
}

// share returns a snapshot, without a resourceVersion. It may run concurrently
// with itself and with reads, not with writes.
func (ps *pages[K, T]) share() Snapshot[K, T] {
	if !ps.shared.Load() {
		ps.shared.Store(true)
	}
	return ps.view()
}

// view is share for as long as nothing is written.
func (ps *pages[K, T]) view() Snapshot[K, T] {
	return Snapshot[K, T]{directory: ps.directory, length: ps.length}
}

// unshare makes the directory the writer's own.
func (ps *pages[K, T]) unshare() {
	if !ps.shared.Load() {
		return
	}
	directory := make([]*page[K, T], len(ps.directory), len(ps.directory)+1)
	copy(directory, ps.directory)
	ps.directory = directory
	ps.epoch++
	ps.shared.Store(false)
}

// writable returns the page of slot, which no snapshot holds.
func (ps *pages[K, T]) writable(slot uint32) *page[K, T] {
	ps.unshare()
	number := slot >> pageBits
	if ps.born[number] != ps.epoch {
		clone := *ps.directory[number]
		ps.directory[number] = &clone
		ps.born[number] = ps.epoch
	}
	return ps.directory[number]
}

func (ps *pages[K, T]) key(slot uint32) K {
	return ps.directory[slot>>pageBits].keys[slot&pageMask]
}

// at returns what is in a slot.
func (ps *pages[K, T]) at(slot uint32) (object T, version string) {
	p := ps.directory[slot>>pageBits]
	return p.objects[slot&pageMask], p.versions[slot&pageMask]
}

// append puts an object into the next slot.
func (ps *pages[K, T]) append(key K, object T, version string) uint32 {
	slot := uint32(ps.length)
	if slot&pageMask == 0 {
		ps.unshare()
		ps.directory = append(ps.directory, new(page[K, T]))
		ps.born = append(ps.born, ps.epoch)
	}
	ps.length++
	ps.set(slot, key, object, version)
	return slot
}

func (ps *pages[K, T]) set(slot uint32, key K, object T, version string) {
	p, i := ps.writable(slot), slot&pageMask
	p.keys[i], p.objects[i], p.versions[i] = key, object, version
}

// truncate forgets the last slot.
func (ps *pages[K, T]) truncate() {
	slot := uint32(ps.length - 1)
	if slot&pageMask == 0 {
		ps.unshare()
		last := len(ps.directory) - 1
		ps.directory[last] = nil
		ps.directory, ps.born = ps.directory[:last], ps.born[:last]
	} else {
		var key K
		var object T
		ps.set(slot, key, object, "")
	}
	ps.length--
}
