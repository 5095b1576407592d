package clientsource_test

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"reflect"
	"strconv"
	"strings"
	"sync"
	"testing"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/metadata"
	"k8s.io/client-go/tools/cache"

	"github.com/kubewright/kubewright/runtime/internal/clientsource"
	"github.com/kubewright/kubewright/runtime/internal/sources"
	"github.com/kubewright/kubewright/runtime/listwatch"
)

// namespacesOf calls a source's Namespaces.
func namespacesOf(ctx context.Context, source sources.Source) (map[string]int, error) {
	counts := map[string]int{}
	err := source.(interface {
		Namespaces(context.Context, func(string)) error
	}).Namespaces(ctx, func(namespace string) { counts[namespace]++ })
	return counts, err
}

// pager serves config maps in pages, as metadata if it is asked for that.
type pager struct {
	namespaces []string // of the objects
	// plain means that it can't make metadata.
	plain bool

	mu                sync.Mutex
	pages, asMetadata int
}

func (p *pager) serve(w http.ResponseWriter, req *http.Request) {
	query := req.URL.Query()
	first, _ := strconv.Atoi(query.Get("continue"))
	limit, _ := strconv.Atoi(query.Get("limit"))
	after := min(first+limit, len(p.namespaces))
	asked := strings.HasPrefix(req.Header.Get("Accept"), "application/json;as=PartialObjectMetadataList;")
	p.mu.Lock()
	defer p.mu.Unlock()
	p.pages++
	if asked {
		p.asMetadata++
	}
	meta := metav1.ListMeta{ResourceVersion: "9"}
	if after < len(p.namespaces) {
		meta.Continue = strconv.Itoa(after)
	}
	maps := corev1.ConfigMapList{ListMeta: meta,
		TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "ConfigMapList"}}
	metadata := metav1.PartialObjectMetadataList{ListMeta: meta,
		TypeMeta: metav1.TypeMeta{APIVersion: "meta.k8s.io/v1", Kind: "PartialObjectMetadataList"}}
	for i, namespace := range p.namespaces[first:after] {
		m := metav1.ObjectMeta{Namespace: namespace, Name: fmt.Sprint(first + i),
			ManagedFields: []metav1.ManagedFieldsEntry{{Manager: "me", FieldsV1: &metav1.FieldsV1{Raw: []byte("{}")}}}}
		maps.Items = append(maps.Items, corev1.ConfigMap{ObjectMeta: m, Data: map[string]string{"a": "b"},
			TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "ConfigMap"}})
		metadata.Items = append(metadata.Items, metav1.PartialObjectMetadata{ObjectMeta: m})
	}
	w.Header().Set("Content-Type", runtime.ContentTypeJSON)
	if asked && !p.plain {
		json.NewEncoder(w).Encode(metadata)
	} else {
		json.NewEncoder(w).Encode(maps)
	}
}

var configMapsV1 = corev1.SchemeGroupVersion.WithResource("configmaps")

