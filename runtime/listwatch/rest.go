package listwatch

import (
	"context"
	"net/http"
	"reflect"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/serializer"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/features"
	"k8s.io/client-go/rest"
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
	switch client, ok := r.Client.(*rest.RESTClient); {
	case !ok || client == nil:
		return r.with(r.Client, nil, "the REST client isn't client-go's")
	case features.FeatureGates().Enabled(features.ClientsAllowCBOR):
		return r.with(r.Client, nil, "CBOR is allowed")
	case !decodesAsIs(client):
		return r.with(r.Client, nil, "the REST client converts objects")
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

// decodesAsIs reports whether client returns objects as the server sends them, with
// neither conversions nor defaults, as generated clients do. Only the type of its
// serializer shows that, in one of the client's unexported fields; a client where it isn't
// found isn't streamed.
func decodesAsIs(client *rest.RESTClient) bool {
	content := reflect.ValueOf(client).Elem().FieldByName("content")
	return content.IsValid() && holds(content, reflect.TypeFor[serializer.WithoutConversionCodecFactory](), 6)
}

// holds reports whether there is a value of type want in v, or in values that v refers to,
// at most that many steps away.
func holds(v reflect.Value, want reflect.Type, steps int) bool {
	if v.Type() == want {
		return true
	}
	if steps == 0 {
		return false
	}
	switch v.Kind() {
	case reflect.Pointer, reflect.Interface:
		return !v.IsNil() && holds(v.Elem(), want, steps-1)
	case reflect.Struct:
		for i := range v.NumField() {
			if holds(v.Field(i), want, steps-1) {
				return true
			}
		}
	}
	return false
}
