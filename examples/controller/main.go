// Command controller runs the bakery controller against a cluster that has the
// CustomResourceDefinitions of examples/crds:
//
//	go run ./examples/controller --kubeconfig ~/.kube/config
//
// It shuts down cleanly on SIGINT and SIGTERM.
package main

import (
	"context"
	"flag"
	"os/signal"
	"syscall"

	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	"k8s.io/klog/v2"

	"github.com/kubewright/kubewright/examples/controller/bakery"
	"github.com/kubewright/kubewright/examples/generated/clientset/versioned"
	"github.com/kubewright/kubewright/examples/generated/informers/externalversions"
)

func main() {
	klog.InitFlags(nil)
	kubeconfig := flag.String("kubeconfig", "", "file that says how to reach the cluster; empty inside a pod")
	namespace := flag.String("namespace", "", "the only namespace to look after; empty for all")
	workers := flag.Int("workers", 2, "how many bakeries are worked on at a time")
	lease := flag.String("lease", "", "namespace/name of a Lease: run only while this process holds it")
	flag.Parse()

	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGINT, syscall.SIGTERM)
	defer stop()
	config, err := clientcmd.BuildConfigFromFlags("", *kubeconfig)
	if err == nil {
		err = lead(ctx, config, *lease,
			func(ctx context.Context) error { return run(ctx, config, *namespace, *workers) })
	}
	if err != nil {
		klog.ErrorS(err, "The controller failed")
		klog.FlushAndExit(klog.ExitFlushTimeout, 1)
	}
	klog.Flush()
}

// lead calls run. If a lease is given, it does so while this process holds it.
func lead(ctx context.Context, config *rest.Config, lease string, run func(context.Context) error) error {
	if lease == "" {
		return run(ctx)
	}
	lock, err := newLock(config, lease)
	if err != nil {
		return err
	}
	return whileLeading(ctx, lock, run)
}

// run runs the controller until ctx is done, and returns after all its goroutines have ended.
func run(ctx context.Context, config *rest.Config, namespace string, workers int) error {
	client, err := versioned.NewForConfig(config)
	if err != nil {
		return err
	}
	factory := externalversions.NewSharedInformerFactoryWithOptions(client, 0,
		externalversions.WithNamespace(namespace))
	controller, err := bakery.New(ctx, client, factory.Shop().V1())
	if err != nil {
		return err
	}
	factory.StartWithContext(ctx)
	defer factory.Shutdown()
	return controller.Run(ctx, workers)
}
