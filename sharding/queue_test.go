package sharding_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/kubewright/kubewright/internal/bubble"
	"github.com/kubewright/kubewright/runtime/queue"
	"github.com/kubewright/kubewright/runtime/workqueue"
	"github.com/kubewright/kubewright/sharding"
)

// TestQueue adds items by all methods while their owners change. It checks that exactly the items are handed
// out that are owned both when they are added and when they are handed out, that other items are counted, and
// that nothing is left in the queue.
func TestQueue(t *testing.T) {
	for seed := range uint64(100) {
		synctest.Test(t, func(t *testing.T) {
			r := rand.New(rand.NewPCG(seed, 5))
			var owned [8]atomic.Bool
			inner := queue.New(queue.Config[int]{})
			q := sharding.NewQueue(inner, func(item int) bool { return owned[item].Load() })
			expected := map[int]bool{}
			var refused uint64
			for range 40 {
				item := r.IntN(len(owned))
				switch n := r.IntN(5); n {
				case 0, 1:
					owned[item].Store(n == 0)
					continue
				case 2:
					q.Add(item)
				case 3:
					q.AddAfter(item, time.Second)
				default:
					q.AddRateLimited(item)
				}
				if owned[item].Load() {
					expected[item] = true
				} else {
					refused++
				}
			}
			if q.Dropped() != refused {
				t.Errorf("seed %d: %d dropped, %d were refused", seed, q.Dropped(), refused)
			}
			bubble.Advance(time.Minute)
			q.ShutDown()
			got := map[int]bool{}
			for {
				item, shutdown := q.Get()
				if shutdown {
					break
				}
				got[item] = true
				q.Done(item)
			}
			for item := range owned {
				want := expected[item] && owned[item].Load()
				if got[item] != want {
					t.Errorf("seed %d: item %d was handed out: %t", seed, item, got[item])
				}
				if expected[item] && !want && inner.NumRequeues(item) != 0 {
					t.Errorf("seed %d: item %d has failures", seed, item)
				}
				if expected[item] && !want {
					refused++
				}
			}
			if q.Dropped() != refused {
				t.Errorf("seed %d: %d dropped in all, want %d", seed, q.Dropped(), refused)
			}
			if err := inner.Drain(t.Context()); err != nil {
				t.Error(fmt.Errorf("something is in process: %w", err))
			}
		})
	}
}

// TestQueueNotesDrops checks that whoever asks for an item of the inner queue sees that it was dropped.
func TestQueueNotesDrops(t *testing.T) {
	var owned atomic.Bool
	inner := queue.New(queue.Config[string]{})
	inner.Keep()
	q := sharding.NewQueue(inner, func(string) bool { return owned.Load() })
	defer q.ShutDown()
	inner.Line("a")
	q.Add("a")
	owned.Store(true)
	q.Add("a")
	owned.Store(false)
	q.ShutDown()
	q.Get()
	var got []string
	_, steps := inner.Line("a")
	for _, s := range steps {
		got = append(got, strings.SplitAfter(s.What, " after")[0])
	}
	const dropped = "dropped: this replica doesn't own it"
	if want := []string{dropped, "added", "started", dropped, "ended after"}; !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
}

// TestQueueWaits checks that a Get goes on waiting after an item that isn't owned any more.
func TestQueueWaits(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var owned atomic.Bool
		owned.Store(true)
		q := sharding.NewQueue(queue.New(queue.Config[string]{}), func(item string) bool {
			return owned.Load() || item == "mine"
		})
		q.AddAfter("yours", time.Second)
		got := make(chan string, 1)
		go func() {
			item, _ := q.Get()
			got <- item
		}()
		owned.Store(false)
		bubble.Advance(time.Second)
		if q.Dropped() != 1 || q.Len() != 0 {
			t.Errorf("%d dropped, %d left", q.Dropped(), q.Len())
		}
		q.Add("mine")
		if item := <-got; item != "mine" {
			t.Error(item)
		}
		q.Done("mine")
		q.ShutDown()
	})
}

// TestQueueGivesContexts checks that workers of runtime/workqueue reconcile in the contexts of the inner
// queue, as that of package ownwrites needs, and only what the outer one hands out.
func TestQueueGivesContexts(t *testing.T) {
	type key struct{}
	inner := queue.New(queue.Config[string]{Context: func(ctx context.Context, item string) context.Context {
		return context.WithValue(ctx, key{}, item)
	}})
	lost := false
	q := sharding.NewQueue(inner, func(item string) bool { return item == "mine" || !lost })
	q.Add("lost")
	q.Add("mine")
	lost = true
	q.ShutDown()
	var got []any
	err := workqueue.Run(t.Context(), q, 1, func(ctx context.Context, _ string) (workqueue.Result, error) {
		got = append(got, ctx.Value(key{}))
		return workqueue.Result{}, nil
	})
	if want := []any{"mine"}; err != nil || !slices.Equal(got, want) {
		t.Errorf("the contexts are of %v, want %v; %v", got, want, err)
	}
}
