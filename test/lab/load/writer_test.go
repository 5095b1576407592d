package load

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"sync"
	"time"

	shopv1 "github.com/kubewright/kubewright/examples/apis/shop/v1"
)

// store is what writers write to. Each object has one writer.
type store interface {
	create(context.Context, *shopv1.Bakery) error
	update(context.Context, *shopv1.Bakery) error
	remove(ctx context.Context, name string) error
}

// writers change objects. One in ten objects lives for seconds only: it is deleted, and another with a new
// name takes its place. One change in ten is a deletion, one a creation, the others are updates.
type writers struct {
	store store
	names []string // by place; each writer has every nth
	each  int      // objects of a writer
	count int      // of writers
	born  []int    // how many objects each writer has created
}

func newWriters(s store, objects, count int) *writers {
	w := &writers{store: s, each: objects / count, count: count, born: make([]int, count)}
	w.names = make([]string, w.each*count)
	return w
}

// fill creates all objects.
func (w *writers) fill(ctx context.Context) error {
	return w.all(func(n int) error {
		for i := range w.each {
			if err := w.create(ctx, n, i); err != nil {
				return err
			}
		}
		return nil
	})
}

// change changes objects until stop is closed, at the given rate per second, or as fast as it can if rate is
// 0. It returns the number of changes.
func (w *writers) change(ctx context.Context, rate int, stop <-chan struct{}) (changes int, err error) {
	counts := make([]int, w.count)
	begun := time.Now()
	err = w.all(func(n int) error {
		random := rand.New(rand.NewPCG(uint64(n), 0))
		for {
			if rate > 0 {
				due := begun.Add(time.Duration(float64(counts[n]*w.count) / float64(rate) * float64(time.Second)))
				if ahead := time.Until(due); ahead > tick {
					select {
					case <-stop:
						return nil
					case <-time.After(ahead):
					}
				}
			}
			select {
			case <-stop:
				return nil
			default:
			}
			done, err := w.step(ctx, n, random)
			if counts[n] += done; err != nil {
				return err
			}
		}
	})
	for _, n := range counts {
		changes += n
	}
	return changes, err
}

// tick is how far a writer may be ahead of its rate, so that it needn't wait before each change.
const tick = 5 * time.Millisecond

// step makes a writer change an object, and returns the number of changes.
func (w *writers) step(ctx context.Context, n int, random *rand.Rand) (changes int, err error) {
	short := max(1, w.each/10)
	if random.IntN(9) > 0 { // a replacement is two changes
		i := random.IntN(w.each)
		return 1, w.store.update(ctx, bakery(*w.at(n, i)))
	}
	i := random.IntN(short)
	if err := w.store.remove(ctx, *w.at(n, i)); err != nil {
		return 0, err
	}
	return 2, w.create(ctx, n, i)
}

func (w *writers) at(n, i int) *string { return &w.names[i*w.count+n] }

func (w *writers) create(ctx context.Context, n, i int) error {
	name := fmt.Sprintf("bakery-%d-%d", n, w.born[n])
	w.born[n]++
	*w.at(n, i) = name
	return w.store.create(ctx, bakery(name))
}

// all calls f for each writer at the same time.
func (w *writers) all(f func(n int) error) error {
	errs := make([]error, w.count)
	var group sync.WaitGroup
	for n := range w.count {
		group.Go(func() { errs[n] = f(n) })
	}
	group.Wait()
	return errors.Join(errs...)
}