// clientsOfMaps make sources of config maps, over all kinds of clients. Lists of some are streamed.
var clientsOfMaps = map[string]struct {
	source   func(*testing.T, http.HandlerFunc) sources.Source
	streamed bool
}{
	"generated": {func(t *testing.T, h http.HandlerFunc) sources.Source {
		return bothSources(configMapClient(t, h))["streamed"]
	}, true},
	"generated, without streams": {func(t *testing.T, h http.HandlerFunc) sources.Source {
		return bothSources(configMapClient(t, h))["plain"]
	}, false},
	"lister-watcher": {func(t *testing.T, h http.HandlerFunc) sources.Source {
		return fromListWatch(maps(restClient(t, h, true)))
	}, true},
	"lister-watcher, not declared": {func(t *testing.T, h http.HandlerFunc) sources.Source {
		return clientsource.FromListerWatcher(maps(restClient(t, h, true)), &corev1.ConfigMap{})
	}, false},
	"lister-watcher without the transport": {func(t *testing.T, h http.HandlerFunc) sources.Source {
		return fromListWatch(maps(restClient(t, h, false)))
	}, false},
	"dynamic": {func(t *testing.T, h http.HandlerFunc) sources.Source {
		client := dynamic.NewForConfigOrDie(serve(t, h, true)).Resource(configMapsV1)
		return clientsource.FromClient(reflect.TypeFor[*unstructured.Unstructured](),
			func() sources.Client[*unstructured.UnstructuredList] { return client },
			clientsource.Options{Streamed: true})
	}, true},
	"metadata": {func(t *testing.T, h http.HandlerFunc) sources.Source {
		client := metadata.NewForConfigOrDie(serve(t, h, true)).Resource(configMapsV1)
		return clientsource.FromClient(reflect.TypeFor[*metav1.PartialObjectMetadata](),
			func() sources.Client[*metav1.PartialObjectMetadataList] { return client },
			clientsource.Options{Streamed: true})
	}, true},
}

// TestNamespaces: objects are counted by one list in pages of 500. It has only metadata where lists are
// streamed, and the source's status doesn't count it.
func TestNamespaces(t *testing.T) {
	for name, c := range clientsOfMaps {
		for _, objects := range []int{0, 1, 500, 501, 1700} {
			for _, plain := range []bool{false, true} {
				p, want := &pager{plain: plain}, map[string]int{}
				for n := range objects {
					namespace := fmt.Sprint("ns-", n%7)
					p.namespaces = append(p.namespaces, namespace)
					want[namespace]++
				}
				source := c.source(t, p.serve)
				got, err := namespacesOf(t.Context(), source)
				if err != nil || !reflect.DeepEqual(got, want) {
					t.Errorf("%s, plain %t: counted %v (%v), want %v", name, plain, got, err, want)
				}
				if pages := max((objects+499)/500, 1); p.pages != pages || c.streamed && p.asMetadata != pages {
					t.Errorf("%s: %d objects in %d pages, %d as metadata, want %d", name, objects, p.pages,
						p.asMetadata, pages)
				}
				if reading := readingOf(source); reading != (listwatch.Reading{}) {
					t.Errorf("%s: the source has read %+v", name, reading)
				}
			}
		}
	}
}

// TestNamespacesFail: nothing but whole lists counts.
func TestNamespacesFail(t *testing.T) {
	again := `{"kind":"ConfigMapList","apiVersion":"v1","metadata":{"continue":"again"},"items":[]}`
	for what, r := range map[string]reply{
		"refused": {status: 403, body: `{"kind":"Status","apiVersion":"v1",` +
			`"status":"Failure","reason":"Forbidden","code":403}`},
		"cut":           {body: listHead + configMap, cut: true},
		"no list":       {body: `[]`},
		"the same page": {body: again},
	} {
		for name, c := range clientsOfMaps {
			if got, err := namespacesOf(t.Context(), c.source(t, r.serve)); err == nil {
				t.Errorf("%s, %s: counted %v", name, what, got)
			} else if what == "refused" && !apierrors.IsForbidden(err) {
				t.Errorf("%s, %s: %v", name, what, err)
			}
		}
	}
	p := &pager{namespaces: []string{"a"}}
	client := restClient(t, p.serve, true)
	twice := fromListWatch(&cache.ListWatch{ListWithContextFunc: func(
		ctx context.Context, opts metav1.ListOptions,
	) (runtime.Object, error) {
		if _, err := maps(client).ListWithContext(ctx, opts); ctx.Err() != nil {
			return nil, err
		}
		return maps(client).ListWithContext(ctx, opts)
	}})
	if got, err := namespacesOf(t.Context(), twice); err == nil || !strings.Contains(err.Error(), "several") {
		t.Errorf("two lists in one: counted %v, %v", got, err)
	}
}
