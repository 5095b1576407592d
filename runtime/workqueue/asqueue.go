package workqueue

import (
	"context"
	"errors"
	"fmt"

	"github.com/kubewright/kubewright/runtime/queue"
)

// AsQueue returns the queue behind q, whose methods go beyond client-go's interfaces, see [queue.Queue].
// It returns nil if q is another implementation.
//
// If q was configured with a DelayingQueue, the returned queue doesn't use q's limiter; if it was
// configured with a Queue, the returned queue doesn't contain q's delayed items.
func AsQueue[T comparable](q TypedInterface[T]) *queue.Queue[T] {
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

// within returns AsQueue of q, or of the queue that q wraps. Only the outer one knows what it hands out.
func within[T comparable](q TypedInterface[T]) *queue.Queue[T] {
	for {
		own := AsQueue(q)
		wrapper, ok := q.(interface {
			Unwrap() TypedRateLimitingInterface[T]
		})
		if own != nil || !ok {
			return own
		}
		q = wrapper.Unwrap()
	}
}

// GetContext is q.Get with a context, see [queue.Queue.GetContext]. Its error is [queue.ErrShutDown] where
// Get reports a shutdown. If q is another implementation, the error wraps errors.ErrUnsupported.
func GetContext[T comparable](ctx context.Context, q TypedInterface[T]) (T, error) {
	if own := AsQueue(q); own != nil {
		return own.GetContext(ctx)
	}
	var none T
	return none, unsupported(q)
}

// GetBatch takes up to n items, see [queue.Queue.GetBatch]. Its error is [queue.ErrShutDown] where Get
// reports a shutdown. If q is another implementation, the error wraps errors.ErrUnsupported.
func GetBatch[T comparable](ctx context.Context, q TypedInterface[T], n int) ([]T, error) {
	if own := AsQueue(q); own != nil {
		return own.GetBatch(ctx, n)
	}
	return nil, unsupported(q)
}

// Drain shuts q down and waits until nothing is ready or in process, see [queue.Queue.Drain]. If q is
// another implementation it does nothing, and the error wraps errors.ErrUnsupported.
func Drain[T comparable](ctx context.Context, q TypedInterface[T]) error {
	own := AsQueue(q)
	if own == nil {
		return unsupported(q)
	}
	q.ShutDown()
	return own.Drain(ctx)
}

// Cancel removes a delayed copy of item and reports whether there was one. If q is another
// implementation it does nothing and returns false.
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
	return fmt.Errorf("workqueue: %T isn't a queue of this package: %w", q, errors.ErrUnsupported)
}
