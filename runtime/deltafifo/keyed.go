package deltafifo

import "context"

// index finds the deltas of a key in the log.
type index[K comparable] struct {
	// last is the position of the newest delta of each key that has one.
	last map[K]int
	// next is for each position that of the same key's next delta, or zero.
	next []int
	// head is the first position that may not be a gap.
	head int
}

// Pop takes the key that waits longest, with all its pending deltas in the
// order of arrival, the oldest first. It blocks and fails as PopBatch does, but
// any number of goroutines may call it, and the deltas are the caller's.
//
// A ReplacedAll arrives as a Replaced for each of its objects and a deletion
// for each key that is pending but not in it; deletions of what isn't pending
// are for the caller to find, who knows what was there. A Bookmark or SyncAll
// arrives alone, with a zero key, when all keys that waited before it were
// taken.
func (f *DeltaFIFO[K, T]) Pop(ctx context.Context) (key K, deltas []Delta[K, T], err error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.giveBack()
	for {
		if err := f.wait(ctx); err != nil {
			return key, nil, err
		}
		f.buildIndex()
		if f.pending > 0 {
			break
		}
		// All that was pending was an empty list.
	}
	x := f.index
	for f.log[x.head].Type == 0 {
		x.head++
	}
	key = f.log[x.head].Key
	deltas = make([]Delta[K, T], 0, f.count(x.head))
	for at := x.head; ; at = x.next[at] {
		if f.log[at].Initial {
			f.initial--
		}
		deltas = append(deltas, f.log[at])
		f.log[at] = Delta[K, T]{}
		if x.next[at] == 0 {
			break
		}
	}
	if deltas[0].Type.keyed() {
		delete(x.last, key)
	}
	f.pending -= len(deltas)
	f.compact()
	f.checkSynced()
	f.signal()
	return key, deltas, nil
}

// Has says whether a key has pending deltas. It builds the index, like Pop.
func (f *DeltaFIFO[K, T]) Has(key K) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.buildIndex()
	f.checkSynced()
	_, ok := f.index.last[key]
	return ok
}

// count returns how many deltas follow each other from a position.
func (f *DeltaFIFO[K, T]) count(at int) int {
	n := 1
	for at = f.index.next[at]; at != 0; at = f.index.next[at] {
		n++
	}
	return n
}

// buildIndex indexes the log, as if each of its deltas arrived now.
func (f *DeltaFIFO[K, T]) buildIndex() {
	if f.index != nil {
		return
	}
	f.index = &index[K]{last: make(map[K]int, len(f.log))}
	log := f.log
	f.log, f.pending = make([]Delta[K, T], 0, len(log)), 0
	for _, delta := range log {
		if delta.Initial {
			f.initial--
		}
		f.pushIndexed(delta)
	}
	f.checkSynced()
}

// dropIndex closes the gaps in the log and gives up the index.
func (f *DeltaFIFO[K, T]) dropIndex() {
	if f.index == nil {
		return
	}
	f.index = nil
	log := f.log[:0]
	for _, delta := range f.log {
		if delta.Type != 0 {
			log = append(log, delta)
		}
	}
	clear(f.log[len(log):])
	f.log = log
}

// pushIndexed appends to the log and the index.
func (f *DeltaFIFO[K, T]) pushIndexed(delta Delta[K, T]) {
	if delta.Type == ReplacedAll {
		f.pushList(delta)
		return
	}
	x := f.index
	at := len(f.log)
	if delta.Type.keyed() {
		last, ok := x.last[delta.Key]
		if ok && delta.Type == Deleted && f.log[last].Type == Deleted {
			if f.log[last].FinalStateUnknown {
				delta.Initial = f.log[last].Initial
				f.log[last] = delta
			}
			return
		}
		if ok {
			x.next[last] = at
		}
		x.last[delta.Key] = at
	}
	f.log = append(f.log, delta)
	x.next = append(x.next, 0)
	f.pending++
	if delta.Initial {
		f.initial++
	}
}

// pushList takes a ReplacedAll apart.
func (f *DeltaFIFO[K, T]) pushList(list Delta[K, T]) {
	listed := make(map[K]struct{}, list.List.Len())
	list.List.Each(func(key K, _ T, _ string) { listed[key] = struct{}{} })
	for _, delta := range f.log {
		if delta.Type == 0 || !delta.Type.keyed() {
			continue
		}
		if _, ok := listed[delta.Key]; ok {
			continue
		}
		listed[delta.Key] = struct{}{}
		newest := f.log[f.index.last[delta.Key]]
		f.pushIndexed(Delta[K, T]{
			Type: Deleted, Initial: list.Initial, FinalStateUnknown: true,
			Key: delta.Key, Object: newest.Object, Version: newest.Version,
		})
	}
	list.List.Each(func(key K, object T, version string) {
		f.pushIndexed(Delta[K, T]{Type: Replaced, Initial: list.Initial, Key: key, Object: object, Version: version})
	})
}

// compact gives up the gaps at the start of the log once they are most of it,
// so that a queue that never gets empty doesn't grow.
func (f *DeltaFIFO[K, T]) compact() {
	x := f.index
	if f.pending == 0 {
		f.log, x.next, x.head = f.log[:0], x.next[:0], 0
		return
	}
	if x.head < keepBuffer || 2*x.head < len(f.log) {
		return
	}
	n := copy(f.log, f.log[x.head:])
	clear(f.log[n:])
	f.log = f.log[:n]
	copy(x.next, x.next[x.head:])
	x.next = x.next[:n]
	for at := range x.next {
		if x.next[at] > 0 {
			x.next[at] -= x.head
		}
	}
	for key := range x.last {
		x.last[key] -= x.head
	}
	x.head = 0
}
