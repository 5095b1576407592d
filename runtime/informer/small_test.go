package informer

import (
	"fmt"
	"math/rand/v2"
	"runtime"
	"slices"
	"testing"
	"weak"

	"k8s.io/klog/v2"

	"github.com/kubewright/kubewright/runtime/internal/store"
)

// cursor reads a log as a registration does.
type cursor struct {
	node  *node[string, any]
	index int
	// delivered counts the changes that it has got, nodes what they were in.
	delivered uint64
	nodes     int
}

// next returns the number that was added, zero if there is nothing to read.
func (c *cursor) next() int {
	for c.node.next.Load() != nil {
		if c.index == int(c.node.length) {
			c.node, c.index, c.nodes = c.node.next.Load(), 0, c.nodes+1
			continue
		}
		c.index++
		c.delivered++
		if c.node.bulk == nil {
			return *c.node.change(c.index - 1).new.(*int)
		}
		for change := range c.node.bulk {
			return *change.Object.(*int)
		}
	}
	return 0
}

// logged is a log of numbers, and those who read it.
type logged struct {
	*log[string, any]
	cursors []*cursor
	last    int
	// audiences are those of the numbers.
	audiences []*audience[string, any]
}

func newLogged(cursors int) *logged {
	l := &logged{audiences: []*audience[string, any]{nil}}
	l.log = newLog[string, any](func(position uint64) bool {
		return slices.ContainsFunc(l.cursors, func(c *cursor) bool { return c.delivered < position })
	})
	for range cursors {
		l.cursors = append(l.cursors, &cursor{node: l.tail})
	}
	return l
}

func (l *logged) number(a *audience[string, any]) *int {
	l.last++
	l.audiences = append(l.audiences, a)
	number := l.last
	return &number
}

// add appends a node of the next numbers.
func (l *logged) add(length int, a *audience[string, any]) {
	l.append(func(n *node[string, any]) {
		n.audience = a
		n.hold(length)
		for i := range length {
			n.put(i, added, nil, l.number(a))
		}
	})
}

// addBulk appends the next number in bulk.
func (l *logged) addBulk() {
	number := l.number(nil)
	l.append(func(n *node[string, any]) {
		n.length = 1
		n.bulk = func(yield func(store.Change[string, any]) bool) { yield(store.Change[string, any]{Object: number}) }
	})
}

// read reads at most so many numbers.
func (l *logged) read(t *testing.T, c *cursor, most int) {
	t.Helper()
	for range most {
		n := c.next()
		if n == 0 {
			return
		}
		if n != int(c.delivered) {
			t.Fatalf("got %d, want %d", n, c.delivered)
		}
		if c.node.audience != l.audiences[n] {
			t.Fatalf("%d is for %p, want %p", n, c.node.audience, l.audiences[n])
		}
	}
}

// TestReadersOfSmallNodes: whatever becomes of small nodes, every reader gets
// every change once, in order, with its audience.
func TestReadersOfSmallNodes(t *testing.T) {
	for seed := range uint64(20) {
		r := rand.New(rand.NewPCG(seed, 6))
		t.Run(fmt.Sprint("seed", seed), func(t *testing.T) {
			l := newLogged(1 + r.IntN(4))
			audiences, current, slowness := []*audience[string, any]{nil, {}}, 0, 1+r.IntN(2000)
			for range 5000 {
				if r.IntN(1000) == 0 {
					current = 1 - current
				}
				switch r.IntN(300) {
				case 0:
					l.addBulk()
				case 1, 2:
					l.add(1+r.IntN(nodeSize), audiences[current])
				default:
					l.add(1+r.IntN(3), audiences[current])
				}
				for i, c := range l.cursors {
					// The first keeps up, the others are ever slower.
					if r.IntN(1+i*slowness) == 0 {
						l.read(t, c, r.IntN(10+i*slowness))
					}
				}
			}
			for _, c := range l.cursors {
				if l.read(t, c, l.last); int(c.delivered) != l.last {
					t.Errorf("read %d of %d", c.delivered, l.last)
				}
			}
		})
	}
}

