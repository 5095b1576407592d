package clientsource_test

import (
	"bytes"
	"net/http"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/serializer/cbor"
	apistreaming "k8s.io/apimachinery/pkg/runtime/serializer/streaming"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/features"
	featurestesting "k8s.io/client-go/features/testing"
	"k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/rest"
	restwatch "k8s.io/client-go/rest/watch"
)

// TestCBOR checks that client-go negotiates CBOR if it is allowed, and decodes the responses: lists, watches,
// and the JSON of a server without CBOR.
func TestCBOR(t *testing.T) {
	featurestesting.SetFeatureDuringTest(t, features.ClientsAllowCBOR, true)
	featurestesting.SetFeatureDuringTest(t, features.ClientsPreferCBOR, true)
	obj := &corev1.ConfigMap{
		TypeMeta:   metav1.TypeMeta{Kind: "ConfigMap", APIVersion: "v1"},
		ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: "a", ResourceVersion: "5"},
		Data:       map[string]string{"k": "v"},
	}
	list := &corev1.ConfigMapList{
		TypeMeta: metav1.TypeMeta{Kind: "ConfigMapList", APIVersion: "v1"},
		ListMeta: metav1.ListMeta{ResourceVersion: "9"}, Items: []corev1.ConfigMap{*obj},
	}
	serializer := cbor.NewSerializer(scheme.Scheme, scheme.Scheme)
	for _, speaks := range []string{runtime.ContentTypeCBOR, runtime.ContentTypeJSON} {
		t.Run(speaks, func(t *testing.T) {
			c := configMapClient(t, func(w http.ResponseWriter, r *http.Request) {
				watched := r.URL.Query().Get("watch") == "true"
				if speaks == runtime.ContentTypeJSON {
					w.Header().Set("Content-Type", speaks)
					if watched {
						w.Write([]byte(`{"type":"ADDED","object":{"kind":"ConfigMap","apiVersion":"v1",` +
							`"metadata":{"name":"a","resourceVersion":"5"},"data":{"k":"v"}}}`))
						return
					}
					w.Write([]byte(`{"kind":"ConfigMapList","apiVersion":"v1",` +
						`"metadata":{"resourceVersion":"9"},"items":[` + configMap + "]}"))
					return
				}
				var body bytes.Buffer
				var err error
				if watched {
					w.Header().Set("Content-Type", runtime.ContentTypeCBORSequence)
					err = restwatch.NewEncoder(apistreaming.NewEncoder(&body, serializer),
						serializer).Encode(&watch.Event{Type: watch.Added, Object: obj})
				} else {
					w.Header().Set("Content-Type", speaks)
					err = serializer.Encode(list, &body)
				}
				if err != nil {
					t.Error(err)
				}
				w.Write(body.Bytes())
			}, func(config *rest.Config) { config.ContentType = "" })
			for name, source := range bothSources(c) {
				items, meta := collect[*corev1.ConfigMap](t, source, metav1.ListOptions{})
				if len(items) != 1 || items[0].Name != "a" || items[0].Data["k"] == "" ||
					meta.ResourceVersion != "9" {
					t.Errorf("%s: %v, %v", name, items, meta)
				}
				w, err := source.Watch(t.Context(), metav1.ListOptions{})
				if err != nil {
					t.Fatal(err)
				}
				e, err := w.Next(t.Context())
				w.Stop()
				obj, ok := e.Object.(*corev1.ConfigMap)
				if err != nil || e.Type != watch.Added || !ok || obj.Name != "a" || obj.Data["k"] != "v" ||
					e.ResourceVersion != "5" {
					t.Errorf("%s: %+v, %v", name, e, err)
				}
			}
		})
	}
}
