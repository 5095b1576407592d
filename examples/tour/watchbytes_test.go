package tour

import (
	"encoding/json"
	"net/http"
	"slices"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/rest"

	shopv1 "github.com/kubewright/kubewright/examples/apis/shop/v1"
	"github.com/kubewright/kubewright/examples/generated/clientset/versioned"
)

// A watch is a response that doesn't end: one JSON object after the other, each with a type and an object.
// HTTP/1.1 sends it in chunks, HTTP/2 in frames of one of several streams on a connection.
func TestWatchAsBytes(t *testing.T) {
	clients, err := versioned.NewForConfig(serverConfig(t)) // of server_test.go, like namespace and bakery
	if err != nil {
		t.Fatal(err)
	}
	town := namespace(t) // not that of the subtests
	bakeries := clients.ShopV1().Bakeries(town)
	if _, err := bakeries.Create(t.Context(), bakery(t, "ann"), metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	for protocol, offered := range map[string][]string{
		"HTTP/1.1": {"http/1.1"},
		"HTTP/2.0": nil, // client-go's default offers both
	} {
		t.Run(protocol, func(t *testing.T) {
			config := serverConfig(t)
			config.NextProtos = offered
			client, err := rest.HTTPClientFor(config)
			if err != nil {
				t.Fatal(err)
			}
			defer client.CloseIdleConnections()
			url := config.Host + "/apis/shop.kubewright.dev/v1/namespaces/" + town + "/bakeries?watch=1"
			request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, url, nil)
			if err != nil {
				t.Fatal(err)
			}
			response, err := client.Do(request)
			if err != nil {
				t.Fatal(err)
			}
			defer response.Body.Close() // ends the watch
			chunked := slices.Contains(response.TransferEncoding, "chunked")
			if response.StatusCode != http.StatusOK || response.Proto != protocol ||
				chunked != (protocol == "HTTP/1.1") {
				t.Errorf("%s %s, chunked %t, want %s", response.Proto, response.Status, chunked, protocol)
			}

			events := json.NewDecoder(response.Body)
			next := func() (kind, name string) {
				var event struct {
					Type   string
					Object shopv1.Bakery
				}
				if err := events.Decode(&event); err != nil {
					t.Fatal(err)
				}
				return event.Type, event.Object.Name
			}
			// Without a resourceVersion, the watch begins with the existing objects.
			if kind, name := next(); kind != "ADDED" || name != "ann" {
				t.Errorf("first event %s %s, want ADDED ann", kind, name)
			}
			// A change is the next event.
			patch := []byte(`{"spec":{"bread":"` + protocol + `"}}`)
			_, err = bakeries.Patch(t.Context(), "ann", types.MergePatchType, patch, metav1.PatchOptions{})
			if err != nil {
				t.Fatal(err)
			}
			if kind, name := next(); kind != "MODIFIED" || name != "ann" {
				t.Errorf("second event %s %s, want MODIFIED ann", kind, name)
			}
		})
	}
}
