package client

import (
	"context"
	"errors"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/rest"

	"github.com/kubewright/kubewright/runtime/gen/internal/pointee"
)

// The texts are upstream's: a program can recognise these errors only by their texts.
var (
	errNoObject = errors.New("object provided to Apply must not be nil")
	errNoName   = errors.New("obj.Name must be provided to Apply")
)

// Configuration is a pointer to an apply configuration of an object with metadata, such as
// *PodApplyConfiguration. It doesn't embed comparable: with it, the compiler would compile generic code for
// each configuration instead of once for all.
type Configuration interface {
	GetName() *string
}

// ClientWithApply is a Client of a resource that has apply configurations.
type ClientWithApply[T Object, C Configuration] struct {
	Client[T]
	applier[T, C]
}

// NewWithApply returns a client of a resource that has apply configurations of the
// pointer type C. For the rest see New.
func NewWithApply[T Object, C Configuration](
	rest rest.Interface, codec runtime.ParameterCodec, resource, namespace string, opts ...Option,
) *ClientWithApply[T, C] {
	at := newEndpoint(rest, codec, resource, namespace, nil, opts)
	return &ClientWithApply[T, C]{Client[T]{untyped{at}}, applier[T, C]{at}}
}

// ClientWithListAndApply is a Client of a resource that can be listed and has
// apply configurations.
type ClientWithListAndApply[T Object, L runtime.Object, C Configuration] struct {
	Client[T]
	lister[L]
	listable
	applier[T, C]
}

// NewWithListAndApply returns a client of a resource that can be listed and has apply
// configurations; see NewWithList and NewWithApply.
func NewWithListAndApply[T Object, L runtime.Object, C Configuration](
	rest rest.Interface, codec runtime.ParameterCodec, resource, namespace string, opts ...Option,
) *ClientWithListAndApply[T, L, C] {
	at := newEndpoint(rest, codec, resource, namespace, *new(L), opts)
	return &ClientWithListAndApply[T, L, C]{Client[T]{untyped{at}}, lister[L]{at}, listable{at},
		applier[T, C]{at}}
}

// applier adds server-side apply.
type applier[T Object, C Configuration] struct{ at *endpoint }

// Apply merges the fields that configuration sets into the object of its name, or
// creates it, and returns the object as stored. opts.FieldManager then owns the fields.
func (a *applier[T, C]) Apply(
	ctx context.Context, configuration C, opts metav1.ApplyOptions,
) (result T, err error) {
	err = a.at.apply(ctx, configuration, opts,
		func() runtime.Object { result = pointee.New[T](); return result })
	return result, err
}

// ApplyStatus is Apply for the status subresource. It doesn't create an object.
func (a *applier[T, C]) ApplyStatus(
	ctx context.Context, configuration C, opts metav1.ApplyOptions,
) (result T, err error) {
	err = a.at.apply(ctx, configuration, opts,
		func() runtime.Object { result = pointee.New[T](); return result }, "status")
	return result, err
}
