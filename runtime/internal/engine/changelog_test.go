package engine

import (
	"fmt"
	"math/rand/v2"
	"runtime"
	"testing"
	"weak"

	"k8s.io/klog/v2"

	"github.com/kubewright/kubewright/runtime/informer"
	"github.com/kubewright/kubewright/runtime/internal/store"
)

// cursor reads a log like a registration.
type cursor struct {
	node      *node[string]
	index     int
	delivered int
}

// next returns the number that was added, or zero if there is nothing to read.
func (c *cursor) next() int {
	for c.node.next.Load() != nil {
		b := c.node.batch
		if b == nil && c.index == 1 || b != nil && c.index == b.length {
			c.node, c.index = c.node.next.Load(), 0
			continue
		}
		c.index++
		c.delivered++
		switch {
		case b == nil:
			return c.node.new.(int)
		case b.bulk == nil:
			return b.changes[c.index-1].new.(int)
		}
		for change := range b.bulk {
			return change.Object.(int)
		}
	}
	return 0
}

// TestReadersOfTheLog checks that every reader receives every change once and in order, however far apart the
// readers are, and that nodes which all readers have read are garbage.
func TestReadersOfTheLog(t *testing.T) {
	for seed := range uint64(20) {
		r := rand.New(rand.NewPCG(seed, 6))
		t.Run(fmt.Sprint("seed", seed), func(t *testing.T) {
			l := newChangeLog[string]()
			cursors := make([]cursor, 1+r.IntN(4))
			for i := range cursors {
				cursors[i].node = l.tail
			}
			last, slowness := 0, 1+r.IntN(2000)
			read := func(c *cursor, most int) {
				for range most {
					n := c.next()
					if n == 0 {
						return
					}
					if n != c.delivered {
						t.Fatalf("got %d, want %d", n, c.delivered)
					}
				}
			}
			first := weak.Make(l.tail)
			for range 5000 {
				if r.IntN(300) == 0 {
					last++
					number := last
					l.appendBatch(batch[string]{length: 1, bulk: func(yield func(store.Change[string]) bool) {
						yield(store.Change[string]{Object: number})
					}})
				} else {
					var changes []change
					for range 1 + r.IntN(3) {
						last++
						changes = append(changes, change{new: last})
					}
					if len(changes) == 1 {
						l.appendChange(changes[0], nil)
					} else {
						l.appendBatch(batch[string]{changes: changes, length: len(changes)})
					}
				}
				for i := range cursors {
					// The first reader keeps up, the others are slower and slower.
					if r.IntN(1+i*slowness) == 0 {
						read(&cursors[i], r.IntN(10+i*slowness))
					}
				}
			}
			for i := range cursors {
				if read(&cursors[i], last); cursors[i].delivered != last {
					t.Errorf("reader %d got %d of %d", i, cursors[i].delivered, last)
				}
			}
			if runtime.GC(); first.Value() != nil {
				t.Error("nodes that all readers have read are kept")
			}
			if got := l.appended.Load(); got != uint64(last) {
				t.Errorf("%d changes were appended, want %d", got, last)
			}
			runtime.KeepAlive(cursors)
		})
	}
}

// appender is a writer without a reflector, whose objects are new.
type appender struct {
	writer[string]
	last int
}

// add adds one object, in a node of its own.
func (a *appender) add() {
	a.last++
	name := fmt.Sprint("object ", a.last)
	a.change(store.Change[string]{Type: store.Updated, Key: name, Object: named{name, a.last}})
	a.flush()
}

// stateHandler is called with the states of the objects that are added.
type stateHandler func(state int)

func (h stateHandler) OnAdd(obj any, _ bool)       { h(obj.(named).state) }
func (h stateHandler) OnUpdate(_, _ any)           {}
func (h stateHandler) OnDelete(_ deletion[string]) {}

// TestSlowHandlers checks that slower and slower handlers receive every change once and in order.
func TestSlowHandlers(t *testing.T) {
	const handlers, changes = 4, 8 * nodeSize
	a := &appender{writer: writer[string]{informer: newNamedInformer(), logger: klog.Background(),
		synced: true}}
	var gates [handlers]chan struct{}
	var calls [handlers]int
	// period is the number of calls after which a handler waits.
	period := func(h int) int { return 1 + h*nodeSize/3 }
	for h := range gates {
		gates[h] = make(chan struct{}, changes)
		told := stateHandler(func(state int) {
			if calls[h]++; state != calls[h] {
				t.Errorf("handler %d got %d, want %d", h, state, calls[h])
			}
			if state%period(h) == 0 {
				<-gates[h]
			}
		})
		if _, err := a.informer.addHandler(told, informer.HandlerOptions{}, ""); err != nil {
			t.Fatal(err)
		}
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
