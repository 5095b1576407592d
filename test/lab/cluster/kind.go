package cluster

import (
	"context"
	"strconv"

	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/tools/cache"

	"github.com/kubewright/kubewright/runtime/runtimetest"
)

// Kind is a type of objects, all of them in namespaces.
type Kind struct {
	schema.GroupVersionResource

	cluster   *Cluster
	server    server
	newObject func() Object
	// first is the version of states[0].
	first  int64
	states []State
}

// kinds returns the types of a new cluster: two of the core group, one of another.
func kinds(c *Cluster) []*Kind {
	return []*Kind{
		newKind[corev1.ConfigMap, corev1.ConfigMapList](c, corev1.SchemeGroupVersion, "configmaps"),
		newKind[corev1.Secret, corev1.SecretList](c, corev1.SchemeGroupVersion, "secrets"),
		newKind[coordinationv1.Lease, coordinationv1.LeaseList](c, coordinationv1.SchemeGroupVersion, "leases"),
	}
}

func newKind[TV, LV any, T interface {
	*TV
	Object
}, L interface {
	*LV
	runtime.Object
}](c *Cluster, version schema.GroupVersion, resource string) *Kind {
	s := runtimetest.NewServer[TV, LV, T, L]()
	first, _ := strconv.ParseInt(s.Version(), 10, 64)
	return &Kind{
		GroupVersionResource: version.WithResource(resource), cluster: c,
		server: typed[T, L]{s}, newObject: func() Object { return T(new(TV)) },
		first: first, states: []State{{}},
	}
}

// server is a runtimetest.Server of any type.
type server interface {
	create(Object)
	update(Object)
	remove(cache.ObjectName)
	all() []Object
	list(context.Context, metav1.ListOptions) (runtime.Object, error)

	Watch(context.Context, metav1.ListOptions) (watch.Interface, error)
	Version() string
	Skip(int64)
	Compact()
	Bookmark()
	CloseWatches()
	MaxPage(int64)
	WatchCache(bool)
	Watches() int
	ForgetRequests()
}

type typed[T Object, L runtime.Object] struct{ *runtimetest.Server[T, L] }

func (t typed[T, L]) create(obj Object) { t.Create(obj.(T)) }
func (t typed[T, L]) update(obj Object) { t.Update(obj.(T)) }

func (t typed[T, L]) remove(name cache.ObjectName) { t.Delete(name.Namespace, name.Name) }

func (t typed[T, L]) all() (all []Object) {
	for _, obj := range t.Objects() {
		all = append(all, obj)
	}
	return all
}

func (t typed[T, L]) list(ctx context.Context, opts metav1.ListOptions) (runtime.Object, error) {
	list, err := t.List(ctx, opts)
	if err != nil {
		return nil, err
	}
	return list, nil
}
