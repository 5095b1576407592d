package ownwrites

// Left returns how many waits and removals there are.
func (t *Tracker) Left() (waits, removals int) {
	t.mu.Lock()
	defer t.mu.Unlock()
	for _, informers := range t.informers {
		for _, in := range informers {
			waits += len(in.waits)
			removals += int(in.removing.Load())
		}
	}
	return waits, removals
}
