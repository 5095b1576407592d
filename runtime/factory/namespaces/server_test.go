package namespaces_test

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/watch"
	clienttesting "k8s.io/client-go/testing"
	"k8s.io/client-go/tools/cache"

	"github.com/kubewright/kubewright/runtime/factory/namespaces"
	genfactory "github.com/kubewright/kubewright/runtime/gen/factory"
	"github.com/kubewright/kubewright/runtime/gen/informer"
)

// namespacedServer is a server that allows reads of single namespaces only, except those that are closed.
type namespacedServer struct {
	clienttesting.ObjectTracker
	mu      sync.Mutex
	version int
	closed  map[string]bool
}

var configMapsResource = corev1.SchemeGroupVersion.WithResource("configmaps")

func newNamespacedServer() *namespacedServer {
	scheme := runtime.NewScheme()
	if err := corev1.AddToScheme(scheme); err != nil {
		panic(err)
	}
	return &namespacedServer{ObjectTracker: clienttesting.NewObjectTracker(scheme, nil),
		closed: map[string]bool{}}
}

func (*namespacedServer) IsWatchListSemanticsUnSupported() bool { return true }

func (s *namespacedServer) put(namespace, name string) {
	s.version++
	obj := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name,
		ResourceVersion: fmt.Sprint(1000 + s.version)}}
	if err := s.Create(configMapsResource, obj, namespace); err != nil {
		if err := s.Update(configMapsResource, obj, namespace); err != nil {
			panic(err)
		}
	}
}

// quarter is the client of a namespace.
type quarter struct {
	*namespacedServer
	namespace string
}

func (q quarter) refused() error {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.namespace == "" || q.closed[q.namespace] {
		return apierrors.NewForbidden(schema.GroupResource{Resource: "configmaps"},
			"", errors.New("not here"))
	}
	return nil
}

func (q quarter) List(_ context.Context, _ metav1.ListOptions) (*corev1.ConfigMapList, error) {
	if err := q.refused(); err != nil {
		return nil, err
	}
	list, err := q.namespacedServer.List(configMapsResource,
		corev1.SchemeGroupVersion.WithKind("ConfigMap"), q.namespace)
	if err != nil {
		return nil, err
	}
	return list.(*corev1.ConfigMapList), nil
}

func (q quarter) Watch(_ context.Context, opts metav1.ListOptions) (watch.Interface, error) {
	return q.namespacedServer.Watch(configMapsResource, q.namespace, opts)
}

// inNamespace takes the place of a generated factory that is limited to a namespace.
type inNamespace struct {
	*genfactory.Factory[quarter]
}

func (f inNamespace) configMaps() cache.SharedIndexInformer {
	return f.InformerFor(&corev1.ConfigMap{},
		func(c quarter, resync time.Duration) cache.SharedIndexInformer {
			return informer.NewShared[*corev1.ConfigMap](
				func() informer.ResourceClient[*corev1.ConfigMapList] { return c },
				informer.Options{Client: c.namespacedServer, ResyncPeriod: resync,
					Indexers: cache.Indexers{cache.NamespaceIndex: cache.MetaNamespaceIndexFunc}})
		})
}

func (s *namespacedServer) namespaces() *namespaces.Set[inNamespace] {
	return namespaces.New(func(namespace string) inNamespace {
		return inNamespace{genfactory.New(quarter{s, namespace}, 0)}
	})
}

// knowing is a handler that tracks the objects that its calls report, and checks that calls don't overlap.
type knowing struct {
	t     *testing.T
	busy  atomic.Bool
	known map[string]string
}

func (k *knowing) told(obj any, gone bool) {
	if !k.busy.CompareAndSwap(false, true) {
		k.t.Error("two calls at a time")
	}
	defer k.busy.Store(false)
	key, err := cache.DeletionHandlingMetaNamespaceKeyFunc(obj)
	if err != nil {
		k.t.Error(err)
	}
	if _, known := k.known[key]; gone && !known {
		k.t.Errorf("%s is gone, and was never there", key)
	}
	delete(k.known, key)
	if !gone {
		k.known[key] = obj.(*corev1.ConfigMap).ResourceVersion
	}
}

func (k *knowing) OnAdd(obj any, _ bool)  { k.told(obj, false) }
func (k *knowing) OnUpdate(_, newObj any) { k.told(newObj, false) }
func (k *knowing) OnDelete(obj any)       { k.told(obj, true) }
