package client

import (
	"context"
	"reflect"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/kubewright/kubewright/runtime/listwatch"
)

// collection adds what of the methods for collections knows no types.
type collection struct {
	at *endpoint
	// list is the type of lists, a pointer.
	list reflect.Type
}

// ListWatchSource returns a source that decodes objects as they arrive. It is
// for informers, see [listwatch.Streaming]; those of one collection share a
// decoding.
func (s *collection) ListWatchSource(decoding *listwatch.Decoding) listwatch.Source[any] {
	return listwatch.FromREST(listwatch.RESTResource{Client: s.at.rest, Request: s.at.collection, List: s.list}, decoding)
}

// DeleteCollection deletes the objects that listOpts select.
func (s *collection) DeleteCollection(ctx context.Context, opts metav1.DeleteOptions, listOpts metav1.ListOptions) error {
	return s.at.to(s.at.rest.Delete()).
		VersionedParams(&listOpts, s.at.codec).
		Timeout(timeout(&listOpts)).
		Body(&opts).
		Do(ctx).Error()
}

func (e *endpoint) list(ctx context.Context, opts metav1.ListOptions, into runtime.Object) error {
	return e.collection(e.rest, opts).Do(ctx).Into(into)
}
