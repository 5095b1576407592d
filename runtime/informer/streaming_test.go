package informer_test

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/cache"

	"github.com/kubewright/kubewright/runtime/gen/client"
	gen "github.com/kubewright/kubewright/runtime/gen/informer"
	"github.com/kubewright/kubewright/runtime/informer"
)

// relists is a server whose lists are made by a function. After each list, the watch expires when the test
// wants it to.
type relists struct {
	list   func(w io.Writer, n int)
	lists  atomic.Int64
	expire chan struct{}
}

func (s *relists) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("Content-Type", "application/json")
	if r.URL.Query().Get("watch") == "" {
		n := s.lists.Add(1)
		fmt.Fprintf(w,
			`{"kind":"ConfigMapList","apiVersion":"v1","metadata":{"resourceVersion":"%d"},"items":[`, n)
		s.list(w, int(n))
		io.WriteString(w, "]}")
		return
	}
	w.(http.Flusher).Flush()
	select {
	case <-r.Context().Done():
	case <-s.expire:
		io.WriteString(w,
			`{"type":"ERROR","object":{"kind":"Status","apiVersion":"v1","status":"Failure",`+
				`"reason":"Expired","code":410}}`)
	}
}

// relisting runs an informer of such a server, with plain lists only. replaced receives a value after each
// list was completely delivered to the handlers. This requires that the list's last object is delivered last.
func relisting(
	t *testing.T, s *relists, decoding informer.Options, transform cache.TransformFunc,
) (i cache.SharedIndexInformer, replaced chan struct{}) {
	s.expire = make(chan struct{})
	server := httptest.NewServer(s)
	t.Cleanup(server.Close)
	config := &rest.Config{Host: server.URL, QPS: -1,
		ContentConfig: rest.ContentConfig{ContentType: "application/json"}}
	group := client.Group{Version: corev1.SchemeGroupVersion, APIPath: "/api", Scheme: scheme.Scheme,
		Codecs: scheme.Codecs}
	httpClient := client.Must(rest.HTTPClientFor(config))
	t.Cleanup(httpClient.CloseIdleConnections)
	c := client.NewWithList[*corev1.ConfigMap, *corev1.ConfigMapList](
		client.Must(group.RESTClient(config, httpClient)), scheme.ParameterCodec, "configmaps", "")
	i = gen.NewShared[*corev1.ConfigMap](
		func() gen.ResourceClient[*corev1.ConfigMapList] { return c },
		gen.Options{Client: listsOnly{}})
	if err := informer.Configure(i, decoding); err != nil {
		t.Fatal(err)
	}
	if err := i.SetTransform(transform); err != nil {
		t.Fatal(err)
	}
	replaced = make(chan struct{})
	last := func(obj any) {
		if strings.HasPrefix(obj.(*corev1.ConfigMap).Name, "last") {
			replaced <- struct{}{}
		}
	}
	// With a resync period, handlers receive unchanged objects, too.
	if _, err := i.AddEventHandlerWithResyncPeriod(cache.ResourceEventHandlerFuncs{
		AddFunc:    last,
		UpdateFunc: func(_, obj any) { last(obj) },
	}, 0); err != nil {
		t.Fatal(err)
	}
	return i, replaced
}

// listsOnly is a clientset that makes informers list in pages.
type listsOnly struct{}

func (listsOnly) IsWatchListSemanticsUnSupported() bool { return true }

// start runs an informer until the end of the test.
func start(t *testing.T, i cache.SharedIndexInformer) {
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		i.RunWithContext(t.Context())
	}()
	t.Cleanup(func() { <-ended })
}

func object(name, version, data string) string {
	return fmt.Sprintf(`{"metadata":{"name":%q,"namespace":"ns","resourceVersion":%q},"data":{"k":%q}}`, name,
		version, data)
}

// TestKeepUnchanged checks that, with the option, a relist keeps the objects whose version is the same, as
// the transform made them, and replaces those that changed. Without it, a relist also keeps those whose text
// is the same.
func TestKeepUnchanged(t *testing.T) {
	for _, keep := range []bool{true, false} {
		t.Run(fmt.Sprint(keep), func(t *testing.T) {
			s := &relists{list: func(w io.Writer, n int) {
				fmt.Fprint(w, object("same", "1", fmt.Sprint(n)),
					",", object("changed", fmt.Sprint(n), fmt.Sprint(n)), ",", object("still", "1", "x"),
					",", object("last", fmt.Sprint(n), ""))
			}}
			transforms := 0
			i, replaced := relisting(t, s, informer.Options{KeepUnchanged: keep},
				func(obj any) (any, error) {
					transforms++
					obj.(*corev1.ConfigMap).ResourceVersion = ""
					return obj, nil
				})
			get := func(name string) *corev1.ConfigMap {
				obj, exists, err := i.GetStore().GetByKey("ns/" + name)
				if err != nil || !exists {
					t.Fatalf("%s: %v, %v", name, exists, err)
				}
				return obj.(*corev1.ConfigMap)
			}
			start(t, i)
			<-replaced
			same, changed, still := get("same"), get("changed"), get("still")
			s.expire <- struct{}{}
			<-replaced
			if kept := get("same") == same; kept != keep {
				t.Errorf("kept: %v", kept)
			}
			if get("still") != still {
				t.Error("an object with the same text was replaced")
			}
			if now := get("changed"); now == changed || now.Data["k"] != "2" {
				t.Errorf("the changed object is %v", now)
			}
			if want := map[bool]int{true: 6, false: 7}[keep]; transforms != want {
				t.Errorf("%d transforms, expected %d", transforms, want)
			}
		})
	}
}

// TestWrittenDuringARelist checks that the transform gets no object twice, even if there are writes through
// the indexer while a relist takes unchanged objects from the store.
func TestWrittenDuringARelist(t *testing.T) {
	hot := object("hot", "1", "x")
	s := &relists{list: func(w io.Writer, n int) {
		io.WriteString(w, strings.Repeat(hot+",", 20_000))
		io.WriteString(w, object("last", fmt.Sprint(n), ""))
	}}
	var twice atomic.Int64
	i, replaced := relisting(t, s, informer.Options{KeepUnchanged: true},
		func(obj any) (any, error) {
			cm := obj.(*corev1.ConfigMap)
			if _, seen := cm.Annotations["seen"]; seen {
				twice.Add(1)
			}
			cm.Annotations = map[string]string{"seen": ""}
			return cm, nil
		})
	start(t, i)
	<-replaced
	obj, _, _ := i.GetStore().GetByKey("ns/hot")
	over := make(chan struct{})
	var writer sync.WaitGroup
	writer.Go(func() {
		for {
			select {
			case <-over:
				return
			default:
			}
			if err := i.GetIndexer().Update(obj.(*corev1.ConfigMap).DeepCopy()); err != nil {
				t.Error(err)
			}
		}
	})
	s.expire <- struct{}{}
	<-replaced
	close(over)
	writer.Wait()
	if n := twice.Load(); n > 0 {
		t.Errorf("%d objects were transformed twice", n)
	}
}
