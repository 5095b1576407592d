package client

import (
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/rest"
)

// endpoint is where the requests of one resource go to. It knows no types, so
// that what all resources share is compiled once.
type endpoint struct {
	// Nobody compares endpoints, so the compiler need not make what does.
	_ [0]func()

	rest            rest.Interface
	codec           runtime.ParameterCodec
	resource        string
	namespace       string
	clusterScoped   bool
	prefersProtobuf bool
	// none is the nil list; nil itself for what can't be listed.
	none runtime.Object
	// writes is where to note what is written, nil for nowhere.
	writes *Writes
}

// Option changes how a client asks. It is what one of the functions that return
// one has set, not a function, because the compiler would make that anew for each
// resource.
type Option struct {
	prefersProtobuf, clusterScoped bool
	writes                         *Writes
}

// PrefersProtobuf makes requests ask for protobuf and send it, unless the
// configuration of the REST client names a content type. It is for resources
// whose every version has a protobuf encoding: custom resources have none.
func PrefersProtobuf() Option {
	return Option{prefersProtobuf: true}
}

// ClusterScoped says that the resource has no namespaces. The extra methods
// (GetAs and its kin) of any other resource refuse an empty namespace before
// they send a request that names an object.
func ClusterScoped() Option {
	return Option{clusterScoped: true}
}

func newEndpoint(rest rest.Interface, codec runtime.ParameterCodec, resource, namespace string, none runtime.Object, opts []Option) *endpoint {
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

// to addresses the resource. Without a namespace the request spans all of
// them, and a server answers what it likes to a name that comes with it.
func (e *endpoint) to(request *rest.Request) *rest.Request {
	return request.
		UseProtobufAsDefaultIfPreferred(e.prefersProtobuf).
		NamespaceIfScoped(e.namespace, e.namespace != "").
		Resource(e.resource)
}

// strictlyTo addresses the resource for the extra methods. It sets the
// namespace of a namespaced resource even when it is empty, which rest refuses
// for requests that carry a name and for creations. That is how upstream's
// generated methods differ from its generic ones.
func (e *endpoint) strictlyTo(request *rest.Request) *rest.Request {
	return request.
		UseProtobufAsDefaultIfPreferred(e.prefersProtobuf).
		NamespaceIfScoped(e.namespace, !e.clusterScoped).
		Resource(e.resource)
}

// collection is the request of a list or, as opts have it, of a watch, by a
// client that stands for e.rest.
func (e *endpoint) collection(client rest.Interface, opts *metav1.ListOptions) *rest.Request {
	return e.to(client.Get()).
		VersionedParams(opts, e.codec).
		Timeout(timeout(opts))
}

// timeout is the time that the server was asked to end a list or watch after;
// the client gives up then too. Zero is no limit.
func timeout(opts *metav1.ListOptions) time.Duration {
	if opts.TimeoutSeconds == nil {
		return 0
	}
	return time.Duration(*opts.TimeoutSeconds) * time.Second
}
