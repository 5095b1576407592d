package ownwrites

// list is a list of elements in the order of push. An element can be removed in its middle, so one that ends
// early leaves nothing behind.
type list[E any, P linked[E]] struct{ first, last *E }

type linked[E any] interface {
	*E
	links() *links[E]
}

// links are those of an element to its neighbours.
type links[E any] struct{ before, after *E }

func (l *list[E, P]) push(e *E) {
	at := P(e).links()
	at.before, at.after = l.last, nil
	if l.last == nil {
		l.first = e
	} else {
		P(l.last).links().after = e
	}
	l.last = e
}

// remove does nothing if e isn't in the list.
func (l *list[E, P]) remove(e *E) {
	at := P(e).links()
	if at.before == nil && l.first != e {
		return
	}
	if at.before == nil {
		l.first = at.after
	} else {
		P(at.before).links().after = at.after
	}
	if at.after == nil {
		l.last = at.before
	} else {
		P(at.after).links().before = at.before
	}
	*at = links[E]{}
}

// unlink removes an element from a chain that begins with first and goes on by next.
func unlink[E any](first **E, e *E, next func(*E) **E) {
	for *first != e {
		first = next(*first)
	}
	*first = *next(e)
}
