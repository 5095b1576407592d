package apiserver_test

import (
	"context"
	"fmt"
	"os"
	"sync"
	"sync/atomic"
	"testing"
	"testing/fstest"
	"time"

	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"

	"github.com/kubewright/kubewright/envtest/apiserver"
)

// started is the server that tests share, once a test has started it.
var started atomic.Pointer[apiserver.Server]

func TestMain(m *testing.M) {
	code := m.Run()
	if server := started.Load(); server != nil {
		if err := server.Stop(); err != nil {
			fmt.Fprintln(os.Stderr, "stopping:", err)
			code = 1
		}
	}
	os.Exit(code)
}

// start starts the shared server, with boats.
var start = sync.OnceValues(func() (*apiserver.Server, error) {
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	server, err := apiserver.Start(ctx, apiserver.Options{})
	if err != nil {
		return nil, err
	}
	started.Store(server)
	return server, server.InstallCRDs(ctx, fstest.MapFS{"boats.yaml": {Data: []byte(manifest)}})
})

// visit is a test's use of the shared server.
type visit struct {
	*testing.T
	ctx       context.Context
	server    *apiserver.Server
	namespace string // of this test alone; doesn't exist
	client    kubernetes.Interface
	dynamic   dynamic.Interface
}

// visits counts the visits, to name their namespaces.
var visits atomic.Int64

func newVisit(t *testing.T) *visit {
	t.Helper()
	server, err := start()
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeoutCause(t.Context(), time.Minute, fmt.Errorf("not within a minute"))
	t.Cleanup(cancel)
	return &visit{
		T: t, ctx: ctx, server: server, namespace: fmt.Sprintf("visit-%d", visits.Add(1)),
		client:  kubernetes.NewForConfigOrDie(server.Config()),
		dynamic: dynamic.NewForConfigOrDie(server.Config()),
	}
}

// ok ends the test if there is an error.
func (v *visit) ok(err error) {
	v.Helper()
	if err != nil {
		v.Fatal(err)
	}
}

// get returns the body of a path, and ends the test if the answer isn't 200.
func (v *visit) get(path, accept string) []byte {
	v.Helper()
	body, err := v.rest().Get().AbsPath(path).SetHeader("Accept", accept).DoRaw(v.ctx)
	v.ok(err)
	return body
}

// rest returns a client for requests that are written out.
func (v *visit) rest() rest.Interface { return v.client.Discovery().RESTClient() }

// speaking returns a configuration for clients that send and accept one media type.
func (v *visit) speaking(mediaType string) *rest.Config {
	config := v.server.Config()
	config.ContentType, config.AcceptContentTypes = mediaType, mediaType
	return config
}
