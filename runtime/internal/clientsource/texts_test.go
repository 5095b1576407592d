package clientsource_test

import (
	"fmt"
	"net/http"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubewright/kubewright/runtime/internal/decode"
)

// TestUnchangedTexts checks that an item with the same text as in the previous list is the cached object, and
// isn't decoded again, whether it is listed, in pages or not, or streamed as a watch. Lists and watches make
// different objects from the same text, so neither uses the other's. An incomplete list doesn't affect the
// next.
func TestUnchangedTexts(t *testing.T) {
	const fixed = `{"kind":"ConfigMap","apiVersion":"v1","metadata":{"namespace":"ns","name":"fixed",` +
		`"resourceVersion":"3"}}`
	const head = `{"kind":"ConfigMapList","apiVersion":"v1","metadata":{"resourceVersion":"9"},"items":[`
	generation := 0
	broken := false
	c := configMapClient(t, func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		// The version stays the same, although the content differs.
		served := fmt.Sprintf(
			`{"kind":"ConfigMap","apiVersion":"v1","metadata":{"namespace":"ns","name":"served",`+
				`"resourceVersion":"4"},"data":{"d":"%d"}}`, generation)
		switch query := r.URL.Query(); {
		case query.Get("watch") == "true":
			fmt.Fprintf(w, `{"type":"ADDED","object":%s}{"type":"ADDED","object":%s}`, fixed, served)
			fmt.Fprint(w,
				`{"type":"BOOKMARK","object":{"kind":"ConfigMap","apiVersion":"v1",`+
					`"metadata":{"resourceVersion":"9","annotations":{"k8s.io/initial-events-end":"true"}}}}`)
			fmt.Fprintf(w, `{"type":"ADDED","object":%s}`, fixed)
		case broken:
			fmt.Fprint(w, head+fixed+","+served)
		case query.Get("continue") == "":
			fmt.Fprint(w,
				`{"kind":"ConfigMapList","apiVersion":"v1","metadata":{"continue":"more"},"items":[`+fixed+
					"]}")
		default:
			fmt.Fprint(w, head+served+"]}")
		}
	})
	source := budgeted(c, nil)
	cached := map[decode.Identity]any{}
	source.(interface {
		UseCache(func(decode.Identity) (any, bool)) bool
	}).UseCache(func(id decode.Identity) (any, bool) {
		o, ok := cached[id]
		return o, ok
	})
	// take records which objects were cached, and caches all.
	kept := ""
	take := func(obj any) error {
		o := obj.(*corev1.ConfigMap)
		id := decode.Identity{Namespace: o.Namespace, Name: o.Name, ResourceVersion: o.ResourceVersion}
		if cached[id] == obj {
			kept += o.Name + " "
		}
		cached[id] = o
		return nil
	}
	list := func() {
		for next := ""; ; {
			meta, err := each(t.Context(), source, metav1.ListOptions{Continue: next}, take)
			if err != nil && !broken {
				t.Error(err)
			}
			if next = meta.Continue; next == "" {
				return
			}
		}
	}
	stream := func() {
		initial := true
		w, err := source.Watch(t.Context(), metav1.ListOptions{SendInitialEvents: &initial})
		if err != nil {
			t.Fatal(err)
		}
		defer w.Stop()
		for {
			e, err := w.Next(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			if e.InitialEventsEnd {
				break
			}
			if want := map[string]string{"fixed": "3",
				"served": "4"}[nameOf(e.Object)]; e.ResourceVersion != want {
				t.Errorf("%s has version %q", nameOf(e.Object), e.ResourceVersion)
			}
			take(e.Object)
		}
		if e, err := w.Next(t.Context()); err != nil ||
			cached[decode.Identity{Namespace: "ns", Name: "fixed", ResourceVersion: "3"}] == e.Object {
			t.Errorf("after the initial events: %v, %v", e, err)
		}
	}
	for i, step := range []struct {
		run        func()
		generation int
		broken     bool
		kept       string
	}{
		{list, 1, false, ""},
		{list, 1, false, "fixed served "},
		{list, 2, false, "fixed "},
		{list, 3, true, "fixed "},
		{list, 3, false, "fixed "},
		{list, 3, false, "fixed served "},
		{stream, 3, false, ""},
		{stream, 3, false, "fixed served "},
		{stream, 4, false, "fixed "},
		{list, 4, false, ""},
	} {
		kept, generation, broken = "", step.generation, step.broken
		step.run()
		if kept != step.kept {
			t.Errorf("step %d kept %q, expected %q", i, kept, step.kept)
		}
	}
}
