package informer_test

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"reflect"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/cache"

	"github.com/kubewright/kubewright/informers/dynamicinformer"
	"github.com/kubewright/kubewright/runtime/gen/client"
	"github.com/kubewright/kubewright/runtime/listwatch"
)

// TestFieldSets checks that unstructured objects share the contents of their managedFields, unless there is a
// transform: that may change objects.
func TestFieldSets(t *testing.T) {
	const object = `{"apiVersion":"example.com/v1","kind":"Widget",` +
		`"metadata":{"name":%q,"resourceVersion":"1",` +
		`"managedFields":[{"manager":"test","fieldsV1":{"f:spec":{"f:size":{}}}}]}}`
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		switch query := r.URL.Query(); {
		case query.Get("sendInitialEvents") != "":
			w.WriteHeader(http.StatusUnprocessableEntity)
		case query.Get("watch") != "":
			w.(http.Flusher).Flush()
			<-r.Context().Done()
		default:
			io.WriteString(w, `{"apiVersion":"example.com/v1","kind":"WidgetList",`+
				`"metadata":{"resourceVersion":"1"},"items":[`+fmt.Sprintf(object, "a")+`,`+fmt.Sprintf(object, "b")+`]}`)
		}
	}))
	t.Cleanup(server.Close)
	config := &rest.Config{Host: server.URL}
	config.Wrap(listwatch.Wrap)
	httpClient := client.Must(rest.HTTPClientFor(config))
	t.Cleanup(httpClient.CloseIdleConnections)
	widgets := schema.GroupVersionResource{Group: "example.com", Version: "v1", Resource: "widgets"}
	for name, transform := range map[string]cache.TransformFunc{
		"no transform": nil,
		"transform":    func(obj any) (any, error) { return obj, nil },
	} {
		t.Run(name, func(t *testing.T) {
			c := client.Must(dynamic.NewForConfigAndClient(config, httpClient))
			i := dynamicinformer.NewDynamicSharedInformerFactory(c, 0).ForResource(widgets).Informer()
			if err := i.SetTransform(transform); err != nil {
				t.Fatal(err)
			}
			go i.RunWithContext(t.Context())
			if !cache.WaitForCacheSync(t.Context().Done(), i.HasSynced) {
				t.Fatal("not synced")
			}
			sets := map[uintptr]bool{}
			for _, obj := range i.GetStore().List() {
				all, _, _ := unstructured.NestedFieldNoCopy(obj.(*unstructured.Unstructured).Object,
					"metadata", "managedFields")
				sets[reflect.ValueOf(all.([]any)[0].(map[string]any)["fieldsV1"]).Pointer()] = true
			}
			if shared := len(sets) == 1; shared != (transform == nil) || len(sets) == 0 {
				t.Errorf("%d different sets of fields of two objects", len(sets))
			}
		})
	}
}
