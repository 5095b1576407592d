package kubeserver_test

import (
	"context"
	"net"
	"net/url"
	"os"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/dynamic"

	"github.com/kubewright/kubewright/test/e2e/kubeserver"
)

func TestLifetime(t *testing.T) {
	if testing.Short() {
		t.Skip("builds a kube-apiserver")
	}
	binaries, err := kubeserver.Build(t.Context(), t.Output())
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	defer cancel()
	scratch := t.TempDir()
	t.Setenv("TMPDIR", scratch)
	begin := time.Now()
	server, err := kubeserver.Start(ctx, binaries, kubeserver.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("ready after %v", time.Since(begin))
	defer server.Stop()

	client, err := dynamic.NewForConfig(server.Config())
	if err != nil {
		t.Fatal(err)
	}
	namespaces := client.Resource(schema.GroupVersionResource{Version: "v1", Resource: "namespaces"})
	before, err := namespaces.Get(ctx, "kube-system", metav1.GetOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if err := server.Kill(); err != nil {
		t.Fatal(err)
	}
	if _, err := namespaces.Get(ctx, "kube-system", metav1.GetOptions{}); err == nil {
		t.Error("a killed server answers")
	}
	begin = time.Now()
	if err := server.Restart(ctx); err != nil {
		t.Fatal(err)
	}
	t.Logf("ready again after %v", time.Since(begin))
	after, err := namespaces.Get(ctx, "kube-system", metav1.GetOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if before.GetUID() != after.GetUID() {
		t.Error("the restarted server has lost its data")
	}

	if err := server.Stop(); err != nil {
		t.Errorf("Stop: %v", err)
	}
	host, err := url.Parse(server.Config().Host)
	if err != nil {
		t.Fatal(err)
	}
	if connection, err := net.Dial("tcp", host.Host); err == nil {
		connection.Close()
		t.Error("the stopped server still takes connections")
	}
	if left, _ := os.ReadDir(scratch); len(left) > 0 {
		t.Errorf("%s is left of the stopped server", left[0].Name())
	}
}
