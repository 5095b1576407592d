package clientsource_test

import (
	"fmt"
	"io"
	"net/http"
	"reflect"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	protobufserializer "k8s.io/apimachinery/pkg/runtime/serializer/protobuf"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/metadata"
	"k8s.io/client-go/rest"

	"github.com/kubewright/kubewright/runtime/internal/clientsource"
	"github.com/kubewright/kubewright/runtime/internal/sources"
)

// widget is a custom resource as servers write it: with its kind, also in lists.
func widget(name string) string {
	return fmt.Sprintf(`{"apiVersion":"shop.example.com/v1","kind":"Widget",`+
		`"metadata":{"name":%q,"namespace":"ns","resourceVersion":"5","labels":{"x":"y"}},`+
		`"spec":{"n":7,"f":1.5,"l":[1,"a",null,{"b":true}]}}`, name)
}

// metadataOf is the metadata of an object as servers write it.
func metadataOf(name string) string {
	return fmt.Sprintf(`{"kind":"PartialObjectMetadata","apiVersion":"meta.k8s.io/v1","metadata":{"name":%q,`+
		`"namespace":"ns","resourceVersion":"5","labels":{"x":"y"}}}`, name)
}

// customLists are lists of custom resources. Servers write the members of these by name.
var customLists = []reply{
	{name: "custom resources", body: `{"apiVersion":"shop.example.com/v1","items":[` +
		widget("a") + "," + widget("b") + `],"kind":"WidgetList",` +
		`"metadata":{"continue":"","resourceVersion":"9"}}`},
	{name: "no custom resources", body: `{"apiVersion":"shop.example.com/v1","items":[],` +
		`"kind":"WidgetList","metadata":{"resourceVersion":"9"}}`},
	{name: "a built-in type", body: listHead + configMap + "]}"},
	{name: "a table", body: `{"kind":"Table","apiVersion":"meta.k8s.io/v1",` +
		`"metadata":{"resourceVersion":"9"},"rows":[]}`},
	{name: "an item without a kind", body: `{"apiVersion":"v1","items":[` + configMap +
		`],"kind":"ConfigMapList","metadata":{"resourceVersion":"9"}}`},
	{name: "metadata", body: `{"kind":"PartialObjectMetadataList","apiVersion":"meta.k8s.io/v1",` +
		`"metadata":{"resourceVersion":"9"},"items":[` + metadataOf("a") + "," + metadataOf("b") + "]}"},
	{name: "a status", body: gone},
	{name: "refused", status: 403, body: `{"kind":"Status","apiVersion":"v1",` +
		`"status":"Failure","reason":"Forbidden","code":403}`},
	{name: "cut", body: `{"apiVersion":"shop.example.com/v1","items":[` + widget("a") + ",", cut: true},
}

// customWatches are watches of these custom resources.
var customWatches = []reply{
	{name: "custom resources", body: event("ADDED", widget("a")) + event("DELETED", widget("a"))},
	{name: "a built-in type", body: event("ADDED", watchedMap) + event("BOOKMARK", bookmark)},
	{name: "metadata", body: event("ADDED", metadataOf("a")) + event("DELETED", metadataOf("a"))},
	{name: "an object without a kind", body: event("ADDED", configMap)},
	{name: "expired", body: event("ADDED", widget("a")) + event("ERROR", gone)},
}

