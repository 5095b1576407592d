package load

import (
	"context"
	"encoding/pem"
	"net/http"
	"net/http/httptest"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"

	shopv1 "github.com/kubewright/kubewright/examples/apis/shop/v1"
	"github.com/kubewright/kubewright/examples/generated/clientset/versioned/scheme"
	"github.com/kubewright/kubewright/internal/child"
	"github.com/kubewright/kubewright/runtime/runtimetest"
	"github.com/kubewright/kubewright/test/lab/serve"
)

// memory is the server in memory, over HTTP/2.
type memory struct {
	*runtimetest.Server[*shopv1.Bakery, *shopv1.BakeryList]
	http *httptest.Server
	end  context.CancelFunc
}

// upkeep is how often the server sends bookmarks and forgets its history.
const upkeep = time.Minute

func startMemory(ctx context.Context) (server, error) {
	m := memory{Server: runtimetest.NewServer[shopv1.Bakery, shopv1.BakeryList]()}
	const path = "/apis/shop.kubewright.dev/v1/bakeries"
	resource := serve.Resource{
		Version: shopv1.SchemeGroupVersion, Scheme: scheme.Scheme, Codecs: scheme.Codecs, Watch: m.Watch,
		List: func(ctx context.Context, opts metav1.ListOptions) (runtime.Object, error) {
			return m.List(ctx, opts)
		},
	}
	m.http = httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path != path || r.Method != http.MethodGet {
			serve.NotFound(w, r)
			return
		}
		resource.Request(w, r, "")
	}))
	m.http.EnableHTTP2 = true
	m.http.StartTLS()
	ctx, m.end = context.WithCancel(ctx)
	go m.keepUp(ctx)
	return m, nil
}

func (m memory) keepUp(ctx context.Context) {
	ticker := time.NewTicker(upkeep)
	defer ticker.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-ticker.C:
			m.Compact()
			m.Bookmark()
			m.ForgetRequests()
		}
	}
}

func (m memory) address() child.Address {
	certificate := pem.Block{Type: "CERTIFICATE", Bytes: m.http.Certificate().Raw}
	return child.Address{Host: m.http.URL, CA: pem.EncodeToMemory(&certificate)}
}

func (m memory) create(_ context.Context, b *shopv1.Bakery) error {
	m.Create(b)
	return nil
}

func (m memory) update(_ context.Context, b *shopv1.Bakery) error {
	m.Update(b)
	return nil
}

func (m memory) remove(_ context.Context, name string) error {
	m.Delete(namespace, name)
	return nil
}

func (m memory) stop() error {
	m.end()
	m.http.CloseClientConnections()
	m.http.Close()
	return nil
}
