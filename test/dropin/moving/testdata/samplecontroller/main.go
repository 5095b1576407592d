// Command samplecontroller keeps a Deployment for each Foo, in the shape of Kubernetes' sample-controller:
// a generated clientset, an informer of Foos and one of Deployments, a work queue, events.
package main

import (
	"context"
	"flag"
	"log"
	"os/signal"
	"syscall"
	"time"

	kubeinformers "k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/clientcmd"

	clientset "example.com/moving/samplecontroller/pkg/generated/clientset/versioned"
	informers "example.com/moving/samplecontroller/pkg/generated/informers/externalversions"
)

func main() {
	kubeconfig := flag.String("kubeconfig", "", "the path of a kubeconfig")
	flag.Parse()
	ctx, cancel := signal.NotifyContext(context.Background(), syscall.SIGINT, syscall.SIGTERM)
	defer cancel()
	config, err := clientcmd.BuildConfigFromFlags("", *kubeconfig)
	if err != nil {
		log.Fatal(err)
	}
	kubeClient := kubernetes.NewForConfigOrDie(config)
	exampleClient := clientset.NewForConfigOrDie(config)

	kubeInformerFactory := kubeinformers.NewSharedInformerFactory(kubeClient, time.Hour)
	exampleInformerFactory := informers.NewSharedInformerFactory(exampleClient, time.Hour)
	controller, err := NewController(ctx, kubeClient, exampleClient,
		kubeInformerFactory.Apps().V1().Deployments(),
		exampleInformerFactory.Samplecontroller().V1alpha1().Foos())
	if err != nil {
		log.Fatal(err)
	}
	kubeInformerFactory.Start(ctx.Done())
	exampleInformerFactory.Start(ctx.Done())
	if err := controller.Run(ctx, 2); err != nil {
		log.Fatal(err)
	}
}