// TestCustomResources checks that lists and watches of dynamic and metadata clients have the same results,
// including kinds, streamed or not.
func TestCustomResources(t *testing.T) {
	type outcome struct {
		Items  []any
		Meta   sources.ListMeta
		Failed bool
		Events []sources.Event
		Ended  bool
	}
	read := func(source sources.Source) (list, watch outcome) {
		meta, err := each(t.Context(), source, metav1.ListOptions{}, func(obj any) error {
			list.Items = append(list.Items, obj)
			return nil
		})
		list.Failed = err != nil
		if err == nil {
			list.Meta = meta
		} else {
			list.Items = nil // The items of a failed list are dropped.
		}
		w := readWatch(t, source)
		return list, outcome{Events: w.events, Ended: w.end == io.EOF}
	}
	resource := corev1.SchemeGroupVersion.WithResource("configmaps")
	for name, newSource := range map[string]func(*rest.Config, bool) sources.Source{
		"dynamic": func(config *rest.Config, streamed bool) sources.Source {
			client := dynamic.NewForConfigOrDie(config).Resource(resource).Namespace("ns")
			return clientsource.FromClient(reflect.TypeFor[*unstructured.Unstructured](),
				func() sources.Client[*unstructured.UnstructuredList] { return client },
				clientsource.Options{Streamed: streamed})
		},
		"metadata": func(config *rest.Config, streamed bool) sources.Source {
			client := metadata.NewForConfigOrDie(config).Resource(resource).Namespace("ns")
			return clientsource.FromClient(reflect.TypeFor[*metav1.PartialObjectMetadata](),
				func() sources.Client[*metav1.PartialObjectMetadataList] { return client },
				clientsource.Options{Streamed: streamed})
		},
	} {
		streams := 0
		for n, r := range append(customLists, customWatches...) {
			lists := n < len(customLists)
			handler := func(w http.ResponseWriter, req *http.Request) {
				if (req.URL.Query().Get("watch") == "") == lists {
					r.serve(w, req)
					return
				}
				reply{status: 403}.serve(w, req)
			}
			ours := newSource(serve(t, handler, true), true)
			streamedList, streamedWatch := read(ours)
			plainList, plainWatch := read(newSource(serve(t, handler, false), false))
			if !reflect.DeepEqual(streamedList, plainList) {
				t.Errorf("%s, a list, %s: streamed %+v, plain %+v", name, r.name, streamedList, plainList)
			}
			if !reflect.DeepEqual(streamedWatch, plainWatch) {
				t.Errorf("%s, a watch, %s: streamed %+v, plain %+v", name, r.name, streamedWatch, plainWatch)
			}
			streams += readingOf(ours).Streamed
		}
		if streams < 2 {
			t.Errorf("%s: %d streams", name, streams)
		}
	}
}

// TestMetadataInProtobuf checks that the metadata of objects in protobuf is the same, streamed or not.
func TestMetadataInProtobuf(t *testing.T) {
	one := metav1.PartialObjectMetadata{
		TypeMeta: metav1.TypeMeta{Kind: "PartialObjectMetadata", APIVersion: "meta.k8s.io/v1"},
		ObjectMeta: metav1.ObjectMeta{
			Name: "a", Namespace: "ns", ResourceVersion: "5", Labels: map[string]string{"x": "y"},
		},
	}
	list := metav1.PartialObjectMetadataList{
		TypeMeta: metav1.TypeMeta{Kind: "PartialObjectMetadataList", APIVersion: "meta.k8s.io/v1"},
		ListMeta: metav1.ListMeta{ResourceVersion: "9"}, Items: []metav1.PartialObjectMetadata{one},
	}
	handler := func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", runtime.ContentTypeProtobuf)
		io.Copy(w, strings.NewReader(inProtobuf(t, &list)))
	}
	both := map[bool][]any{}
	for _, streamed := range []bool{true, false} {
		client := metadata.NewForConfigOrDie(serve(t, handler, streamed)).
			Resource(corev1.SchemeGroupVersion.WithResource("configmaps"))
		source := clientsource.FromClient(reflect.TypeFor[*metav1.PartialObjectMetadata](),
			func() sources.Client[*metav1.PartialObjectMetadataList] { return client },
			clientsource.Options{Streamed: streamed})
		if _, err := each(t.Context(), source, metav1.ListOptions{}, func(obj any) error {
			both[streamed] = append(both[streamed], obj)
			return nil
		}); err != nil {
			t.Fatal(err)
		}
		if got := readingOf(source).Streamed; (got == 1) != streamed {
			t.Errorf("streamed %v: %d streams", streamed, got)
		}
	}
	if !reflect.DeepEqual(both[true], both[false]) {
		t.Errorf("streamed %+v, plain %+v", both[true], both[false])
	}
}

// inProtobuf encodes an object that has a kind.
func inProtobuf(t *testing.T, obj runtime.Object) string {
	var text strings.Builder
	if err := protobufserializer.NewSerializer(nil, nil).Encode(obj, &text); err != nil {
		t.Fatal(err)
	}
	return text.String()
}
