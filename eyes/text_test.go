package eyes_test

import (
	"strings"
	"testing"

	"github.com/kubewright/kubewright/eyes"
)

// TestHandlerNames checks that the text shows names of types without folders, and those that somebody gave as
// they are.
func TestHandlerNames(t *testing.T) {
	s := eyes.Snapshot{Informers: []eyes.Informer{{Name: "configmaps", Handlers: []eyes.Handler{
		{Name: "example.com/work/queue.enqueuer[k8s.io/client/cache.Name,*example.com/shop-api/v1.Bakery]",
			At: "main.go:78"},
		{Name: "shop/orders"},
	}}}}
	var text strings.Builder
	if err := s.WriteText(&text); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{" queue.enqueuer[cache.Name,*v1.Bakery] (main.go:78) ", " shop/orders "} {
		if !strings.Contains(text.String(), want) {
			t.Errorf("%q isn't in\n%s", want, &text)
		}
	}
}
