package ownwrites

// The heap of an informer's waits: the lowest version is first. A wait knows its place, so that one that ends
// early leaves nothing behind.

func (in *watched) push(w *wait) {
	in.waits = append(in.waits, w)
	in.awaited.Add(1)
	in.up(len(in.waits)-1, w)
}

// fix moves a wait whose version was raised.
func (in *watched) fix(w *wait) { in.down(w.place, w) }

func (in *watched) remove(w *wait) {
	last := len(in.waits) - 1
	moved := in.waits[last]
	in.waits[last] = nil
	in.waits = in.waits[:last]
	in.awaited.Add(-1)
	if moved != w {
		in.down(w.place, moved)
		in.up(moved.place, moved)
	}
	if last == 0 && cap(in.waits) > keepWaits {
		in.waits = nil // A burst must not hold memory for ever.
	}
}

// keepWaits is the capacity up to which the heap is kept.
const keepWaits = 1024

// up puts w at i or above.
func (in *watched) up(i int, w *wait) {
	for i > 0 {
		parent := (i - 1) / 2
		if compare(w.version, in.waits[parent].version) >= 0 {
			break
		}
		in.put(i, in.waits[parent])
		i = parent
	}
	in.put(i, w)
}

// down puts w at i or below.
func (in *watched) down(i int, w *wait) {
	for {
		child := 2*i + 1
		if child >= len(in.waits) {
			break
		}
		if right := child + 1; right < len(in.waits) &&
			compare(in.waits[right].version, in.waits[child].version) < 0 {
			child = right
		}
		if compare(w.version, in.waits[child].version) <= 0 {
			break
		}
		in.put(i, in.waits[child])
		i = child
	}
	in.put(i, w)
}

func (in *watched) put(i int, w *wait) { in.waits[i], w.place = w, i }
