package store

type preparedPage[K comparable] struct {
	number uint32
	page   *page[K]
}

// prepare makes the copies that a write to slot will need, unless a snapshot is
// taken before. It may run concurrently with reads, share and lend. What is
// written next must end with settle.
func (ps *pages[K]) prepare(slot uint32) {
	number := slot >> pageBits
	if int(number) >= len(ps.directory) {
		return
	}
	frozen, born := ps.read(), &ps.born[number]
	if frozen == ps.epoch && ps.prepared.directory == nil {
		ps.prepared.directory = ps.copyOfDirectory()
	}
	if born.values <= frozen && born.prepared == 0 {
		ps.prepared.pages = append(ps.prepared.pages, preparedPage[K]{number, ps.copyOf(number)})
		born.prepared = len(ps.prepared.pages)
	}
}

// settle forgets what was prepared and not needed.
func (ps *pages[K]) settle() {
	if len(ps.prepared.pages) > 0 {
		for _, p := range ps.prepared.pages {
			if int(p.number) < len(ps.born) {
				ps.born[p.number].prepared = 0
			}
		}
		clear(ps.prepared.pages)
		if ps.prepared.pages = ps.prepared.pages[:0]; cap(ps.prepared.pages) > maxScratch {
			ps.prepared.pages = nil
		}
	}
	ps.prepared.directory = nil
}

func (ps *pages[K]) copyOfDirectory() []*page[K] {
	if spare, ok := ps.spareDirectories.take(); ok && cap(spare) > len(ps.directory) {
		clear(spare[:cap(spare)][len(ps.directory):])
		return append(spare[:0], ps.directory...)
	}
	return append(make([]*page[K], 0, len(ps.directory)+1), ps.directory...)
}

// copyOf returns a copy of a page for writable.
func (ps *pages[K]) copyOf(number uint32) *page[K] {
	p := ps.directory[number]
	if len(p.objects) == pageSize {
		if spare, ok := ps.sparePages.take(); ok {
			spare.keys = p.keys
			copy(spare.objects, p.objects)
			copy(spare.versions, p.versions)
			spare.copyLabels(p)
			return spare
		}
	}
	return p.copy()
}
