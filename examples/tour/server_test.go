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

	shopv1 "github.com/kubewright/kubewright/examples/apis/shop/v1"
	"github.com/kubewright/kubewright/examples/crds"
	"github.com/kubewright/kubewright/test/e2e/apiserver"
)

// shared starts the API server of all tests when the first one asks for it.
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

func TestMain(m *testing.M) {
	if token := os.Getenv(pluginToken); token != "" {
		printCredential(os.Stdout, token) // see transport_test.go
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

// serverConfig returns what a kubeconfig would: how to reach an API server, with an administrator's rights.
// The server has the example's definitions.
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

// namespace names a test's own namespace.
func namespace(t *testing.T) string { return strings.ToLower(t.Name()) }
