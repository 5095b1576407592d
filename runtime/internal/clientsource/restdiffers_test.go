package clientsource_test

import (
	"context"
	"fmt"
	"io"
	"slices"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/tools/metrics"
)

// sizes is a metric that records its observations.
type sizes []float64

func (s *sizes) Observe(_ context.Context, _, _ string, size float64) { *s = append(*s, size) }

// TestResponseSize checks client-go's metric of the sizes of responses. It counts lists
// that are read as a whole, and streamed lists without their items. It has never counted
// watches.
func TestResponseSize(t *testing.T) {
	before := metrics.ResponseSize
	t.Cleanup(func() { metrics.ResponseSize = before })
	list, event := listHead+configMap+"]}", event("ADDED", watchedMap)
	for name, want := range map[string]sizes{
		"plain": {float64(len(list))}, "streamed": {float64(len(listHead + "]}"))},
	} {
		var seen sizes
		metrics.ResponseSize = &seen
		source := bothSources(configMapClient(t, reply{body: list}.serve))[name]
		if _, err := each(t.Context(), source, metav1.ListOptions{}, func(any) error { return nil }); err != nil {
			t.Fatal(err)
		}
		if !slices.Equal(seen, want) {
			t.Errorf("%s list: sizes %v, want %v", name, seen, want)
		}
		seen = nil
		source = bothSources(configMapClient(t, reply{body: event}.serve))[name]
		stream, err := source.Watch(t.Context(), metav1.ListOptions{})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := stream.Next(t.Context()); err != nil {
			t.Error(err)
		}
		stream.Stop()
		if len(seen) > 0 {
			t.Errorf("%s watch: sizes %v", name, seen)
		}
	}
}

// TestRefusedLists checks that streaming refuses some lists that no server sends, and
// that client-go accepts.
func TestRefusedLists(t *testing.T) {
	for _, r := range []struct {
		reply
		want string
	}{
		{reply{name: "items twice", body: `{"kind":"ConfigMapList","apiVersion":"v1","items":[` + configMap +
			`],"items":[{"metadata":{"name":"b"}}]}`}, "[b v\u00e9]"},
	} {
		for name, source := range bothSources(configMapClient(t, r.serve)) {
			items := []string{}
			_, err := each(t.Context(), source, metav1.ListOptions{}, func(item any) error {
				obj := item.(*corev1.ConfigMap)
				items = append(items, obj.Name+" "+obj.Data["k"])
				return nil
			})
			if refused := err != nil; refused != (name == "streamed") {
				t.Errorf("%s, %s: %v", r.name, name, err)
			}
			if got := fmt.Sprint(items); name == "plain" && got != r.want {
				t.Errorf("%s: client-go lists %s, not %s", r.name, got, r.want)
			}
		}
	}
}

// TestWatchOfAnotherKind checks that an object of another kind than the requested one ends
// a streamed watch, unless it is the first. client-go reads the next watches, and drops it.
func TestWatchOfAnotherKind(t *testing.T) {
	secret := event("ADDED", `{"kind":"Secret","apiVersion":"v1","metadata":{"name":"s"}}`)
	body := event("BOOKMARK", bookmark) + secret + event("ADDED", watchedMap)
	for name, source := range bothSources(configMapClient(t, reply{body: body}.serve)) {
		for watch := range 3 {
			stream, err := source.Watch(t.Context(), metav1.ListOptions{})
			if err != nil {
				t.Fatal(err)
			}
			stream.Next(t.Context())
			e, err := stream.Next(t.Context())
			stream.Stop()
			if ended := err != nil; ended != (name == "streamed" && watch == 0) || err == io.EOF {
				t.Errorf("%s, watch %d: %v", name, watch, err)
			} else if !ended && nameOf(e.Object) != "a" {
				t.Errorf("%s, watch %d: %v", name, watch, e)
			}
		}
	}
}
