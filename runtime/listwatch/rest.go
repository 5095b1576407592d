package listwatch

import (
	"context"
	"net/http"
	"reflect"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/features"
	"k8s.io/client-go/rest"

	"github.com/kubewright/kubewright/internal/clientgo"
)

// RESTResource describes how to request a resource with client-go's REST client.
type RESTResource struct {
	// Client sends the requests.
	Client rest.Interface
	// Request makes the request of a list, or of a watch if opts.Watch is set.
	Request func(client rest.Interface, opts *metav1.ListOptions) *rest.Request
	// List is the type of the resource's lists, a pointer.
	List reflect.Type
}

// collection returns how to list and watch objects of type t. The requests go through a
// transport that reads them as streams, if client returns objects as the server sends them.
func (r RESTResource) collection(t reflect.Type) collection {
	client, ok := r.Client.(*rest.RESTClient)
	if !ok || client == nil {
		return r.with(r.Client, nil, "the REST client isn't client-go's")
	}
	switch converts := clientgo.Converts(client); {
	case features.FeatureGates().Enabled(features.ClientsAllowCBOR):
		return r.with(r.Client, nil, "CBOR is allowed")
	case converts != "":
		return r.with(r.Client, nil, converts)
	case !isList(r.List, t.Elem()):
		return r.with(r.Client, nil, "lists of type "+r.List.String()+" have no items")
	default:
		return r.with(wrapped(client), kindsOfClient(client, t, r.List), "")
	}
}

func (r RESTResource) with(client rest.Interface, kinds *responseKinds, notStreamed string) collection {
	return collection{
		list: func(ctx context.Context, opts metav1.ListOptions) (runtime.Object, error) {
			list := reflect.New(r.List.Elem()).Interface().(runtime.Object)
			err := r.Request(client, &opts).Do(ctx).Into(list)
			return list, err
		},
		watch: func(ctx context.Context, opts metav1.ListOptions) (watch.Interface, error) {
			opts.Watch = true
			return r.Request(client, &opts).Watch(ctx)
		},
		kinds:       kinds,
		notStreamed: notStreamed,
	}
}

// wrapped returns a copy of a client with the transport of Wrap in its HTTP client.
//
// A RESTClient consists of unexported fields, which reflection can copy as a
// whole. vet rejects such a copy because of a flag that is only written where
// CBOR is allowed, and there nothing is streamed.
func wrapped(client *rest.RESTClient) *rest.RESTClient {
	clone := new(rest.RESTClient)
	reflect.ValueOf(clone).Elem().Set(reflect.ValueOf(client).Elem())
	httpClient := *http.DefaultClient
	if client.Client != nil {
		httpClient = *client.Client
	}
	httpClient.Transport = Wrap(httpClient.Transport)
	clone.Client = &httpClient
	return clone
}
