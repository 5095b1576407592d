package wirebench

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"reflect"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/features"
	featurestesting "k8s.io/client-go/features/testing"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/cache"

	"github.com/kubewright/kubewright/internal/wirebench"
	"github.com/kubewright/kubewright/runtime/informer"
)

// The collections, and the ways to drop managedFields: asked asks the server, here doesn't.
var (
	droppable   = []string{"workloads", "dynamic/workloads", "metadata/workloads"}
	asked, here = "/drop", "/drop-here"
)

// share returns the share of managedFields in the JSON of a server's objects, or of their metadata.
func share(t *testing.T, p *process, collection string) float64 {
	accept := "application/json"
	if strings.HasPrefix(collection, "metadata/") {
		accept += ";as=PartialObjectMetadataList;g=meta.k8s.io;v=v1"
	}
	client, err := rest.HTTPClientFor(p.config())
	if err != nil {
		t.Fatal(err)
	}
	defer client.CloseIdleConnections()
	url := fmt.Sprintf("%s/apis/%s/workloads", p.Server.Host, wirebench.GroupVersion)
	req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, url, nil)
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Accept", accept)
	answer, err := client.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer answer.Body.Close()
	text, err := io.ReadAll(answer.Body)
	if err != nil {
		t.Fatal(err)
	}
	var list struct {
		Items []struct {
			Metadata struct{ ManagedFields json.RawMessage }
		}
	}
	if err := json.Unmarshal(text, &list); err != nil {
		t.Fatal(err)
	}
	fields := 0
	for _, item := range list.Items {
		fields += len(`"managedFields":,`) + len(item.Metadata.ManagedFields)
	}
	return float64(fields) / float64(len(text))
}

// traffic counts the requests of an informer, and the bytes of the bodies that it receives.
type traffic struct {
	http.RoundTripper
	mu       sync.Mutex
	requests []string
	received int
}

func (c *traffic) RoundTrip(req *http.Request) (*http.Response, error) {
	verb := "LIST"
	if req.URL.Query().Get("watch") != "" {
		verb = "WATCH"
	}
	if strings.Contains(req.Header.Get("Accept"), ";drop=metadata.managedFields") {
		verb += asking
	}
	c.mu.Lock()
	c.requests = append(c.requests, verb)
	c.mu.Unlock()
	resp, err := c.RoundTripper.RoundTrip(req)
	if err == nil {
		resp.Body = &countedBody{resp.Body, c}
	}
	return resp, err
}

// asking is appended to the verb of a request that asks the server to leave managedFields out.
const asking = ", asking"

// taken returns the requests.
func (c *traffic) taken() []string {
	c.mu.Lock()
	defer c.mu.Unlock()
	return slices.Clone(c.requests)
}

// total returns the number of bytes.
func (c *traffic) total() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.received
}

type countedBody struct {
	io.ReadCloser
	traffic *traffic
}

func (b *countedBody) Read(p []byte) (int, error) {
	n, err := b.ReadCloser.Read(p)
	b.traffic.mu.Lock()
	defer b.traffic.mu.Unlock()
	b.traffic.received += n
	return n, err
}

// subject is an informer that drops managedFields.
type subject struct {
	cache.SharedIndexInformer
	traffic traffic
	// changed receives the versions of objects that have changed since the list.
	changed chan string
	// received is the number of bytes of the list.
	received int
}

// run runs the informer of a mode, until it has synced.
func run(t *testing.T, p *process, mode string) *subject {
	t.Helper()
	s := &subject{changed: make(chan string, 100)}
	config := p.config()
	config.DisableCompression = true
	config.Wrap(func(next http.RoundTripper) http.RoundTripper {
		s.traffic.RoundTripper = next
		return &s.traffic
	})
	s.SharedIndexInformer = wirebench.Informer(mode, config)
	if _, err := s.AddEventHandler(cache.ResourceEventHandlerFuncs{UpdateFunc: func(_, obj any) {
		s.changed <- obj.(metav1.Object).GetResourceVersion()
	}}); err != nil {
		t.Fatal(err)
	}
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		s.RunWithContext(t.Context())
	}()
	t.Cleanup(func() { <-ended })
	if err := informer.WaitForSync(t.Context(), s); err != nil {
		t.Fatal(err)
	}
	s.received = s.traffic.total()
	return s
}

