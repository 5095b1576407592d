package deltafifo

import "context"

// index finds the deltas of a key in the log.
//
// A position counts all deltas since the index was built, from one, so that it
// stays the same when the log loses its start.
type index[K comparable] struct {
	// last is the position of the newest delta of each key that has one.
	last map[K]int
	// next is for each delta of the log the position of the same key's next
	// one, or zero.
	next []int
	// base is the position of the start of the log.
	base int
	// head is the number of gaps at the start of the log.
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
	deltas = make([]Delta[K, T], 0, x.count(x.head))
	for i := x.head; i >= 0; i = x.following(i) {
		if f.log[i].Initial {
			f.initial--
		}
		deltas = append(deltas, f.log[i])
		f.log[i] = Delta[K, T]{}
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

// following returns where in the log the same key's next delta is, or a
// negative number.
func (x *index[K]) following(i int) int { return x.next[i] - x.base }

// count returns how many deltas of the same key there are from one on.
func (x *index[K]) count(i int) (n int) {
	for ; i >= 0; i = x.following(i) {
		n++
	}
	return n
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

// buildIndex indexes the log, as if each of its deltas arrived now.
func (f *DeltaFIFO[K, T]) buildIndex() {
	if f.index != nil {
		return
	}
	log := f.log
	keys := len(log)
	for i := range log {
		if log[i].List != nil {
			keys = max(keys, log[i].List.Len())
		}
	}
	f.index = &index[K]{last: make(map[K]int, keys), base: 1}
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
	if delta.Type.keyed() {
		position, ok := x.last[delta.Key]
		last := position - x.base
		if ok && delta.Type == Deleted && f.log[last].Type == Deleted {
			if f.log[last].FinalStateUnknown {
				delta.Initial = f.log[last].Initial
				f.log[last] = delta
			}
			return
		}
		position = x.base + len(f.log)
		if ok {
			x.next[last] = position
		}
		x.last[delta.Key] = position
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
	if f.pending > 0 {
		f.pushUnlisted(list)
	}
	list.List.Each(func(key K, object T, version string) {
		f.pushIndexed(Delta[K, T]{Type: Replaced, Initial: list.Initial, Key: key, Object: object, Version: version})
	})
}

// pushUnlisted appends a deletion of each pending key that a list lacks.
func (f *DeltaFIFO[K, T]) pushUnlisted(list Delta[K, T]) {
	decided := make(map[K]struct{}, list.List.Len())
	list.List.Each(func(key K, _ T, _ string) { decided[key] = struct{}{} })
	for _, delta := range f.log {
		if delta.Type == 0 || !delta.Type.keyed() {
			continue
		}
		if _, ok := decided[delta.Key]; ok {
			continue
		}
		decided[delta.Key] = struct{}{}
		newest := f.log[f.index.last[delta.Key]-f.index.base]
		f.pushIndexed(Delta[K, T]{
			Type: Deleted, Initial: list.Initial, FinalStateUnknown: true,
			Key: delta.Key, Object: newest.Object, Version: newest.Version,
		})
	}
}

// compact gives up the gaps at the start of the log once they are most of it,
// so that a queue that never gets empty doesn't grow.
func (f *DeltaFIFO[K, T]) compact() {
	x := f.index
	drop := x.head
	if f.pending == 0 {
		drop = len(f.log)
	} else if drop < keepBuffer || 2*drop < len(f.log) {
		return
	}
	n := copy(f.log, f.log[drop:])
	clear(f.log[n:])
	f.log = f.log[:n]
	x.next = x.next[:copy(x.next, x.next[drop:])]
	x.base += drop
	x.head = 0
}
