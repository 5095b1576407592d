package client

import (
	"context"
	"reflect"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/rest"

	"github.com/kubewright/kubewright/runtime/gen/internal/pointee"
)

// ClientWithList is a Client of a resource that can be listed.
type ClientWithList[T Object, L runtime.Object] struct {
	Client[T]
	lister[L]
	listable
}

// NewWithList returns a client of a resource that can be listed. L is the type of its
// lists and must be a pointer to a struct. For the rest see New.
func NewWithList[T Object, L runtime.Object](
	rest rest.Interface, codec runtime.ParameterCodec, resource, namespace string, opts ...Option,
) *ClientWithList[T, L] {
	at := newEndpoint(rest, codec, resource, namespace, *new(L), opts)
	return &ClientWithList[T, L]{Client[T]{untyped{at}}, lister[L]{at}, listable{at}}
}

// lister adds the method that returns a list.
type lister[L runtime.Object] struct{ at *endpoint }

// List reads the objects that opts selects, or one page of them if opts has a limit. It gives up after
// opts.TimeoutSeconds, if set.
func (l *lister[L]) List(ctx context.Context, opts metav1.ListOptions) (L, error) {
	list := pointee.New[L]()
	return list, l.at.list(ctx, &opts, list)
}

// listable adds the method for lists that needs no type parameter, so that it is compiled once.
type listable struct{ at *endpoint }

// RESTResource describes the list and watch requests, so that informers can send them and
// decode objects as they arrive, see [Streaming].
func (l *listable) RESTResource() RESTResource {
	return RESTResource{Client: l.at.rest, Request: l.at.collection,
		List: reflect.TypeOf(l.at.none)}
}

func (e *endpoint) list(ctx context.Context, opts *metav1.ListOptions, into runtime.Object) error {
	return send(ctx, into, e.collection(e.rest, opts))
}
