package queue

// paged is a slice that grows without being copied: the slots of a large
// queue are many megabytes, and are grown with the queue locked. The first
// page starts small and doubles, so that a small queue stays small.
type paged[E any] struct {
	pages [][]E
	n     int
}

const pageSize = 256

func (p *paged[E]) len() int { return p.n }

// at returns the element i. The pointer is good until the next grow.
func (p *paged[E]) at(i int) *E { return &p.pages[uint(i)/pageSize][uint(i)%pageSize] }

// grow makes room for at least n elements. New ones are zero, those that a
// reset has left behind are as they were left.
func (p *paged[E]) grow(n int) {
	for p.n < n {
		if page := p.n / pageSize; page == len(p.pages) {
			p.addPage()
		} else if p.n%pageSize == len(p.pages[page]) {
			larger := make([]E, min(2*len(p.pages[page]), pageSize))
			copy(larger, p.pages[page])
			p.pages[page] = larger
		}
		p.n++
	}
}

func (p *paged[E]) addPage() {
	size := pageSize
	if len(p.pages) == 0 {
		size = 8
	}
	p.pages = append(p.pages, make([]E, size))
}

// reset makes it empty and keeps the pages.
func (p *paged[E]) reset() { p.n = 0 }
