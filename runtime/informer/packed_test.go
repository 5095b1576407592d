package informer

import (
	"fmt"
	"math/rand/v2"
	"runtime"
	"strconv"
	"testing"
	"unsafe"
)

type (
	pointed struct{ n int }
	value   struct{ a, b, c int }
	text    string
)

func (p *pointed) String() string { return "pointed " + strconv.Itoa(p.n) }
func (v value) String() string    { return fmt.Sprint("value ", v.a, v.b, v.c) }
func (s text) String() string     { return "text " + string(s) }

// change is a change of tests.
type change[T any] struct {
	kind     kind
	old, new T
}

func (n *node[K, T]) putChange(i int, c change[T]) { n.put(i, c.kind, c.old, c.new) }

func (n *node[K, T]) change(i int) change[T] {
	changes := n.changes()
	before, now := changes.objects(i)
	return change[T]{changes.kindOf(i), before, now}
}

// objects are of many types: pointers, what interfaces keep elsewhere, nothing.
func objects(n int) []fmt.Stringer {
	return []fmt.Stringer{&pointed{n}, value{n, n + 1, n + 2}, text(strconv.Itoa(n)), (*pointed)(nil), nil, &value{n, 0, n}}
}

// TestNodesHoldWhatTheyWereGiven: whatever the kinds of changes and the types of
// objects are, a node gives back what was put into it, and keeps it alive.
func TestNodesHoldWhatTheyWereGiven(t *testing.T) {
	for seed := range uint64(60) {
		r := rand.New(rand.NewPCG(seed, 4))
		length, kinds := 1+r.IntN(9), 1+r.IntN(int(recreated)+1)
		// Often all objects are of one type, or all but a few.
		first, odd := r.IntN(6), r.IntN(2)*r.IntN(12)
		object := func(n int) fmt.Stringer {
			if odd > 0 && r.IntN(odd) == 0 {
				return objects(n)[r.IntN(6)]
			}
			return objects(n)[first]
		}
		changes := func() []change[fmt.Stringer] {
			var list []change[fmt.Stringer]
			for n := range length {
				c := change[fmt.Stringer]{kind: kind(r.IntN(kinds))}
				if c.kind != added {
					c.old = object(10 * n)
				}
				if c.kind != deleted {
					c.new = object(10*n + 5)
				}
				list = append(list, c)
			}
			return list
		}()
		t.Run(fmt.Sprint("seed", seed), func(t *testing.T) {
			holds(t, changes, func(s fmt.Stringer) fmt.Stringer { return s })
			holds(t, changes, func(s fmt.Stringer) any { return s })
			holds(t, changes, func(s fmt.Stringer) *pointed {
				p, _ := s.(*pointed)
				return p
			})
			holds(t, changes, func(s fmt.Stringer) value {
				v, _ := s.(value)
				return v
			})
		})
	}
}

// holds puts changes of objects of type T into a node.
func holds[T any](t *testing.T, changes []change[fmt.Stringer], as func(fmt.Stringer) T) {
	t.Helper()
	n := &node[int, T]{}
	n.hold(len(changes))
	var want []string
	for i, c := range changes {
		// Nobody else has the objects.
		copied := change[T]{c.kind, as(again(c.old)), as(again(c.new))}
		want = append(want, shown(copied))
		n.putChange(i, copied)
	}
	runtime.GC()
	for i := range changes {
		if got := shown(n.change(i)); got != want[i] {
			t.Errorf("%T %d of %d is %s, want %s", change[T]{}, i, len(changes), got, want[i])
		}
	}
}

func again(s fmt.Stringer) fmt.Stringer {
	switch s := s.(type) {
	case *pointed:
		if s != nil {
			return &pointed{s.n}
		}
	case *value:
		return &value{s.a, s.b, s.c}
	}
	return s
}

func shown[T any](c change[T]) string {
	show := func(obj any) string {
		if p, ok := obj.(*pointed); ok && p == nil {
			return "no *pointed"
		}
		return fmt.Sprintf("%T %v", obj, obj)
	}
	// What a change has no object for, nobody looks at.
	switch c.kind {
	case added:
		return fmt.Sprint(c.kind, " ", show(c.new))
	case deleted:
		return fmt.Sprint(c.kind, " ", show(c.old))
	default:
		return fmt.Sprint(c.kind, " ", show(c.old), " -> ", show(c.new))
	}
}

// TestNodesAreSmall: a backlog of changes that come one at a time consists of
// nodes.
func TestNodesAreSmall(t *testing.T) {
	if size := unsafe.Sizeof(node[string, any]{}); size > 8*unsafe.Sizeof(uintptr(0)) {
		t.Errorf("a node takes %d bytes", size)
	}
	for k := added; k <= recreated; k++ {
		n := &node[int, any]{}
		n.hold(2)
		for i := range 2 {
			c := change[any]{kind: k}
			if k != added {
				c.old = &pointed{1}
			}
			if k != deleted {
				c.new = &pointed{2}
			}
			n.putChange(i, c)
		}
		if n.run.packed == nil || n.run.kinds != nil {
			t.Errorf("changes of kind %d with objects of one type are not packed", k)
		}
	}
}
