package client

import (
	"context"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/util/apply"
)

// The requests of clients of any type, whose answer goes into an object that they
// are given. They know no types, so that they are compiled once.

func (e *endpoint) get(ctx context.Context, name string, opts *metav1.GetOptions, into runtime.Object) error {
	return e.to(e.rest.Get()).
		Name(name).
		VersionedParams(opts, e.codec).
		Do(ctx).Into(into)
}

func (e *endpoint) create(ctx context.Context, obj runtime.Object, opts *metav1.CreateOptions, into runtime.Object) error {
	err := e.to(e.rest.Post()).
		VersionedParams(opts, e.codec).
		Body(obj).
		Do(ctx).Into(into)
	e.wrote(into, err)
	return err
}

// update replaces obj, or a sub-resource of it unless that is "".
func (e *endpoint) update(ctx context.Context, obj Object, subresource string, opts *metav1.UpdateOptions, into runtime.Object) error {
	request := e.to(e.rest.Put()).Name(obj.GetName())
	if subresource != "" {
		request = request.SubResource(subresource)
	}
	err := request.
		VersionedParams(opts, e.codec).
		Body(obj).
		Do(ctx).Into(into)
	e.wrote(into, err)
	return err
}

func (e *endpoint) patch(ctx context.Context, name string, pt types.PatchType, data []byte, opts *metav1.PatchOptions, subresources []string, into runtime.Object) error {
	err := e.to(e.rest.Patch(pt)).
		Name(name).
		SubResource(subresources...).
		VersionedParams(opts, e.codec).
		Body(data).
		Do(ctx).Into(into)
	e.wrote(into, err)
	return err
}

// apply applies a configuration, of which none is the nil one. The answer goes
// into what newObject returns, which is called unless the configuration is
// refused before it is sent.
func (e *endpoint) apply(ctx context.Context, configuration, none Configuration, opts metav1.ApplyOptions, newObject func() runtime.Object, subresources ...string) error {
	if configuration == none {
		return errNoObject
	}
	name := configuration.GetName()
	if name == nil {
		return errNoName
	}
	request, err := apply.NewRequest(e.rest, configuration)
	if err != nil {
		return err
	}
	into := newObject()
	patchOpts := opts.ToPatchOptions()
	err = e.to(request).
		Name(*name).
		SubResource(subresources...).
		VersionedParams(&patchOpts, e.codec).
		Do(ctx).Into(into)
	e.wrote(into, err)
	return err
}