// TestSmallNodesAreUnited: what comes one at a time waits for a slow reader in
// nodes of many, and who keeps up reads what came, and keeps nothing alive.
func TestSmallNodesAreUnited(t *testing.T) {
	const changes = 100 * nodeSize
	l := newLogged(2)
	slow, fast := l.cursors[0], l.cursors[1]
	var passed weak.Pointer[node[string, any]]
	for n := range changes {
		l.add(1, nil)
		l.read(t, fast, 1)
		if n == changes/2 {
			passed = weak.Make(fast.node)
		}
	}
	if most := 2*changes/nodeSize + nodeSize; fast.nodes < changes-1 {
		t.Errorf("who keeps up has read %d nodes", fast.nodes)
	} else if l.read(t, slow, changes); slow.nodes > most {
		t.Errorf("who reads last has read %d nodes, want at most %d", slow.nodes, most)
	}
	l.read(t, fast, 1)
	runtime.GC()
	if passed.Value() != nil || l.small.first.Value() != nil {
		t.Error("what everybody has read is kept")
	}
	l.add(1, nil)
	if n := l.small.first.Value(); n != nil {
		t.Error("there is something to unite, and nobody is behind")
	}
}

// appender is a writer without a reflector, whose objects are new.
type appender struct {
	writer[string, named]
	last int
}

func newAppender() *appender {
	i := New(Config[string, named]{Key: func(n named) (string, error) { return n.name, nil }})
	return &appender{writer: writer[string, named]{informer: i, logger: klog.Background(), synced: true}}
}

// add adds one object, as a node of its own.
func (a *appender) add() {
	a.last++
	name := fmt.Sprint("object ", a.last)
	a.change(store.Change[string, named]{Type: store.Updated, Key: name, Object: named{name, a.last}})
	a.flush()
}

func (a *appender) handle(t *testing.T, told func(state int)) {
	handler := HandlerFuncs[string, named]{Added: func(n named, _ bool) { told(n.state) }}
	if _, err := a.informer.AddHandler(handler, HandlerOptions{}); err != nil {
		t.Fatal(err)
	}
}

// TestSlowHandlers: handlers that are ever further behind are told of every
// change once, in order.
func TestSlowHandlers(t *testing.T) {
	const handlers, changes = 4, 8 * nodeSize
	a := newAppender()
	var gates [handlers]chan struct{}
	var calls [handlers]int
	// period is after how many calls a handler waits.
	period := func(h int) int { return 1 + h*nodeSize/3 }
	for h := range gates {
		gates[h] = make(chan struct{}, changes)
		a.handle(t, func(state int) {
			if calls[h]++; state != calls[h] {
				t.Errorf("handler %d got %d, want %d", h, state, calls[h])
			}
			if state%period(h) == 0 {
				<-gates[h]
			}
		})
	}
	for range changes {
		a.add()
		for h := range gates {
			if a.last%(2*period(h)) == 0 {
				gates[h] <- struct{}{}
			}
		}
	}
	for _, gate := range gates {
		close(gate)
	}
	a.informer.readers.Wait()
	if want := [handlers]int{changes, changes, changes, changes}; calls != want {
		t.Errorf("calls %v, want %v", calls, want)
	}
}

// TestBlockedHandlersKeepFewSmallNodes: also a handler's own reader goes on with
// what took their place, wherever it was meanwhile: before those that are united,
// or at the first of them, which is the third node, at once, else after it.
func TestBlockedHandlersKeepFewSmallNodes(t *testing.T) {
	for blocked := 1; blocked < 6; blocked++ {
		a := newAppender()
		called, gate := make(chan struct{}), make(chan struct{})
		a.handle(t, func(state int) {
			if state == 1 || state == blocked {
				called <- struct{}{}
				<-gate
			}
		})
		a.add()
		<-called
		for range blocked - 1 {
			a.add()
		}
		if blocked > 1 {
			gate <- struct{}{}
			<-called
		}
		later := nodeSize / 2
		if blocked > 3 {
			later += nodeSize
		}
		var waits weak.Pointer[node[string, named]]
		for n := range 3 * nodeSize {
			if n == later {
				waits = weak.Make(a.informer.log.tail)
			}
			a.add()
		}
		if runtime.GC(); waits.Value() != nil {
			t.Errorf("with the handler at change %d, nodes that were united are kept", blocked)
		}
		close(gate)
		a.informer.readers.Wait()
	}
}
