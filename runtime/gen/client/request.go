package client

import (
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/rest"
)

// endpoint is the address of a resource's requests. It has no type parameter, so that the
// code that all resources share is compiled once.
type endpoint struct {
	// Endpoints are never compared. This keeps the compiler from generating the comparison.
	_ [0]func()

	rest            rest.Interface
	codec           runtime.ParameterCodec
	resource        string
	namespace       string
	clusterScoped   bool
	prefersProtobuf bool
	// none is a nil pointer of the list's type, or nil if the resource can't be listed.
	none runtime.Object
	// writes records the writes. It may be nil.
	writes *Writes
}

// Option changes a client's requests. It is a struct, not a function, because the compiler would compile a
// function anew for each resource.
type Option struct {
	prefersProtobuf, clusterScoped bool
	writes                         *Writes
}

// PrefersProtobuf makes requests send and accept protobuf, unless the configuration of the REST client sets a
// content type. It is for resources that have a protobuf encoding in every version, which custom resources
// don't have.
func PrefersProtobuf() Option {
	return Option{prefersProtobuf: true}
}

// ClusterScoped marks the resource as cluster-scoped. Without it, the additional methods (GetAs, ListAs,
// CreateAs, UpdateAs, PatchAs, ApplyAs) refuse an empty namespace in a request that names an object.
func ClusterScoped() Option {
	return Option{clusterScoped: true}
}

func newEndpoint(
	rest rest.Interface, codec runtime.ParameterCodec, resource, namespace string, none runtime.Object,
	opts []Option,
) *endpoint {
	e := &endpoint{rest: rest, codec: codec, resource: resource, namespace: namespace, none: none}
	for _, opt := range opts {
		e.prefersProtobuf = e.prefersProtobuf || opt.prefersProtobuf
		e.clusterScoped = e.clusterScoped || opt.clusterScoped
		if opt.writes != nil {
			e.writes = opt.writes
		}
	}
	return e
}

// to addresses the resource. Without a namespace the request spans all namespaces; it
// doesn't check that a request with a name has one.
func (e *endpoint) to(request *rest.Request) *rest.Request {
	return request.
		UseProtobufAsDefaultIfPreferred(e.prefersProtobuf).
		NamespaceIfScoped(e.namespace, e.namespace != "").
		Resource(e.resource)
}

// strictlyTo addresses the resource for the additional methods (GetAs and the like). It sets
// the namespace of a namespaced resource even if it is empty; package rest refuses an empty
// namespace for creations and for requests with a name. Upstream's generated methods
// differ from its generic ones in the same way.
func (e *endpoint) strictlyTo(request *rest.Request) *rest.Request {
	return request.
		UseProtobufAsDefaultIfPreferred(e.prefersProtobuf).
		NamespaceIfScoped(e.namespace, !e.clusterScoped).
		Resource(e.resource)
}

// collection returns the request of a list or, if opts say so, of a watch. client takes
// the place of e.rest.
func (e *endpoint) collection(client rest.Interface, opts *metav1.ListOptions) *rest.Request {
	return e.to(client.Get()).
		VersionedParams(opts, e.codec).
		Timeout(timeout(opts))
}

// timeout returns the time after which the server should end a list or watch. The client
// gives up after that time, too. Zero means no limit.
func timeout(opts *metav1.ListOptions) time.Duration {
	if opts.TimeoutSeconds == nil {
		return 0
	}
	return time.Duration(*opts.TimeoutSeconds) * time.Second
}
