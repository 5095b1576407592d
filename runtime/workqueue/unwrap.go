package workqueue

import (
	"context"
	"errors"
	"fmt"

	"github.com/kubewright/kubewright/runtime/queue"
)

// ErrShutDown is what GetContext and GetBatch return where Get says shutdown.
var ErrShutDown = queue.ErrShutDown

// Unwrap returns the queue behind q, for all that client-go's interfaces don't
// have: see [queue.Queue]. It returns nil when q is another implementation.
//
// The queue knows nothing of what was put before it: the limiter of a rate
// limiting queue that was made with a DelayingQueue of its own, and the delays
// of a delaying queue that was made with a Queue of its own.
func Unwrap[T comparable](q TypedInterface[T]) *queue.Queue[T] {
	for {
		switch v := q.(type) {
		case *queue.Queue[T]:
			return v
		case *Typed[T]:
			return v.queue
		case *rateLimited[T]:
			q = v.TypedDelayingInterface
		case *delayed[T]:
			q = v.TypedInterface
		default:
			return nil
		}
	}
}

// GetContext is q.Get with a way out, see [queue.Queue.GetContext]. Its error
// is errors.ErrUnsupported when q is another implementation.
func GetContext[T comparable](ctx context.Context, q TypedInterface[T]) (T, error) {
	if own := Unwrap(q); own != nil {
		return own.GetContext(ctx)
	}
	var none T
	return none, unsupported(q)
}

// GetBatch takes up to n items, see [queue.Queue.GetBatch]. Its error is
// errors.ErrUnsupported when q is another implementation.
func GetBatch[T comparable](ctx context.Context, q TypedInterface[T], n int) ([]T, error) {
	if own := Unwrap(q); own != nil {
		return own.GetBatch(ctx, n)
	}
	return nil, unsupported(q)
}

// Drain shuts q down and waits until all that is ready and in process is done,
// see [queue.Queue.Drain]. Its error is errors.ErrUnsupported when q is another
// implementation.
func Drain[T comparable](ctx context.Context, q TypedInterface[T]) error {
	own := Unwrap(q)
	if own == nil {
		return unsupported(q)
	}
	q.ShutDown()
	return own.Drain(ctx)
}

// Cancel takes back a delayed copy of item and tells whether there was one. It
// finds none when q is another implementation.
func Cancel[T comparable](q TypedInterface[T], item T) bool {
	switch v := q.(type) {
	case *queue.Queue[T]:
		return v.Cancel(item)
	case *rateLimited[T]:
		return Cancel[T](v.TypedDelayingInterface, item)
	case *delayed[T]:
		return v.line.Cancel(item)
	}
	return false
}

func unsupported(q any) error {
	return fmt.Errorf("workqueue: %T is not a queue of this package: %w", q, errors.ErrUnsupported)
}
