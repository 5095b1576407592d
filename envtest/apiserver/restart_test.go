package apiserver_test

import (
	"context"
	"errors"
	"reflect"
	"syscall"
	"testing"
	"testing/fstest"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/cache"

	"github.com/kubewright/kubewright/envtest/apiserver"
	"github.com/kubewright/kubewright/informers"
)

// TestRestart stops the API server while an informer watches, compacts the old versions, and starts it again:
// clients, informers and definitions keep working.
func TestRestart(t *testing.T) {
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	server, err := apiserver.Start(ctx, apiserver.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer server.Stop()
	if err := server.InstallCRDs(ctx, fstest.MapFS{"boats.yaml": {Data: []byte(manifest)}}); err != nil {
		t.Fatal(err)
	}
	config := server.Config()
	client := kubernetes.NewForConfigOrDie(config)
	maps := client.CoreV1().ConfigMaps("n")
	first, err := maps.Create(ctx, configMap("first"), metav1.CreateOptions{})
	if err != nil {
		t.Fatal(err)
	}

	seen := make(chan string, 10)
	factory := informers.NewSharedInformerFactory(client, 0)
	if _, err := factory.Core().V1().ConfigMaps().Informer().AddEventHandler(cache.ResourceEventHandlerFuncs{
		AddFunc: func(obj any) { seen <- obj.(*corev1.ConfigMap).Name },
	}); err != nil {
		t.Fatal(err)
	}
	running, stop := context.WithCancel(ctx)
	factory.StartWithContext(running)
	defer factory.Shutdown()
	defer stop()
	expect := func(want string) {
		t.Helper()
		select {
		case got := <-seen:
			if got != want {
				t.Fatalf("the informer added %s, want %s", got, want)
			}
		case <-ctx.Done():
			t.Fatalf("the informer never added %s", want)
		}
	}
	expect("first")

	for range 2 { // the second does nothing
		begin := time.Now()
		if err := server.Halt(); err != nil {
			t.Fatal(err)
		}
		t.Logf("halted in %v", time.Since(begin))
	}
	if _, err := maps.Get(ctx, "first", metav1.GetOptions{}); !errors.Is(err, syscall.ECONNREFUSED) {
		t.Errorf("a request to the halted server: %v, want that it is refused", err)
	}
	if _, err := server.Compact(ctx); err != nil {
		t.Error(err)
	}
	for range 2 { // the second ends the server first
		begin := time.Now()
		if err := server.Restart(ctx); err != nil {
			t.Fatal(err)
		}
		t.Logf("restarted in %v", time.Since(begin))
	}
	if !reflect.DeepEqual(server.Config(), config) {
		t.Errorf("the configuration was %v, is %v", config, server.Config())
	}
	again, err := maps.Get(ctx, "first", metav1.GetOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if again.ResourceVersion != first.ResourceVersion {
		t.Errorf("after the restart the object has version %s, want %s",
			again.ResourceVersion, first.ResourceVersion)
	}
	if _, err := maps.Create(ctx, configMap("second"), metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	expect("second")
	if _, err := dynamic.NewForConfigOrDie(config).Resource(boats).Namespace("n").Create(
		ctx, boat("b"), metav1.CreateOptions{},
	); err != nil {
		t.Error(err)
	}

	if err := server.Stop(); err != nil {
		t.Error(err)
	}
	if err := server.Restart(ctx); err == nil {
		t.Error("a stopped server restarts")
	}
}
