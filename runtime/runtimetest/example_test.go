package runtimetest_test

import (
	"context"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/tools/cache"

	"github.com/kubewright/kubewright/runtime/runtimetest"
)

// A server refuses the first list, ends a watch, and drops its history. The informer, here client-go's, still
// gets all objects.
func Example() {
	server := runtimetest.NewServer[corev1.ConfigMap, corev1.ConfigMapList]()
	server.NoWatchList() // so that the informer lists
	server.Fail("LIST", apierrors.NewServiceUnavailable("starting"))
	server.Create(&corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: "town", Name: "bread"}})

	maps := cache.NewSharedIndexInformer(server.ListerWatcher(), &corev1.ConfigMap{}, 0, nil)
	added := make(chan string)
	_, _ = maps.AddEventHandler(cache.ResourceEventHandlerFuncs{
		AddFunc: func(obj any) { added <- obj.(*corev1.ConfigMap).Name },
	})
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan struct{})
	go func() { defer close(done); maps.RunWithContext(ctx) }()
	fmt.Println("added", <-added)

	server.CloseWatches()
	server.Create(&corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: "town", Name: "cake"}})
	server.Compact() // a watch from before has expired
	fmt.Println("added", <-added)
	cancel()
	<-done
	// Output:
	// added bread
	// added cake
}
