package reflector

import (
	"context"
	"math/rand/v2"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/klog/v2"

	"github.com/kubewright/kubewright/runtime/listwatch"
)

// round is one pass through the machine, from a list to the end of the watch
// that follows it.
type round[T any] struct {
	*Reflector[T]
	// session exists while the sink is current, from the commit of the list.
	session *session
	// err is what the round ended with, if it didn't get to watch.
	err error
}

// state is a place in the machine. A nil state ends the round.
type state[T any] interface {
	name() State
	// step does the state's work. It needn't tell a context that is done from
	// other errors: the machine stops before the next step.
	step(ctx context.Context, r *round[T]) state[T]
}

func (r *round[T]) start() state[T] {
	if r.watchList {
		return streaming[T]{}
	}
	return listing[T]{}
}

func (r *round[T]) end() {
	if r.session != nil {
		r.session.end()
	}
}

// fail ends the round with an error for the handler.
func (r *round[T]) fail(ctx context.Context, err error) state[T] {
	if ctx.Err() == nil {
		r.health.failed(err)
	}
	r.err = err
	return nil
}

// relist ends the round: the watch is over, and its error has been dealt with.
func (r *round[T]) relist(ctx context.Context, err error) state[T] {
	if ctx.Err() == nil {
		r.health.failed(err)
	}
	return nil
}

// retry goes on with next after a wait for a server that is down or busy.
func (r *round[T]) retry(ctx context.Context, err error, next state[T]) state[T] {
	if ctx.Err() == nil {
		r.health.failed(err)
	}
	seconds, _ := apierrors.SuggestsClientDelay(err)
	return backingOff[T]{atLeast: time.Duration(seconds) * time.Second, next: next}
}

// committed is where both ways of listing end: the sink is current.
func (r *round[T]) committed(ctx context.Context, version string, stream listwatch.Stream[T]) state[T] {
	r.position.set(version)
	r.health.synced()
	klog.FromContext(ctx).V(2).Info("Caches populated")
	r.session = r.begin(ctx)
	return watching[T]{stream: stream}
}

// backingOff waits, then goes on with next.
type backingOff[T any] struct {
	atLeast time.Duration
	next    state[T]
}

func (backingOff[T]) name() State { return BackingOff }

func (s backingOff[T]) step(ctx context.Context, r *round[T]) state[T] {
	if r.session != nil {
		ctx = r.session.ctx
	}
	r.pause(ctx, s.atLeast)
	return s.next
}

// pause waits as long as the back-off says, and as long as the server asked for
// by Retry-After if that is longer, or until ctx is done.
func (r *Reflector[T]) pause(ctx context.Context, atLeast time.Duration) {
	if ctx.Err() != nil {
		return
	}
	r.health.enter(BackingOff)
	timer := time.NewTimer(max(r.delay(), atLeast))
	defer timer.Stop()
	select {
	case <-ctx.Done():
	case <-timer.C:
	}
}

// watchTimeout is a random number of seconds between MinWatchTimeout and twice
// that.
func (r *Reflector[T]) watchTimeout() *int64 {
	seconds := int64(r.opts.MinWatchTimeout.Seconds() * (1 + rand.Float64()))
	return &seconds
}

// watchOptions are the options that every watch has.
func (r *Reflector[T]) watchOptions(version string) metav1.ListOptions {
	return metav1.ListOptions{
		ResourceVersion:     version,
		TimeoutSeconds:      r.watchTimeout(),
		AllowWatchBookmarks: true,
	}
}
