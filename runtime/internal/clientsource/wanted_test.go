package clientsource_test

import (
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/watch"

	"github.com/kubewright/kubewright/runtime/internal/sources"
)

// TestWanted checks over HTTP that a list leaves out unwanted objects, and that a watch has bookmarks in
// their place. If the client decodes, all objects arrive.
func TestWanted(t *testing.T) {
	object := func(n int) string {
		return fmt.Sprintf(`{"kind":"ConfigMap","apiVersion":"v1","metadata":{"name":"n%d","namespace":"ns",`+
			`"uid":"u%d","resourceVersion":"%d"}}`, n, n, 100+n)
	}
	client := configMapClient(t, func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		if r.URL.Query().Get("watch") != "" {
			for n := range 4 {
				io.WriteString(w, event("ADDED", object(n))+event("DELETED", object(n)))
			}
			return
		}
		var items []string
		for n := range 4 {
			items = append(items, object(n))
		}
		io.WriteString(w, listHead+strings.Join(items, ",")+"]}")
	})
	for name, source := range bothSources(client) {
		asked := map[string]int{}
		ctx := sources.WithWanted(t.Context(), func(namespace, uid string) bool {
			asked[namespace+"/"+uid]++
			return uid == "u1" || uid == "u3"
		})
		var listed, watched []string
		_, err := each(ctx, source, metav1.ListOptions{}, func(obj any) error {
			listed = append(listed, obj.(*corev1.ConfigMap).Name)
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
		stream, err := source.Watch(ctx, metav1.ListOptions{ResourceVersion: "9"})
		if err != nil {
			t.Fatal(err)
		}
		for {
			e, err := stream.Next(ctx)
			if err != nil {
				break
			}
			if e.Type == watch.Bookmark && e.Object == nil {
				watched = append(watched, "skipped@"+e.ResourceVersion)
			} else {
				watched = append(watched, string(e.Type)+" "+e.Object.(*corev1.ConfigMap).Name)
			}
		}
		stream.Stop()
		want := "[n1 n3] [skipped@100 skipped@100 ADDED n1 DELETED n1 skipped@102 skipped@102 ADDED n3 DELETED n3]"
		if name == "plain" {
			want = "[n0 n1 n2 n3] [ADDED n0 DELETED n0 ADDED n1 DELETED n1 ADDED n2 DELETED n2 ADDED n3 DELETED n3]"
		}
		if got := fmt.Sprint(listed, " ", watched); got != want {
			t.Errorf("%s: %s, want %s", name, got, want)
		}
		if len(asked) != 4 && name == "streamed" || asked["ns/u2"] != asked["ns/u1"] {
			t.Errorf("%s: asked %v", name, asked)
		}
	}
}
