package clientsource

import (
	"context"
	"errors"
	"runtime/debug"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/klog/v2"
)

// grace is how long a list function may take to return after the end of its context. One that obeys its
// context takes milliseconds.
const grace = time.Second

// errNoReturn is the error of a list function that ended its goroutine.
var errNoReturn = errors.New(
	"the list function ended its goroutine (runtime.Goexit, which the FailNow of a test calls)")

// listWithin calls the list function. If it hasn't returned within grace after the end of ctx, listWithin
// returns ctx's error, and the function is left behind on its goroutine: its result isn't used, and a later
// panic isn't reported.
func (c collection) listWithin(ctx context.Context, opts metav1.ListOptions) (runtime.Object, error) {
	var (
		list     runtime.Object
		err      = errNoReturn
		panicked any
		stack    []byte
	)
	returned := make(chan struct{})
	go func() {
		defer close(returned)
		defer func() {
			if panicked = recover(); panicked != nil {
				stack = debug.Stack()
			}
		}()
		list, err = c.list(ctx, opts)
	}()
	if !endsWithin(ctx, returned) {
		klog.FromContext(ctx).Info("Warning: a list function ignores the end of its context and is left behind")
		return nil, ctx.Err()
	}
	if panicked != nil {
		// The panic below has the stack of this goroutine.
		klog.FromContext(ctx).Error(nil, "A panic in a list", "panic", panicked, "stack", string(stack))
		panic(panicked)
	}
	return list, err
}

// endsWithin waits until ended is closed. It returns false if that hasn't happened within grace after the
// end of ctx.
func endsWithin(ctx context.Context, ended <-chan struct{}) bool {
	select {
	case <-ended:
		return true
	case <-ctx.Done():
	}
	timer := time.NewTimer(grace)
	defer timer.Stop()
	select {
	case <-ended:
		return true
	case <-timer.C:
		return false
	}
}
