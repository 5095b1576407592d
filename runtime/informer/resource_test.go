package informer_test

import (
	"context"
	"fmt"
	"net/http"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/cache"

	"github.com/kubewright/kubewright/internal/bubble"
	kwcache "github.com/kubewright/kubewright/runtime/cache"
	"github.com/kubewright/kubewright/runtime/informer"
	"github.com/kubewright/kubewright/runtime/listwatch"
)

// listing is a lister-watcher without watch-lists.
type listing struct {
	*cache.ListWatch
	listsOnly
}

// reportedResource runs an informer over a lister-watcher that uses the client of a server, until its first
// list has ended, and returns the resource of its status.
func reportedResource(
	t *testing.T, prefix string, status int, adjust func(*rest.Config), streamed bool,
	list func(context.Context, dynamic.Interface, metav1.ListOptions) (*unstructured.UnstructuredList, error),
) (resource schema.GroupVersionResource) {
	t.Helper()
	config := &rest.Config{Host: "http://" + serverName + prefix, QPS: -1}
	config.Transport = inMemory{http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		answer{status: status, body: `{"kind":"ThingList","apiVersion":"v1","metadata":{"resourceVersion":"5"},` +
			`"items":[]}`}.write(w)
	})}
	adjust(config)
	client := dynamic.NewForConfigOrDie(config)
	var lw cache.ListerWatcher = listing{ListWatch: &cache.ListWatch{
		ListWithContextFunc: func(ctx context.Context, opts metav1.ListOptions) (runtime.Object, error) {
			return list(ctx, client, opts)
		},
		WatchFuncWithContext: func(ctx context.Context, opts metav1.ListOptions) (watch.Interface, error) {
			return watch.NewFake(), nil
		},
	}}
	if streamed {
		lw = listwatch.Streamed(lw, nil)
	}
	synctest.Test(t, func(t *testing.T) {
		i := kwcache.NewSharedIndexInformerWithOptions(
			lw, &unstructured.Unstructured{}, cache.SharedIndexInformerOptions{})
		if s, _ := informer.StatusOf(i); !s.Resource.Empty() {
			t.Errorf("before the first request: %v", s.Resource)
		}
		ctx, stop := context.WithCancel(t.Context())
		var running sync.WaitGroup
		running.Go(func() { i.RunWithContext(ctx) })
		bubble.Advance(time.Minute)
		s, _ := informer.StatusOf(i)
		resource = s.Resource
		stop()
		running.Wait()
	})
	return resource
}

// TestResourceOfListerWatcher checks that the status of an informer made from a ListerWatcher names the
// resource, whatever prefix the server has and whether the server grants the list, once the transport has
// seen a request.
func TestResourceOfListerWatcher(t *testing.T) {
	withTransport := func(c *rest.Config) { c.Wrap(listwatch.Wrap) }
	resources := []schema.GroupVersionResource{
		{Version: "v1", Resource: "pods"},
		{Version: "v1", Resource: "namespaces"},
		{Group: "apps", Version: "v1", Resource: "deployments"},
		{Group: "shop.example.com", Version: "v1beta1", Resource: "apis"},
		{Group: "x.example.com", Version: "v1", Resource: "api"},
	}
	prefixes := []string{"", "/", "/k8s/clusters/c-1", "/api", "/apis", "/api/v1/x/apis", "/apis/apps/v1/y/",
		"/api/v1/namespaces/ns/services/s/proxy"}
	for _, resource := range resources {
		for _, prefix := range prefixes {
			for n, namespace := range []string{"", "shop", "api", "apis", "namespaces", "watch"} {
				status := []int{200, 403}[n%2]
				for _, streamed := range []bool{false, true} {
					got := reportedResource(t, prefix, status, withTransport, streamed, func(
						ctx context.Context, client dynamic.Interface, opts metav1.ListOptions,
					) (*unstructured.UnstructuredList, error) {
						return client.Resource(resource).Namespace(namespace).List(ctx, opts)
					})
					if got != resource {
						t.Errorf("%q, namespace %q, status %d, streamed %v: %v, want %v",
							prefix, namespace, status, streamed, got, resource)
					}
				}
			}
		}
	}
	t.Run("no transport", func(t *testing.T) {
		got := reportedResource(t, "", 200, func(*rest.Config) {}, false, func(
			ctx context.Context, client dynamic.Interface, opts metav1.ListOptions,
		) (*unstructured.UnstructuredList, error) {
			return client.Resource(resources[0]).List(ctx, opts)
		})
		if !got.Empty() {
			t.Error(got)
		}
	})
	t.Run("other requests", func(t *testing.T) {
		got := reportedResource(t, "", 200, withTransport, false, func(
			ctx context.Context, client dynamic.Interface, opts metav1.ListOptions,
		) (*unstructured.UnstructuredList, error) {
			// Neither an object nor a write is a request of the collection.
			client.Resource(resources[2]).Namespace("ns").Get(ctx, "x", metav1.GetOptions{})
			client.Resource(resources[1]).Create(ctx, &unstructured.Unstructured{Object: map[string]any{
				"kind": "Thing", "apiVersion": "v1"}}, metav1.CreateOptions{})
			return client.Resource(resources[0]).List(ctx, opts)
		})
		if got != resources[0] {
			t.Error(got)
		}
	})
	t.Run("several resources", func(t *testing.T) {
		got := reportedResource(t, "", 200, withTransport, false, func(
			ctx context.Context, client dynamic.Interface, opts metav1.ListOptions,
		) (*unstructured.UnstructuredList, error) {
			if _, err := client.Resource(resources[1]).List(ctx, metav1.ListOptions{}); err != nil {
				return nil, fmt.Errorf("list namespaces: %w", err)
			}
			return client.Resource(resources[0]).List(ctx, opts)
		})
		if !got.Empty() {
			t.Error(got)
		}
	})
}
