package cache

import (
	"cmp"
	"fmt"
	"reflect"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/kubewright/kubewright/runtime/internal/clientsource"
	"github.com/kubewright/kubewright/runtime/internal/engine"
	"github.com/kubewright/kubewright/runtime/internal/indexer"
	"github.com/kubewright/kubewright/runtime/internal/reflector"
)

// NewSharedInformer is [NewSharedIndexInformerWithOptions] with a resync period for handlers that name none.
func NewSharedInformer(
	lw ListerWatcher, exampleObject runtime.Object, defaultEventHandlerResyncPeriod time.Duration,
) SharedInformer {
	return NewSharedIndexInformer(lw, exampleObject, defaultEventHandlerResyncPeriod, Indexers{})
}

// NewSharedIndexInformer is [NewSharedInformer] with indexes.
func NewSharedIndexInformer(
	lw ListerWatcher, exampleObject runtime.Object, defaultEventHandlerResyncPeriod time.Duration,
	indexers Indexers,
) SharedIndexInformer {
	return NewSharedIndexInformerWithOptions(lw, exampleObject, SharedIndexInformerOptions{
		ResyncPeriod: defaultEventHandlerResyncPeriod,
		Indexers:     indexers,
	})
}

// NewSharedIndexInformerWithOptions returns an informer of the objects that lw lists and watches, keyed by
// namespace/name, to which the functions of package informer apply. It logs and drops events with objects of
// another type than exampleObject's, unless that is nil. It panics if an index function is nil.
func NewSharedIndexInformerWithOptions(
	lw ListerWatcher, exampleObject runtime.Object, options SharedIndexInformerOptions,
) SharedIndexInformer {
	return engine.New(engine.Config[string]{
		Source:          clientsource.FromListerWatcher(lw, exampleObject),
		Keys:            indexer.Strings(DeletionHandlingMetaNamespaceKeyFunc),
		ResyncPeriod:    options.ResyncPeriod,
		Identifier:      func() InformerNameAndResource { return options.Identifier },
		MetricsProvider: options.InformerMetricsProvider,
		TypeName:        fmt.Sprintf("%T", exampleObject),
		Name:            nameByKind(exampleObject),
		Description:     cmp.Or(options.ObjectDescription, reflector.DescribeType(exampleObject)),
	}, options.Indexers)
}

// nameByKind names an informer after the kind of its example, or returns "" if the
// example has no kind.
func nameByKind(example runtime.Object) string {
	if v := reflect.ValueOf(example); !v.IsValid() || v.Kind() == reflect.Pointer && v.IsNil() {
		return ""
	}
	version, kind := example.GetObjectKind().GroupVersionKind().ToAPIVersionAndKind()
	if kind == "" {
		return ""
	}
	name := "informer of " + version + " " + kind
	switch example.(type) {
	case *unstructured.Unstructured:
		return name + " (unstructured)"
	case *metav1.PartialObjectMetadata:
		return name + " (metadata)"
	}
	return name
}

// NewTypedSharedIndexInformer returns i with typed handlers and indexes. They panic for objects of another
// type than T.
func NewTypedSharedIndexInformer[T Object](i SharedIndexInformer) TypedSharedIndexInformer[T] {
	return engine.Typed[T](i)
}
