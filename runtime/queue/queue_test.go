package queue_test

import (
	"context"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/kubewright/kubewright/internal/bubble"
	"github.com/kubewright/kubewright/runtime/queue"
)

func TestReaddedWhileInProcessRunsOnceMore(t *testing.T) {
	q := queue.New(queue.Config[string]{})
	q.Add("a")
	q.Add("a")
	if item, down := q.Get(); item != "a" || down {
		t.Fatalf("Get: %q, %v", item, down)
	}
	q.Add("a")
	q.Add("a")
	if n := q.Len(); n != 0 {
		t.Errorf("Len is %d while the item is in process", n)
	}
	q.Done("a")
	if n := q.Len(); n != 1 {
		t.Errorf("Len is %d after Done", n)
	}
	q.Get()
	q.Done("a")
	q.ShutDown()
	if _, down := q.Get(); !down {
		t.Error("Get gives more than was added")
	}
}

func TestDelaysEndInOrder(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		q := queue.New(queue.Config[int]{})
		start := time.Now()
		for i := range 1000 {
			q.AddAfter(i, time.Duration(1000-i)*time.Millisecond)
		}
		q.AddAfter(0, time.Hour)
		q.AddAfter(1, time.Nanosecond)
		var got []int
		for range 1000 {
			i, _ := q.Get()
			due := time.Duration(1000-i) * time.Millisecond
			if i == 1 {
				due = time.Nanosecond
			}
			if since := time.Since(start); since != due {
				t.Fatalf("%d after %v, want %v", i, since, due)
			}
			got = append(got, i)
			q.Done(i)
		}
		want := []int{1}
		for i := 999; i >= 0; i-- {
			if i != 1 {
				want = append(want, i)
			}
		}
		if !slices.Equal(got, want) {
			t.Error(got)
		}
		q.ShutDown()
	})
}

func TestGetContextEnds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		q := queue.New(queue.Config[int]{})
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		if _, err := q.GetContext(ctx); err != context.DeadlineExceeded {
			t.Error(err)
		}
		q.Add(1)
		if _, err := q.GetContext(ctx); err != context.DeadlineExceeded {
			t.Error(err)
		}
		if got, err := q.GetContext(t.Context()); err != nil || got != 1 {
			t.Error(got, err)
		}
		go func() {
			bubble.Pass(time.Second)
			q.ShutDown()
		}()
		if _, err := q.GetContext(t.Context()); err != queue.ErrShutDown {
			t.Error(err)
		}
	})
}

// TestAnItemThatCannotBeHashed checks that the call that adds it panics, and that the queue still works.
func TestAnItemThatCannotBeHashed(t *testing.T) {
	q := queue.New(queue.Config[any]{})
	defer q.ShutDown()
	for _, add := range []func(any){q.Add, func(item any) { q.AddAfter(item, time.Hour) }} {
		func() {
			defer func() {
				if recover() == nil {
					t.Error("it is added")
				}
			}()
			add([]int{1})
		}()
		q.Add("a")
		if item, _ := q.Get(); item != "a" {
			t.Error(item)
		}
		q.Done("a")
	}
}
