// Command ungenerated labels each bakery with its market, in a cluster that has the
// CustomResourceDefinitions of examples/crds:
//
//	go run ./examples/ungenerated --kubeconfig ~/.kube/config
//
// Its client, informer and lister are typed, and nothing was generated for them: the Go types
// and their registration in a scheme are enough.
package main

import (
	"context"
	"encoding/json"
	"flag"
	"os/signal"
	"syscall"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	"k8s.io/klog/v2"

	shopv1 "github.com/kubewright/kubewright/examples/apis/shop/v1"
	"github.com/kubewright/kubewright/runtime/client"
	"github.com/kubewright/kubewright/runtime/factory"
	"github.com/kubewright/kubewright/runtime/informer"
)

func main() {
	klog.InitFlags(nil)
	kubeconfig := flag.String("kubeconfig", "", "file that says how to reach the cluster; empty inside a pod")
	flag.Parse()

	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGINT, syscall.SIGTERM)
	defer stop()
	config, err := clientcmd.BuildConfigFromFlags("", *kubeconfig)
	if err == nil {
		err = run(ctx, config)
	}
	if err != nil {
		klog.ErrorS(err, "Labelling failed")
		klog.FlushAndExit(klog.ExitFlushTimeout, 1)
	}
	klog.Flush()
}

// marketLabel is the label of a bakery that names its market.
const marketLabel = "shop.kubewright.dev/market"

// run labels bakeries until ctx is done.
func run(ctx context.Context, config *rest.Config) error {
	scheme := runtime.NewScheme()
	if err := shopv1.AddToScheme(scheme); err != nil {
		return err
	}
	bakeries, err := client.For[*shopv1.Bakery, *shopv1.BakeryList](config, scheme)
	if err != nil {
		return err
	}

	informers := factory.New(0)
	err = factory.Configure(informers, informer.Options{Drop: []string{"metadata.managedFields"}})
	if err != nil {
		return err
	}
	cached, err := factory.For(informers, bakeries)
	if err != nil {
		return err
	}
	ctx, cancel := context.WithCancel(ctx)
	defer informers.Shutdown()
	defer cancel()
	core, _ := informer.Of[*shopv1.Bakery](cached.Informer())
	informers.StartWithContext(ctx)

	for event := range core.Events(ctx) {
		if event.Type != informer.Added && event.Type != informer.Updated {
			continue
		}
		if err := label(ctx, bakeries, event.Object); err != nil && ctx.Err() == nil {
			return err
		}
	}
	return nil
}

// label labels a bakery, unless it has the label or is gone.
func label(
	ctx context.Context, bakeries *client.Resource[*shopv1.Bakery, *shopv1.BakeryList], bakery *shopv1.Bakery,
) error {
	if bakery.Labels[marketLabel] == bakery.Spec.Market {
		return nil
	}
	patch, err := json.Marshal(map[string]any{
		"metadata": map[string]any{"labels": map[string]string{marketLabel: bakery.Spec.Market}},
	})
	if err != nil {
		return err
	}
	labelled, err := bakeries.Namespace(bakery.Namespace).
		Patch(ctx, bakery.Name, types.MergePatchType, patch, metav1.PatchOptions{})
	switch {
	case apierrors.IsNotFound(err):
		return nil
	case err != nil:
		return err
	}
	klog.FromContext(ctx).Info("Labelled", "bakery", klog.KObj(labelled), "market", labelled.Labels[marketLabel])
	return nil
}
