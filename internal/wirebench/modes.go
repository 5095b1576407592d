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
	"github.com/kubewright/kubewright/runtime/client"
	"github.com/kubewright/kubewright/runtime/informer"
	"github.com/kubewright/kubewright/runtime/listwatch"
)

// collection returns the client of a resource, from which a mode makes its informers.
type collection[T client.Object, L runtime.Object] func(*rest.Config) *client.ClientWithList[T, L]

func workloads(config *rest.Config) *client.ClientWithList[*Workload, *WorkloadList] {
	group := client.Group{Version: GroupVersion, APIPath: "/apis", Scheme: scheme, Codecs: codecs}
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

// modes are the measured modes. client-go's feature gate, set in the environment, decides whether lists are
// streamed as watches.
var modes = map[string]func(*rest.Config) cache.SharedIndexInformer{}

// The modes of a collection.
const (
	ours     = "ours"
	dropping = "drop"
	sharing  = "share"
	keeping  = "keep"
	facade   = "facade"
	clientGo = "client-go"
)

func init() {
	addModes[Workload]("workloads", workloads)
	addModes[corev1.Pod]("pods", pods)
	addModes[corev1.ConfigMap]("configmaps", configMaps)
}

func addModes[V any, T interface {
	*V
	client.Object
}, L runtime.Object](name string, of collection[T, L]) {
	noManagedFields := []string{"metadata.managedFields"}
	for mode, decoding := range map[string]listwatch.DecodingOptions{
		ours:     {},
		dropping: {Drop: noManagedFields},
		sharing:  {Drop: noManagedFields, ShareValues: true},
		keeping:  {KeepUnchanged: true},
	} {
		modes[name+"/"+mode] = func(config *rest.Config) cache.SharedIndexInformer {
			c := of(config)
			i := informer.NewShared[T, L](func() listwatch.Client[L] { return c }, informer.Options{})
			if err := informer.SetDecoding(i, decoding); err != nil {
				panic(err)
			}
			return i
		}
	}
	for mode, newInformer := range map[string]func(cache.ListerWatcher, runtime.Object, time.Duration, cache.Indexers) cache.SharedIndexInformer{
		facade: kwcache.NewSharedIndexInformer, clientGo: cache.NewSharedIndexInformer,
	} {
		modes[name+"/"+mode] = func(config *rest.Config) cache.SharedIndexInformer {
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
}
