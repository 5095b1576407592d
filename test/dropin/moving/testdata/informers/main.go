// Command informers uses client-go's informers of built-in types as controllers do: a factory
// with options, typed and untyped handlers, listers, an informer by resource, and one that the
// program makes itself.
package main

import (
	"context"
	"flag"
	"fmt"
	"log"
	"os"
	"os/signal"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/client-go/informers"
	coreinformers "k8s.io/client-go/informers/core/v1"
	"k8s.io/client-go/kubernetes"
	corelisters "k8s.io/client-go/listers/core/v1"
	"k8s.io/client-go/tools/cache"
	"k8s.io/client-go/tools/clientcmd"
)

// controller has what controllers are usually given.
type controller struct {
	pods       corelisters.PodLister
	configMaps cache.GenericLister
}

func newController(
	pods coreinformers.PodInformer, configMaps informers.GenericInformer,
) (*controller, error) {
	_, err := pods.Informer().AddEventHandler(cache.ResourceEventHandlerFuncs{
		AddFunc: func(obj any) { fmt.Printf("added pod %s\n", obj.(*corev1.Pod).Name) },
	})
	return &controller{pods: pods.Lister(), configMaps: configMaps.Lister()}, err
}

func main() {
	kubeconfig := flag.String("kubeconfig", "", "kubeconfig file")
	flag.Parse()
	config, err := clientcmd.BuildConfigFromFlags("", *kubeconfig)
	if err != nil {
		log.Fatal(err)
	}
	client, err := kubernetes.NewForConfig(config)
	if err != nil {
		log.Fatal(err)
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()

	factory := informers.NewSharedInformerFactoryWithOptions(client, time.Hour,
		informers.WithNamespace("default"),
		informers.WithTweakListOptions(func(o *metav1.ListOptions) { o.Limit = 500 }),
		informers.WithCustomResyncConfig(map[metav1.Object]time.Duration{&corev1.Pod{}: time.Minute}),
		informers.WithTransform(func(obj any) (any, error) {
			obj.(metav1.Object).SetManagedFields(nil)
			return obj, nil
		}))
	configMaps, err := factory.ForResource(corev1.SchemeGroupVersion.WithResource("configmaps"))
	if err != nil {
		log.Fatal(err)
	}
	c, err := newController(factory.Core().V1().Pods(), configMaps)
	if err != nil {
		log.Fatal(err)
	}
	handler := coreinformers.ConfigMapHandlerFuncs{
		AddFunc: func(c *corev1.ConfigMap) { fmt.Printf("added config map %s\n", c.Name) },
	}
	typed, err := factory.Core().V1().ConfigMaps().TypedInformer().AddTypedEventHandler(handler)
	if err != nil {
		log.Fatal(err)
	}
	factory.StartWithContext(ctx)
	defer factory.Shutdown()
	defer stop()
	if err := factory.WaitForCacheSyncWithContext(ctx).AsError(); err != nil {
		log.Fatal(err)
	}
	if !cache.WaitFor(ctx, "config maps", typed.HasSyncedChecker()) {
		log.Fatal("not synced")
	}
	pods, err := c.pods.Pods("default").List(labels.Everything())
	if err != nil {
		log.Fatal(err)
	}
	first, err := c.configMaps.ByNamespace("default").Get("first")
	if err != nil {
		log.Fatal(err)
	}
	newInformer := func(kubernetes.Interface, time.Duration) cache.SharedIndexInformer {
		log.Fatal("there is an informer of pods already")
		return nil
	}
	cached := factory.InformerFor(&corev1.Pod{}, newInformer).GetStore().ListKeys()
	name := first.(*corev1.ConfigMap).Name
	fmt.Printf("listed %d pods, got %s, %d in the cache\n", len(pods), name, len(cached))
	<-ctx.Done()
}
