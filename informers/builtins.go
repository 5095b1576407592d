package informers

import (
	"context"
	"reflect"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/cache"

	"github.com/kubewright/kubewright/runtime/informer"
)

//go:generate go run ../internal/builtins table.go

// builtIn is a built-in type: a line of table.go, which internal/builtins writes. The lines of a
// group are data that nobody refers to but its method and ForResource, so that programs which
// call neither don't link its clients.
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
	// lists is what an informer needs of one of its clients. It is the same type for all, so
	// that nothing of informers is compiled for each.
	lists = informer.ResourceClient[runtime.Object]
)

// of returns one of client-go's clients as informers need it. They read its lists in one piece.
func of[L runtime.Object](client informer.ResourceClient[L]) lists { return listing[L]{client} }

type listing[L runtime.Object] struct{ informer.ResourceClient[L] }

func (l listing[L]) List(ctx context.Context, opts metav1.ListOptions) (runtime.Object, error) {
	return l.ResourceClient.List(ctx, opts)
}

// find returns the first of some types that is wanted, nil if none is.
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

// newInformer returns an informer of the type. client-go's groups show it as a typed one.
func (b *builtIn) newInformer(c set, opts informer.Options) cache.SharedIndexInformer {
	client := func() lists { return b.namespaced(c, opts.Namespace) }
	if b.namespaced == nil {
		opts.Namespace = ""
		client = func() lists { return b.clusterWide(c) }
	}
	return informer.NewUntyped(reflect.TypeOf(b.object), client, opts)
}
