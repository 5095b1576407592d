package cache_test

import (
	"context"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubewright/kubewright/runtime/cache" // in place of k8s.io/client-go/tools/cache
	"github.com/kubewright/kubewright/runtime/runtimetest"
)

// Code for client-go's tools/cache works when its import path is changed: here a shared informer with an
// index and a handler. Its ListerWatcher is that of a server in memory.
func Example() {
	server := runtimetest.NewServer[corev1.Pod, corev1.PodList]()
	server.Create(&corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "town", Name: "oven"},
		Spec: corev1.PodSpec{NodeName: "cellar"}})
	pods := cache.NewSharedIndexInformer(server.ListerWatcher(), &corev1.Pod{}, 0, cache.Indexers{
		"node": func(obj any) ([]string, error) { return []string{obj.(*corev1.Pod).Spec.NodeName}, nil },
	})
	registration, err := pods.AddEventHandler(cache.ResourceEventHandlerFuncs{
		AddFunc: func(obj any) {
			key, err := cache.MetaNamespaceKeyFunc(obj)
			fmt.Println("added", key, err)
		},
	})
	if err != nil {
		fmt.Println(err)
		return
	}

	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan struct{})
	go func() { defer close(done); pods.RunWithContext(ctx) }()
	cache.WaitForCacheSync(ctx.Done(), registration.HasSynced)
	found, err := pods.GetIndexer().ByIndex("node", "cellar")
	fmt.Println(len(found), "in the cellar", err)
	cancel()
	<-done
	// Output:
	// added town/oven <nil>
	// 1 in the cellar <nil>
}
