package informer

import "weak"

// small puts nodes of few changes together that wait for a slow handler. Changes
// that come one at a time are nodes of their own, which is three times the
// memory that they take in a node of many.
//
// The writer remembers the first of them, and lets its next lead to one node in
// place of all that have followed it: who reads the first later goes on there,
// who has passed it goes on as before.
type small[K comparable, T any] struct {
	behind func(position uint64) bool
	// first is the small node that the others follow. It doesn't keep alive what
	// everybody has read. There is none while all handlers keep up.
	first weak.Pointer[node[K, T]]
	// end is the position behind first, following how many changes follow it.
	end       uint64
	following uint32
}

// smallNode is the least length of a node that is left as it is. What is not
// its changes costs it 4 bytes for each of them.
const smallNode = 64

func (n *node[K, T]) isSmall() bool {
	return n.bulk == nil && !n.synced && n.length < smallNode
}

// follow is called for each node that was appended, with the position behind it.
func (s *small[K, T]) follow(n *node[K, T], end uint64) {
	first := s.first.Value()
	if first != nil && n.isSmall() && n.audience == first.audience && s.following+n.length <= nodeSize {
		s.following += n.length
		return
	}
	if first != nil && s.following > 0 && s.behind(s.end+1) {
		first.unite(n, s.following)
	}
	if n.isSmall() && s.behind(end-uint64(n.length)) {
		s.first, s.end, s.following = weak.Make(n), end, 0
	} else {
		s.first = weak.Pointer[node[K, T]]{}
	}
}

// unite makes one node of those between n and last, which have so many changes.
func (n *node[K, T]) unite(last *node[K, T], length uint32) {
	united := &node[K, T]{audience: n.audience}
	united.hold(int(length))
	i := 0
	for one := n.next.Load(); one != last; one = one.next.Load() {
		changes := one.changes()
		for at := range int(one.length) {
			before, now := changes.objects(at)
			united.put(i, changes.kindOf(at), before, now)
			i++
		}
	}
	united.next.Store(last)
	n.next.Store(united)
}
