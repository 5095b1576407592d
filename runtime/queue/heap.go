package queue

import "slices"

// node stands for a slot in a heap. Nodes of equal keys come out in the order of seq, which wraps: the
// comparison holds for nodes that are less than 2^31 apart.
type node struct {
	key int64
	seq uint32
	id  uint32
}

func (a node) before(b node) bool {
	return a.key < b.key || a.key == b.key && int32(a.seq-b.seq) < 0
}

// heap is a four-way min-heap: half the levels of a binary one, and the children of a node share a
// cache line. It can't move or remove a node in its middle, so it needn't keep positions up to date.
// The owner recognises a stale node by its seq when the node comes to the top, and compacts the heap when
// too many are stale.
type heap struct{ nodes []node }

func (h *heap) push(n node) {
	h.nodes = append(h.nodes, n)
	i := len(h.nodes) - 1
	for i > 0 {
		parent := (i - 1) / 4
		if !n.before(h.nodes[parent]) {
			break
		}
		h.nodes[i] = h.nodes[parent]
		i = parent
	}
	h.nodes[i] = n
}

// pop removes the first node. The heap must not be empty.
func (h *heap) pop() node {
	first := h.nodes[0]
	last := len(h.nodes) - 1
	n := h.nodes[last]
	h.nodes = h.nodes[:last]
	if last > 0 {
		h.down(0, n)
	} else {
		h.reset()
	}
	return first
}

// reset empties the heap, and frees the memory of a large one.
func (h *heap) reset() {
	if cap(h.nodes) > keepSlots {
		h.nodes = nil
	}
	h.nodes = h.nodes[:0]
}

// down puts n at i or below. It moves the smallest children up all the way to the bottom, and then looks
// upwards for the place of n. That is quick because pop takes n from the bottom, where it usually belongs.
func (h *heap) down(i int, n node) {
	nodes, top := h.nodes, i
	for {
		child := 4*i + 1
		if child >= len(nodes) {
			break
		}
		family := nodes[child:min(child+4, len(nodes))]
		smallest := 0
		for c := 1; c < len(family); c++ {
			if family[c].before(family[smallest]) {
				smallest = c
			}
		}
		nodes[i] = family[smallest]
		i = child + smallest
	}
	for i > top {
		parent := (i - 1) / 4
		if !n.before(nodes[parent]) {
			break
		}
		nodes[i] = nodes[parent]
		i = parent
	}
	nodes[i] = n
}

// compact drops the nodes that aren't live.
func (h *heap) compact(live func(node) bool) {
	h.nodes = slices.DeleteFunc(h.nodes, func(n node) bool { return !live(n) })
	for i := (len(h.nodes) - 2) / 4; i >= 0 && len(h.nodes) > 1; i-- {
		h.down(i, h.nodes[i])
	}
}

// wasteful reports whether more than half of the nodes are stale.
func (h *heap) wasteful(live int) bool { return len(h.nodes) > 2*live+64 }
