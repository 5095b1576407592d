// Command dynamic watches Pods with dynamic informers.
package main

import (
	"context"
	"flag"
	"fmt"
	"log"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/dynamic/dynamicinformer"
	"k8s.io/client-go/tools/cache"
	"k8s.io/client-go/tools/clientcmd"
)

func main() {
	kubeconfig := flag.String("kubeconfig", "", "the path of a kubeconfig")
	flag.Parse()
	config, err := clientcmd.BuildConfigFromFlags("", *kubeconfig)
	if err != nil {
		log.Fatal(err)
	}
	client := dynamic.NewForConfigOrDie(config)
	factory := dynamicinformer.NewDynamicSharedInformerFactory(client, time.Hour)
	pods := factory.ForResource(corev1.SchemeGroupVersion.WithResource("pods"))
	_, err = pods.Informer().AddEventHandler(cache.ResourceEventHandlerFuncs{AddFunc: func(obj any) {
		pod := obj.(*unstructured.Unstructured)
		node, _, _ := unstructured.NestedString(pod.Object, "spec", "nodeName")
		fmt.Printf("added %s %s on %s\n", pod.GetKind(), pod.GetName(), node)
	}})
	if err != nil {
		log.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	factory.Start(ctx.Done())
	factory.WaitForCacheSync(ctx.Done())
	one, err := pods.Lister().ByNamespace("default").Get("one")
	if err != nil {
		log.Fatal(err)
	}
	fmt.Printf("got %s\n", one.(*unstructured.Unstructured).GetName())
	<-ctx.Done()
}
