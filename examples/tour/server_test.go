package tour

import (
	"context"
	"fmt"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/rest"

	"github.com/kubewright/kubewright/envtest/apiserver"
	shopv1 "github.com/kubewright/kubewright/examples/apis/shop/v1"
	"github.com/kubewright/kubewright/examples/crds"
)

// The other files use serverConfig, bakery, namespace and TestMain.

// shared starts the API server of all tests when the first test needs it: one in this process, for custom
// resources and a few built-in kinds, see docs/testing.md. transport_test.go starts a whole kube-apiserver.
var shared = sync.OnceValues(func() (*apiserver.Server, error) {
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	server, err := apiserver.Start(ctx, apiserver.Options{})
	if err != nil {
		return nil, err
	}
	started = server
	return server, server.InstallCRDs(ctx, crds.Files)
})

var started *apiserver.Server

// TestMain runs the tests, and stops the server. In a process that transport_test.go starts as its exec
// plugin, it prints a credential instead.
func TestMain(m *testing.M) {
	if token := os.Getenv(pluginToken); token != "" {
		printCredential(os.Stdout, token)
		return
	}
	code := m.Run()
	if started != nil {
		if err := started.Stop(); err != nil {
			fmt.Fprintln(os.Stderr, "stopping the server:", err)
			code = 1
		}
	}
	os.Exit(code)
}

// serverConfig returns the configuration that a kubeconfig would have: the address of an API server, and an
// administrator's credentials. The server has the CustomResourceDefinitions of examples/crds.
func serverConfig(t *testing.T) *rest.Config {
	t.Helper()
	server, err := shared()
	if err != nil {
		t.Fatal(err)
	}
	return server.Config()
}

// bakery returns a bakery of a namespace that only this test uses.
func bakery(t *testing.T, name string) *shopv1.Bakery {
	return &shopv1.Bakery{
		ObjectMeta: metav1.ObjectMeta{Namespace: namespace(t), Name: name},
		Spec:       shopv1.BakerySpec{Bread: "rye", Market: "square", Bakers: 1},
	}
}

// namespace returns the name of the test's own namespace. This server doesn't require namespaces to exist; on
// a real cluster, create them first.
func namespace(t *testing.T) string { return strings.ToLower(t.Name()) }
