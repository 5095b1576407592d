package listwatch

import (
	"context"
	"fmt"
	"reflect"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubewright/kubewright/runtime/internal/decode"
)

// typed is a source of objects that all are of type T, and what it is made of.
type typed[T any] struct{ untyped Source[any] }

func (s typed[T]) List(ctx context.Context, opts metav1.ListOptions, item func(T) error) (ListMeta, error) {
	return s.untyped.List(ctx, opts, func(obj any) error {
		object, err := as[T](obj)
		if err != nil {
			return err
		}
		return item(object)
	})
}

func (s typed[T]) Watch(ctx context.Context, opts metav1.ListOptions) (Stream[T], error) {
	stream, err := s.untyped.Watch(ctx, opts)
	if err != nil {
		return nil, err
	}
	return typedStream[T]{stream}, nil
}

// SetDecoding changes how the source streams. It is for a source that hasn't
// been read from yet.
func (s typed[T]) SetDecoding(opts DecodingOptions) {
	s.untyped.(interface{ SetDecoding(DecodingOptions) }).SetDecoding(opts)
}

// KeepUnchanged tells the source where to look for objects that are cached, and
// returns whether it may do so. It is for a source that hasn't been read from yet.
func (s typed[T]) KeepUnchanged(known func(decode.Identity) (T, bool)) bool {
	return s.untyped.(interface {
		KeepUnchanged(func(decode.Identity) (any, bool)) bool
	}).KeepUnchanged(func(id decode.Identity) (any, bool) { return known(id) })
}

// IsWatchListSemanticsUnSupported says of the client what reflectors ask.
func (s typed[T]) IsWatchListSemanticsUnSupported() bool {
	return streamsNoLists(s.untyped)
}

// Written asks the client what was written through it, see [Writing].
func (s typed[T]) Written(namespace string, after uint64) (Written, bool) {
	return s.untyped.(Writing).Written(namespace, after)
}

type typedStream[T any] struct{ Stream[any] }

func (s typedStream[T]) Next(ctx context.Context) (event Event[T], err error) {
	raw, err := s.Stream.Next(ctx)
	if err != nil {
		return event, err
	}
	event = Event[T]{Type: raw.Type, ResourceVersion: raw.ResourceVersion, InitialEventsEnd: raw.InitialEventsEnd}
	if raw.Object != nil {
		event.Object, err = as[T](raw.Object)
	}
	return event, err
}

func as[T any](obj any) (T, error) {
	typed, ok := obj.(T)
	if !ok {
		return typed, fmt.Errorf("a %T, expected %v", obj, reflect.TypeFor[T]())
	}
	return typed, nil
}
