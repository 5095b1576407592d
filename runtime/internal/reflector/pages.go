package reflector

import (
	"fmt"
	"hash/maphash"

	"k8s.io/apimachinery/pkg/api/meta"
)

// maxStalledPages is how many pages in a row may bring no new object. Servers that filter what they read may
// send some empty pages.
const maxStalledPages = 100

// pages notices a list whose pages never end. A server or a proxy that ignores the continue token, or always
// returns one, sends such a list as fast as it is requested.
type pages struct {
	seed   maphash.Seed
	number int
	tokens map[string]struct{}
	// keys are the hashes of the objects' keys. Of the first page they have no more than its limit, because
	// most lists are one page, which can be any number of objects.
	keys  map[uint64]struct{}
	limit int
	// fresh is set once the present page has brought a new key. stalled counts the pages in a row before it
	// that have brought none.
	fresh   bool
	stalled int
}

func newPages(limit int64) *pages {
	return &pages{
		seed: maphash.MakeSeed(), tokens: map[string]struct{}{}, keys: map[uint64]struct{}{},
		limit: int(limit), number: 1,
	}
}

// received records an object of the present page.
func (p *pages) received(obj any) {
	if p.number == 1 && len(p.keys) >= p.limit {
		p.fresh = true
		return
	}
	m, err := meta.Accessor(obj)
	if err != nil {
		return
	}
	key := maphash.Comparable(p.seed, [2]string{m.GetNamespace(), m.GetName()})
	if _, known := p.keys[key]; !known {
		p.keys[key], p.fresh = struct{}{}, true
	}
}

// next records that the present page is complete and another one follows. It returns an error if the list
// goes in circles.
func (p *pages) next(token string) error {
	if _, known := p.tokens[token]; known {
		return fmt.Errorf("page %d of the list has the continue token of an earlier page, so the list would "+
			"never end: the server, or a proxy on the way, ignores or repeats tokens", p.number)
	}
	p.tokens[token] = struct{}{}
	if p.stalled++; p.fresh {
		p.stalled = 0
	}
	if p.stalled == maxStalledPages {
		return fmt.Errorf("the last %d pages of the list, up to page %d, brought no new object, so the list "+
			"may never end: the server, or a proxy on the way, ignores the continue token", maxStalledPages,
			p.number)
	}
	p.number++
	p.fresh = false
	return nil
}
