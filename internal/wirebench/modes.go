package wirebench

import (
	"context"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/watch"
	clientscheme "k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/cache"

	kwcache "github.com/kubewright/kubewright/runtime/cache"
	"github.com/kubewright/kubewright/runtime/gen/client"
	gen "github.com/kubewright/kubewright/runtime/gen/informer"
	"github.com/kubewright/kubewright/runtime/informer"
)

// Modes are the modes that a process may measure, by name: each makes an informer. client-go's feature gate,
// set in the environment, decides whether lists are streamed as watches.
type Modes map[string]func(*rest.Config) cache.SharedIndexInformer

// own are the modes of this package.
var own = Modes{}

// Informer makes the informer of one of the modes of this package, such as workloads/drop.
func Informer(mode string, config *rest.Config) cache.SharedIndexInformer { return own[mode](config) }

// collection returns the client of a resource, from which a mode makes its informers.
type collection[T client.Object, L runtime.Object] func(*rest.Config) *client.ClientWithList[T, L]

func workloads(config *rest.Config) *client.ClientWithList[*Workload, *WorkloadList] {
	group := client.Group{Version: GroupVersion, APIPath: "/apis", Scheme: Scheme, Codecs: codecs}
	c := must(group.RESTClient(config, must(rest.HTTPClientFor(config))))
	return client.NewWithList[*Workload, *WorkloadList](c, parameters, "workloads", "")
}

func pods(config *rest.Config) *client.ClientWithList[*corev1.Pod, *corev1.PodList] {
	config.ContentType = runtime.ContentTypeProtobuf
	group := client.Group{Version: corev1.SchemeGroupVersion, APIPath: "/api", Scheme: clientscheme.Scheme,
		Codecs: clientscheme.Codecs}
	c := must(group.RESTClient(config, must(rest.HTTPClientFor(config))))
	return client.NewWithList[*corev1.Pod, *corev1.PodList](c, clientscheme.ParameterCodec, "pods", "")
}

func configMaps(config *rest.Config) *client.ClientWithList[*corev1.ConfigMap, *corev1.ConfigMapList] {
	group := client.Group{Version: corev1.SchemeGroupVersion, APIPath: "/api", Scheme: clientscheme.Scheme,
		Codecs: clientscheme.Codecs}
	c := must(group.RESTClient(config, must(rest.HTTPClientFor(config))))
	return client.NewWithList[*corev1.ConfigMap, *corev1.ConfigMapList](c, clientscheme.ParameterCodec,
		"configmaps", "")
}

// The modes of a collection.
const (
	ours     = "ours"
	dropping = "drop"
	// droppingHere is dropping without asking the server.
	droppingHere = "drop-here"
	sharing      = "share"
	keeping      = "keep"
	facade       = "facade"
	clientGo     = "client-go"
	// stripping is client-go with a transform that removes managedFields.
	stripping = "client-go-strip"
)

// Generated are the ways to read a collection with a generated client.
var Generated = []Option{
	{"", ours, clientGo},
	{"no-managed-fields", dropping, stripping},
	{"no-managed-fields,shared-values", sharing, stripping},
}

func init() {
	addModes[Workload]("workloads", workloads)
	addModes[corev1.Pod]("pods", pods)
	addModes[corev1.ConfigMap]("configmaps", configMaps)
}

// noManagedFields is what ours drops where theirs strips.
var noManagedFields = []string{"metadata.managedFields"}

func addModes[V any, T interface {
	*V
	client.Object
}, L runtime.Object](name string, of collection[T, L]) {
	for mode, decoding := range map[string]informer.Options{
		ours:     {},
		dropping: {Drop: noManagedFields},
		sharing:  {Drop: noManagedFields, ShareValues: true},
		keeping:  {KeepUnchanged: true},

		droppingHere: {Drop: noManagedFields, NoServerDrop: true},
	} {
		own[name+"/"+mode] = func(config *rest.Config) cache.SharedIndexInformer {
			c := of(config)
			i := gen.NewShared[T, L](func() gen.ResourceClient[L] { return c }, gen.Options{})
			return decodingWith(i, decoding)
		}
	}
	type constructor func(
		cache.ListerWatcher, runtime.Object, time.Duration, cache.Indexers,
	) cache.SharedIndexInformer
	for mode, newInformer := range map[string]constructor{
		facade: kwcache.NewSharedIndexInformer, clientGo: cache.NewSharedIndexInformer,
	} {
		own[name+"/"+mode] = func(config *rest.Config) cache.SharedIndexInformer {
			c := of(config)
			return newInformer(&cache.ListWatch{
				ListWithContextFunc: func(ctx context.Context, opts metav1.ListOptions) (runtime.Object, error) {
					return c.List(ctx, opts)
				},
				WatchFuncWithContext: func(ctx context.Context, opts metav1.ListOptions) (watch.Interface, error) {
					return c.Watch(ctx, opts)
				},
			}, T(new(V)), 0, cache.Indexers{})
		}
	}
	own[name+"/"+stripping] = func(config *rest.Config) cache.SharedIndexInformer {
		return stripped(own[name+"/"+clientGo](config))
	}
}

// decodingWith sets the decoding options of an informer of ours.
func decodingWith(i cache.SharedIndexInformer, decoding informer.Options) cache.SharedIndexInformer {
	if err := informer.Configure(i, decoding); err != nil {
		panic(err)
	}
	return i
}

// stripped makes an informer remove managedFields.
func stripped(i cache.SharedIndexInformer) cache.SharedIndexInformer {
	err := i.SetTransform(func(obj any) (any, error) {
		obj.(metav1.Object).SetManagedFields(nil)
		return obj, nil
	})
	if err != nil {
		panic(err)
	}
	return i
}
