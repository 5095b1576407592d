package informers_test

import (
	"context"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/kubernetes/fake"
	clienttesting "k8s.io/client-go/testing"

	"github.com/kubewright/kubewright/informers" // in place of k8s.io/client-go/informers
	"github.com/kubewright/kubewright/runtime/factory"
	"github.com/kubewright/kubewright/runtime/informer"
)

// A program moves from client-go's informers of the built-in types by the import path alone. The
// additions to client-go's interfaces work here, too: options of all informers, list options of one
// resource, statuses.
func Example_builtIn() {
	pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "town", Name: "oven"}}
	client := fake.NewSimpleClientset(pod)
	client.PrependReactor("list", "secrets", func(clienttesting.Action) (bool, runtime.Object, error) {
		return true, nil, apierrors.NewForbidden(corev1.Resource("secrets"), "", nil)
	})
	town := informers.NewSharedInformerFactoryWithOptions(client, 0, informers.WithNamespace("town"))
	_ = factory.Configure(town, informer.Options{
		RecreationIsDeletion: true,
		Overrides: map[schema.GroupResource]informer.Options{
			corev1.Resource("secrets"): {TweakListOptions: func(o *metav1.ListOptions) {
				o.FieldSelector = "type=Opaque"
			}},
		},
	})
	ctx, cancel := context.WithCancel(context.Background())
	defer town.Shutdown()
	defer cancel()
	pods := town.Core().V1().Pods()
	pods.Informer()
	town.Core().V1().Secrets().Informer()
	town.StartWithContext(ctx)

	_ = informer.WaitForSync(ctx, pods.Informer())
	found, _ := pods.Lister().Pods("town").List(labels.Everything())
	fmt.Println(len(found), "pod")
	_ = factory.WaitForSyncOr(ctx, town, (*informer.SyncError).Permanent)
	statuses, _ := factory.Statuses(town)
	for _, s := range statuses {
		fmt.Println(s.Name, "synced:", s.Synced)
	}
	// Output:
	// 1 pod
	// informer of v1 pods in namespace town synced: true
	// informer of v1 secrets in namespace town synced: false
}
