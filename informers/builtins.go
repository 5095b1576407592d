package informers

import (
	"context"
	"reflect"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/cache"
	"k8s.io/utils/ptr"

	"github.com/kubewright/kubewright/internal/clientgo"
	kubeclient "github.com/kubewright/kubewright/runtime/gen/client"
	"github.com/kubewright/kubewright/runtime/gen/informer"
)

//go:generate go run ../internal/builtins table.go

// builtIn is a built-in type: a line of table.go, which internal/builtins generates. Only the
// group's method and ForResource refer to the lines of a group, so programs that call neither
// don't link its clients.
type builtIn struct {
	group, version, resource string
	// object is a nil pointer of the type.
	object runtime.Object
	// One of these returns the type's client; the other is nil.
	namespaced  func(c set, ns string) lists
	clusterWide func(c set) lists
}

type (
	// set is client-go's clientset.
	set = kubernetes.Interface
	// lists is the part of one of its clients that an informer needs. It is the same type for
	// all, so that no code of informers is compiled for each.
	lists = informer.ResourceClient[runtime.Object]
)

// adaptClient adapts one of client-go's clients to lists.
func adaptClient[L runtime.Object](client informer.ResourceClient[L]) lists {
	return listing[L]{client}
}

type listing[L runtime.Object] struct{ informer.ResourceClient[L] }

func (l listing[L]) List(ctx context.Context, opts metav1.ListOptions) (runtime.Object, error) {
	return l.ResourceClient.List(ctx, opts)
}

// inner returns the client, and the type of its lists.
func (l listing[L]) inner() (client any, list reflect.Type) {
	return l.ResourceClient, reflect.TypeFor[L]()
}

// streaming is a client whose lists and watches informers read as streams.
type streaming struct {
	lists
	resource kubeclient.RESTResource
}

func (s streaming) RESTResource() kubeclient.RESTResource { return s.resource }

// Written returns the writes that the client has recorded, if it is a generated client.
func (s streaming) Written(namespace string, after uint64) (kubeclient.Written, bool) {
	client, _ := s.lists.(interface{ inner() (any, reflect.Type) }).inner()
	if writing, ok := client.(kubeclient.Writing); ok {
		return writing.Written(namespace, after)
	}
	return kubeclient.Written{}, false
}

// WrittenSince is Written for a client that numbers its writes.
func (s streaming) WrittenSince(namespace string, restored, after uint64) (kubeclient.Written, bool) {
	client, _ := s.lists.(interface{ inner() (any, reflect.Type) }).inner()
	if numbering, ok := client.(interface {
		WrittenSince(namespace string, restored, after uint64) (kubeclient.Written, bool)
	}); ok {
		return numbering.WrittenSince(namespace, restored, after)
	}
	return s.Written(namespace, after)
}

// streamed returns c as a client that streams, if it is client-go's own client of the type, or if it
// implements kubeclient.Streaming. Wrappers and fakes may change what they list, so informers call
// their methods instead.
func (b *builtIn) streamed(c lists) lists {
	wrapper, ok := c.(interface{ inner() (any, reflect.Type) })
	if !ok {
		return c
	}
	client, list := wrapper.inner()
	if own, ok := client.(kubeclient.Streaming); ok {
		return streaming{c, own.RESTResource()}
	}
	own, ok := client.(interface {
		GetClient() rest.Interface
		GetNamespace() string
	})
	if !ok || !clientgo.IsTypedClient(client) {
		return c
	}
	return streaming{c, kubeclient.RESTResource{Client: own.GetClient(), List: list,
		Request: func(client rest.Interface, opts *metav1.ListOptions) *rest.Request {
			timeout := time.Duration(ptr.Deref(opts.TimeoutSeconds, 0)) * time.Second
			return client.Get().
				UseProtobufAsDefault().
				NamespaceIfScoped(own.GetNamespace(), own.GetNamespace() != "").
				Resource(b.resource).
				VersionedParams(opts, scheme.ParameterCodec).
				Timeout(timeout)
		}}}
}

// find returns the first type for which wanted returns true, or nil.
func find(types []builtIn, wanted func(*builtIn) bool) *builtIn {
	for i := range types {
		if b := &types[i]; wanted(b) {
			return b
		}
	}
	return nil
}

func (b *builtIn) gvr() schema.GroupVersionResource {
	return schema.GroupVersionResource{Group: b.group, Version: b.version, Resource: b.resource}
}

// newInformer returns an informer of the type. It is compiled once for all types. client-go's groups wrap it
// in a typed informer.
func (b *builtIn) newInformer(c set, opts informer.Options) cache.SharedIndexInformer {
	client := func() lists { return b.streamed(b.namespaced(c, opts.Namespace)) }
	if b.namespaced == nil {
		opts.Namespace = ""
		client = func() lists { return b.streamed(b.clusterWide(c)) }
	}
	opts.Type = reflect.TypeOf(b.object)
	return informer.NewShared[metav1.Object](client, opts)
}