// change changes an object, and returns its version.
func change(t *testing.T, p *process, value string) (version string) {
	client, err := rest.HTTPClientFor(p.config())
	if err != nil {
		t.Fatal(err)
	}
	defer client.CloseIdleConnections()
	url := fmt.Sprintf("%s/apis/%s/namespaces/team-0/workloads/workload-0", p.Server.Host,
		wirebench.GroupVersion)
	req, err := http.NewRequestWithContext(t.Context(), http.MethodPatch, url,
		strings.NewReader(`{"metadata":{"labels":{"changed":"`+value+`"}}}`))
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Content-Type", "application/merge-patch+json")
	resp, err := client.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	text, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	var obj metav1.PartialObjectMetadata
	if err := json.Unmarshal(text, &obj); err != nil || resp.StatusCode != http.StatusOK {
		t.Fatal(resp.Status, err)
	}
	return obj.ResourceVersion
}

// TestServerDrop checks that informers that ask the server to leave managedFields out send the same requests
// and cache the same objects as those that don't, whether the server does or not; and that it sends as much
// less as the fields are, if it does.
func TestServerDrop(t *testing.T) {
	for _, on := range []bool{false, true} {
		t.Run(fmt.Sprintf("gate=%t", on), func(t *testing.T) {
			p := start(t, on)
			if on && !p.Known {
				t.Skipf("this version of the API server has no feature gate %s", gate)
			}
			p.Server.Objects = 50
			fill(t, p.config(), p.Server.Objects)
			for _, collection := range droppable {
				for _, watchList := range []bool{false, true} {
					name := fmt.Sprintf("%s/watchlist=%t", collection, watchList)
					t.Run(name, func(t *testing.T) {
						featurestesting.SetFeatureDuringTest(t, features.WatchListClient, watchList)
						compareDrops(t, p, collection, on)
					})
				}
			}
		})
	}
}

func compareDrops(t *testing.T, p *process, collection string, on bool) {
	asks, plain := run(t, p, collection+asked), run(t, p, collection+here)
	version := change(t, p, fmt.Sprint(time.Now().UnixNano()))
	for _, s := range []*subject{asks, plain} {
		for got := ""; got != version; {
			select {
			case got = <-s.changed:
			case <-t.Context().Done():
				t.Fatal("the change doesn't arrive")
			}
		}
	}
	if n := len(plain.GetStore().List()); n != p.Server.Objects {
		t.Errorf("%d objects", n)
	}
	for _, obj := range plain.GetStore().List() {
		other, _, _ := asks.GetStore().Get(obj)
		if len(obj.(metav1.Object).GetManagedFields()) > 0 || !reflect.DeepEqual(obj, other) {
			t.Errorf("%v, if the server is asked %v", obj, other)
		}
	}
	want := plain.traffic.taken()
	for i, verb := range want {
		want[i] = verb + asking
	}
	if got := asks.traffic.taken(); !slices.Equal(got, want) {
		t.Errorf("requests %q, want %q", got, want)
	}
	for s, want := range map[*subject]bool{asks: true, plain: false} {
		status, _ := informer.StatusOf(s.SharedIndexInformer)
		if r := status.Reading; r.DropSent != want || r.Whole > 0 || r.Streamed != len(s.traffic.taken()) {
			t.Errorf("%+v", r)
		}
	}
	part := float64(asks.received) / float64(plain.received)
	if !on {
		if part != 1 {
			t.Errorf("received %d bytes, without asking %d", asks.received, plain.received)
		}
		return
	}
	if s := share(t, p, collection); part > 1-s+.02 || s < .1 {
		t.Errorf("received %.3f of the bytes, though %.3f are managedFields", part, s)
	}
}
