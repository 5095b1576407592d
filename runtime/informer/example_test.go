package informer_test

import (
	"context"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/tools/cache"

	kwcache "github.com/kubewright/kubewright/runtime/cache"
	"github.com/kubewright/kubewright/runtime/informer"
	"github.com/kubewright/kubewright/runtime/runtimetest"
)

// An informer reads all ConfigMaps of a server, and then every change. Generated factories make informers
// from a generated client; here a server in memory takes its place.
func Example() {
	server := runtimetest.NewServer[corev1.ConfigMap, corev1.ConfigMapList]()
	server.Create(&corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: "town", Name: "bread"}})
	maps := kwcache.NewSharedIndexInformerWithOptions(
		server.ListerWatcher(), &corev1.ConfigMap{}, cache.SharedIndexInformerOptions{})

	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan struct{})
	go func() { defer close(done); maps.RunWithContext(ctx) }()
	if err := informer.WaitForSync(ctx, maps); err != nil {
		fmt.Println(err) // has the reason
	}
	version := server.Create(&corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: "town", Name: "cake"}})
	if err := informer.WaitForVersion(ctx, maps, version); err != nil {
		fmt.Println(err)
	}
	fmt.Println(len(maps.GetStore().List()), "in the cache")
	status, _ := informer.StatusOf(maps)
	fmt.Println("synced:", status.Synced, "at the server's version:", status.ResourceVersion == server.Version())
	cancel()
	<-done
	// Output:
	// 2 in the cache
	// synced: true at the server's version: true
}
