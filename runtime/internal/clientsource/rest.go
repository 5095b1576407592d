package clientsource

import (
	"cmp"
	"context"
	"net/http"
	"reflect"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/features"
	"k8s.io/client-go/rest"

	"github.com/kubewright/kubewright/internal/clientgo"
	"github.com/kubewright/kubewright/runtime/gen/client"
	"github.com/kubewright/kubewright/runtime/internal/transport"
)

// collectionAt returns how to list and watch objects of type t. The requests go through a
// transport that reads them as streams, if client returns objects as the server sends them.
func collectionAt(r client.RESTResource, t reflect.Type) collection {
	own, ok := r.Client.(*rest.RESTClient)
	if !ok || own == nil {
		return collectionBy(r, r.Client, nil, "the REST client isn't client-go's")
	}
	switch converts := clientgo.Converts(own); {
	case features.FeatureGates().Enabled(features.ClientsAllowCBOR):
		return collectionBy(r, r.Client, nil, "CBOR is allowed")
	case converts != "":
		return collectionBy(r, r.Client, nil, converts)
	case !isList(r.List, t.Elem()):
		return collectionBy(r, r.Client, nil, "lists of type "+r.List.String()+" have no items")
	default:
		return collectionBy(r, wrapped(own), kindsOfClient(own, t, r.List), "")
	}
}

func collectionBy(
	r client.RESTResource, own rest.Interface, kinds *responseKinds, notStreamed string,
) collection {
	return collection{
		list: func(ctx context.Context, opts metav1.ListOptions) (runtime.Object, error) {
			list := reflect.New(r.List.Elem()).Interface().(runtime.Object)
			return list, r.Request(own, &opts).Do(ctx).Into(list)
		},
		watch: func(ctx context.Context, opts metav1.ListOptions) (watch.Interface, error) {
			opts.Watch = true
			return r.Request(own, &opts).Watch(ctx)
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
	original := cmp.Or(client.Client, http.DefaultClient)
	httpClient := *original
	httpClient.Transport = transport.WrapFor(original, httpClient.Transport)
	clone.Client = &httpClient
	return clone
}
