package kwctrl_test

import (
	"bytes"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/serializer/protobuf"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/rest"
)

// encoding is what a server sends.
type encoding struct {
	name, mediaType string
}

var (
	jsonEncoding     = encoding{"json", runtime.ContentTypeJSON}
	protobufEncoding = encoding{"protobuf", runtime.ContentTypeProtobuf}
	encodings        = []encoding{jsonEncoding, protobufEncoding}
)

// served has the URLs of all servers so far.
var served sync.Map

// serve returns the configuration of clients of a server. No other one of its servers has had that URL:
// controller-runtime's registry keeps the metrics of informers that have stopped, and their names have it.
func serve(t *testing.T, handler http.HandlerFunc) *rest.Config {
	server := httptest.NewServer(handler)
	for {
		t.Cleanup(server.Close)
		if _, again := served.LoadOrStore(server.URL, true); !again {
			return &rest.Config{Host: server.URL, QPS: -1}
		}
		server = httptest.NewServer(handler) // at another port, since the last server still listens
	}
}

// newServer serves config maps in two namespaces: each has first and last, and then last is
// changed and deleted. It doesn't support WatchList.
func newServer(t *testing.T, e encoding) *rest.Config {
	ended := make(chan struct{})
	t.Cleanup(func() { close(ended) })
	return serve(t, func(w http.ResponseWriter, r *http.Request) {
		asMetadata := strings.Contains(r.Header.Get("Accept"), "as=PartialObjectMetadata")
		namespace := "ns"
		if strings.Contains(r.URL.Path, "/namespaces/other/") {
			namespace = "other"
		}
		out := encoder{t: t, w: w, encoding: e, metadata: asMetadata}
		switch query := r.URL.Query(); {
		case query.Get("sendInitialEvents") != "":
			w.WriteHeader(http.StatusUnprocessableEntity)
		case query.Get("watch") == "":
			w.Header().Set("Content-Type", e.mediaType)
			out.list(configMap(namespace, "first", "1"), configMap(namespace, "last", "2"))
		default:
			w.Header().Set("Content-Type", e.mediaType+";stream=watch")
			out.event(watch.Modified, configMap(namespace, "last", "4"))
			out.event(watch.Bookmark, &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{ResourceVersion: "5"}})
			out.event(watch.Deleted, configMap(namespace, "last", "6"))
			w.(http.Flusher).Flush()
			select {
			case <-r.Context().Done():
			case <-ended:
			}
		}
	})
}

func configMap(namespace, name, version string) *corev1.ConfigMap {
	return &corev1.ConfigMap{
		ObjectMeta: metav1.ObjectMeta{
			Namespace: namespace, Name: name, UID: "u-" + "x", ResourceVersion: version,
			Labels: map[string]string{"l": "m"}, Annotations: map[string]string{"a": "b"},
		},
		Data: map[string]string{"k": "v"},
	}
}

// encoder writes as an API server does: only the outermost object has a kind.
type encoder struct {
	t *testing.T
	w io.Writer
	encoding
	metadata bool
}

func (e encoder) object(obj *corev1.ConfigMap) runtime.Object {
	if !e.metadata {
		obj = obj.DeepCopy()
		obj.TypeMeta = metav1.TypeMeta{Kind: "ConfigMap", APIVersion: "v1"}
		return obj
	}
	return &metav1.PartialObjectMetadata{
		TypeMeta:   metav1.TypeMeta{Kind: "PartialObjectMetadata", APIVersion: "meta.k8s.io/v1"},
		ObjectMeta: obj.ObjectMeta,
	}
}

func (e encoder) list(objects ...*corev1.ConfigMap) {
	var list runtime.Object
	if e.metadata {
		all := &metav1.PartialObjectMetadataList{
			TypeMeta: metav1.TypeMeta{Kind: "PartialObjectMetadataList", APIVersion: "meta.k8s.io/v1"},
			ListMeta: metav1.ListMeta{ResourceVersion: "3"},
		}
		for _, obj := range objects {
			all.Items = append(all.Items, *e.object(obj).(*metav1.PartialObjectMetadata))
		}
		list = all
	} else {
		all := &corev1.ConfigMapList{
			TypeMeta: metav1.TypeMeta{Kind: "ConfigMapList", APIVersion: "v1"},
			ListMeta: metav1.ListMeta{ResourceVersion: "3"},
		}
		for _, obj := range objects {
			all.Items = append(all.Items, *obj)
		}
		list = all
	}
	e.w.Write(e.encode(list))
}

// encode encodes an object that has a kind.
func (e encoder) encode(obj runtime.Object) []byte {
	var text bytes.Buffer
	var err error
	if e.encoding == jsonEncoding {
		err = json.NewEncoder(&text).Encode(obj)
	} else {
		err = protobuf.NewSerializer(nil, nil).Encode(obj, &text)
	}
	if err != nil {
		e.t.Error(err)
	}
	return text.Bytes()
}

func (e encoder) event(typ watch.EventType, obj *corev1.ConfigMap) {
	object := e.encode(e.object(obj))
	if e.encoding == jsonEncoding {
		json.NewEncoder(e.w).Encode(map[string]any{"type": typ, "object": json.RawMessage(object)})
		return
	}
	text, err := (&metav1.WatchEvent{Type: string(typ), Object: runtime.RawExtension{Raw: object}}).Marshal()
	if err != nil {
		e.t.Error(err)
	}
	protobuf.LengthDelimitedFramer.NewFrameWriter(e.w).Write(text)
}
