package store

import "sync/atomic"

const (
	pageBits = 8
	// pageSize is the number of slots of a page: what the first write after a
	// snapshot copies (14 KB when the key is a namespace and a name).
	pageSize = 1 << pageBits
	pageMask = pageSize - 1
)

// page holds consecutive slots, a column each for what is read together:
// lists read nothing but objects.
type page[K comparable, T any] struct {
	keys     []K
	objects  []T
	versions []string
}

func newPage[K comparable, T any](capacity int) *page[K, T] {
	return &page[K, T]{
		keys:     make([]K, 0, capacity),
		objects:  make([]T, 0, capacity),
		versions: make([]string, 0, capacity),
	}
}

func (p *page[K, T]) clone() *page[K, T] {
	c := newPage[K, T](cap(p.keys))
	c.keys = append(c.keys, p.keys...)
	c.objects = append(c.objects, p.objects...)
	c.versions = append(c.versions, p.versions...)
	return c
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

// share returns what a snapshot keeps. It may run concurrently with itself
// and with reads, not with writes.
func (ps *pages[K, T]) share() ([]*page[K, T], int) {
	if !ps.shared.Load() {
		ps.shared.Store(true)
	}
	return ps.directory, ps.length
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
		ps.directory[number] = ps.directory[number].clone()
		ps.born[number] = ps.epoch
	}
	return ps.directory[number]
}

func (ps *pages[K, T]) page(slot uint32) *page[K, T] { return ps.directory[slot>>pageBits] }

func (ps *pages[K, T]) key(slot uint32) K {
	return ps.directory[slot>>pageBits].keys[slot&pageMask]
}

func (ps *pages[K, T]) object(slot uint32) T {
	return ps.directory[slot>>pageBits].objects[slot&pageMask]
}

// append puts an object into the next slot.
func (ps *pages[K, T]) append(key K, object T, version string) uint32 {
	slot := uint32(ps.length)
	if slot&pageMask == 0 {
		ps.unshare()
		// Most informers of a program watch a handful of objects: only what
		// outgrows the first page gets whole pages.
		capacity := pageSize
		if slot == 0 {
			capacity = 4
		}
		ps.directory = append(ps.directory, newPage[K, T](capacity))
		ps.born = append(ps.born, ps.epoch)
	}
	p := ps.writable(slot)
	p.keys = append(p.keys, key)
	p.objects = append(p.objects, object)
	p.versions = append(p.versions, version)
	ps.length++
	return slot
}

// truncate forgets the last slot.
func (ps *pages[K, T]) truncate() {
	slot := uint32(ps.length - 1)
	p := ps.writable(slot)
	i := slot & pageMask
	clear(p.keys[i:])
	clear(p.objects[i:])
	clear(p.versions[i:])
	p.keys, p.objects, p.versions = p.keys[:i], p.objects[:i], p.versions[:i]
	ps.length--
	if i == 0 {
		last := len(ps.directory) - 1
		ps.directory[last] = nil
		ps.directory, ps.born = ps.directory[:last], ps.born[:last]
	}
}
