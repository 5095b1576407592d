package ownwrites

// Left returns how many waits, removals and own versions there are.
func (t *Tracker) Left() (waits, removals, versions int) {
	t.mu.Lock()
	defer t.mu.Unlock()
	for _, informers := range t.informers {
		for _, in := range informers {
			waits += len(in.waits)
			removals += int(in.removing.Load())
		}
	}
	for v := t.own.first; v != nil; v = v.among.after {
		versions++
	}
	return waits, removals, versions
}

// Informers returns how many informers there are.
func (t *Tracker) Informers() int {
	t.mu.Lock()
	defer t.mu.Unlock()
	n := len(t.unresolved)
	for _, informers := range t.informers {
		n += len(informers)
	}
	return n
}
