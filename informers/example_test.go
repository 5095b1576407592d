package informers_test

import (
	"context"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/client-go/kubernetes/fake"

	"github.com/kubewright/kubewright/informers" // in place of k8s.io/client-go/informers
	"github.com/kubewright/kubewright/runtime/factory"
)

// A program moves from client-go's factory of the built-in types by the import path alone. The functions of
// package factory accept the factory, too.
func Example() {
	client := fake.NewSimpleClientset( // any kubernetes.Interface
		&corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "town", Name: "oven"}})
	town := informers.NewSharedInformerFactoryWithOptions(client, 0, informers.WithNamespace("town"))
	pods := town.Core().V1().Pods().Lister()

	ctx, cancel := context.WithCancel(context.Background())
	defer town.Shutdown()
	defer cancel()
	town.StartWithContext(ctx)
	if err := factory.WaitForSync(ctx, town); err != nil {
		fmt.Println(err) // which informer hasn't synced, why, and since when
	}
	found, err := pods.Pods("town").List(labels.Everything())
	for _, pod := range found {
		fmt.Println(pod.Name)
	}
	fmt.Println(err)
	// Output:
	// oven
	// <nil>
}
