package client

import (
	"context"
	"reflect"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/kubewright/kubewright/runtime/listwatch"
)

// collection adds the methods for collections that need no type parameter, so that they
// are compiled once.
type collection struct{ at *endpoint }

// RESTResource describes the requests of lists and watches, so that informers can send
// them and decode objects as they arrive, see [listwatch.Streaming].
func (s *collection) RESTResource() listwatch.RESTResource {
	return listwatch.RESTResource{Client: s.at.rest, Request: s.at.collection,
		List: reflect.TypeOf(s.at.none)}
}

// DeleteCollection deletes the objects that listOpts selects.
func (s *collection) DeleteCollection(
	ctx context.Context, opts metav1.DeleteOptions, listOpts metav1.ListOptions,
) error {
	return s.at.to(s.at.rest.Delete()).
		VersionedParams(&listOpts, s.at.codec).
		Timeout(timeout(&listOpts)).
		Body(&opts).
		Do(ctx).Error()
}

func (e *endpoint) list(ctx context.Context, opts *metav1.ListOptions, into runtime.Object) error {
	return send(ctx, into, e.collection(e.rest, opts))
}
