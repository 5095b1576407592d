// Command watcher watches pods in ways that controllers use: a shared informer with
// an index, a handler, a typed handler, a queue.
package main

import (
	"context"
	"flag"
	"fmt"
	"log"
	"os"
	"os/signal"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/cache"
	"k8s.io/client-go/tools/clientcmd"
	"k8s.io/client-go/util/workqueue"
)

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

	queue := workqueue.NewTypedRateLimitingQueueWithConfig(
		workqueue.DefaultTypedControllerRateLimiter[cache.ObjectName](), workqueue.TypedRateLimitingQueueConfig[cache.ObjectName]{Name: "pods"})
	lw := cache.NewListWatchFromClient(client.CoreV1().RESTClient(), "pods", "default", fields.Everything())
	informer := cache.NewSharedIndexInformerWithOptions(lw, &corev1.Pod{}, cache.SharedIndexInformerOptions{Indexers: cache.Indexers{
		"node": func(obj any) ([]string, error) { return []string{obj.(*corev1.Pod).Spec.NodeName}, nil },
	}})
	plain, err := informer.AddEventHandler(cache.ResourceEventHandlerDetailedFuncs{
		AddFunc: func(obj any, initial bool) {
			fmt.Printf("added %s, initial %t\n", obj.(*corev1.Pod).Name, initial)
		},
	})
	if err != nil {
		log.Fatal(err)
	}
	typed, err := cache.NewTypedSharedIndexInformer[*corev1.Pod](informer).AddTypedEventHandler(cache.TypedResourceEventHandlerFuncs[*corev1.Pod]{
		AddFunc:    func(pod *corev1.Pod) { queue.Add(cache.MetaObjectToName(pod)) },
		UpdateFunc: func(_, pod *corev1.Pod) { queue.Add(cache.MetaObjectToName(pod)) },
		DeleteFunc: func(gone cache.DeletedObject[*corev1.Pod]) {
			queue.Add(cache.NewObjectName(gone.GetNamespace(), gone.GetName()))
		},
	})
	if err != nil {
		log.Fatal(err)
	}
	go informer.RunWithContext(ctx)
	if !cache.WaitFor(ctx, "pods", informer.HasSyncedChecker(), plain.HasSyncedChecker(), typed.HasSyncedChecker()) {
		log.Fatal("not synced")
	}
	onNode, err := informer.GetIndexer().ByIndex("node", "a")
	if err != nil {
		log.Fatal(err)
	}
	for _, obj := range onNode {
		fmt.Printf("by node a: %s\n", obj.(*corev1.Pod).Name)
	}
	for {
		name, shutdown := queue.Get()
		if shutdown {
			return
		}
		fmt.Printf("%s of the queue\n", name)
		queue.Forget(name)
		queue.Done(name)
	}
}
