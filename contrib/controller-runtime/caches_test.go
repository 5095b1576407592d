package kwctrl_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"reflect"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/rest"
	toolscache "k8s.io/client-go/tools/cache"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"

	kwctrl "github.com/kubewright/kubewright/contrib/controller-runtime"
	"github.com/kubewright/kubewright/runtime/informer"
	"github.com/kubewright/kubewright/runtime/listwatch"
)

// forms are the forms in which a cache may hold one kind.
var forms = map[string]func() (client.Object, client.ObjectList){
	"typed": func() (client.Object, client.ObjectList) { return &corev1.ConfigMap{}, &corev1.ConfigMapList{} },
	"unstructured": func() (client.Object, client.ObjectList) {
		obj, list := &unstructured.Unstructured{}, &unstructured.UnstructuredList{}
		obj.SetGroupVersionKind(corev1.SchemeGroupVersion.WithKind("ConfigMap"))
		list.SetGroupVersionKind(corev1.SchemeGroupVersion.WithKind("ConfigMapList"))
		return obj, list
	},
	"metadata": func() (client.Object, client.ObjectList) {
		obj, list := &metav1.PartialObjectMetadata{}, &metav1.PartialObjectMetadataList{}
		obj.SetGroupVersionKind(corev1.SchemeGroupVersion.WithKind("ConfigMap"))
		list.SetGroupVersionKind(corev1.SchemeGroupVersion.WithKind("ConfigMapList"))
		return obj, list
	},
}

// options returns the options of a cache of config maps.
func options() cache.Options {
	mapper := meta.NewDefaultRESTMapper(nil)
	for _, kind := range []string{"ConfigMap", "ConfigMapList", "Secret", "SecretList"} {
		mapper.Add(corev1.SchemeGroupVersion.WithKind(kind), meta.RESTScopeNamespace)
	}
	return cache.Options{Scheme: scheme.Scheme, Mapper: mapper}
}

// start runs a cache until the test ends.
func start(t *testing.T, c cache.Cache) context.Context {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error)
	go func() { ended <- c.Start(ctx) }()
	t.Cleanup(func() {
		cancel()
		if err := <-ended; err != nil {
			t.Error(err)
		}
	})
	if !c.WaitForCacheSync(ctx) {
		t.Fatal("the cache didn't start")
	}
	return ctx
}

// seen is what a program sees of a kind: the arguments of its handlers and its transform, and
// what it reads.
type seen struct {
	Handled, Transformed []string
	Object, List         string
}

// watchAll returns what is seen of a form until an object called last is deleted.
func watchAll(
	t *testing.T, c cache.Cache, form func() (client.Object, client.ObjectList), transformed *[]string,
) seen {
	t.Helper()
	obj, list := form()
	// The handler must be there before the first event.
	i, err := c.GetInformer(t.Context(), obj, cache.BlockUntilSynced(false))
	if err != nil {
		t.Fatal(err)
	}
	var s seen
	last := make(chan struct{})
	note := func(what string, obj any) { s.Handled = append(s.Handled, what+" "+show(obj)) }
	r, err := i.AddEventHandler(toolscache.ResourceEventHandlerFuncs{
		AddFunc:    func(obj any) { note("add", obj) },
		UpdateFunc: func(_, obj any) { note("update", obj) },
		DeleteFunc: func(obj any) {
			note("delete", obj)
			close(last)
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	ctx := start(t, c)
	select {
	case <-last:
	case <-time.After(20 * time.Second):
		t.Fatalf("no deletion; seen so far: %v; synced: %v", s.Handled, r.HasSynced())
	}
	if err := c.Get(ctx, client.ObjectKey{Namespace: "ns", Name: "first"}, obj); err != nil {
		t.Error(err)
	}
	if err := c.List(ctx, list, client.InNamespace("ns")); err != nil {
		t.Error(err)
	}
	s.Object, s.List, s.Transformed = show(obj), show(list), *transformed
	return s
}

// show shows an object with its kind.
func show(obj any) string {
	if o, ok := obj.(runtime.Object); ok {
		return fmt.Sprintf("%T %s %+v", obj, o.GetObjectKind().GroupVersionKind(), obj)
	}
	return fmt.Sprintf("%T", obj)
}

// A program sees the same objects and events on our caches as on controller-runtime's own, in
// every form, and everything is streamed.
func TestCachesShowTheSame(t *testing.T) {
	for name, form := range forms {
		for _, encoding := range encodings {
			if name == "unstructured" && encoding != jsonEncoding {
				continue
			}
			t.Run(name+"/"+encoding.name, func(t *testing.T) {
				caches := kwctrl.NewCaches(kwctrl.Options{})
				both := map[string]seen{}
				for of, newCache := range map[string]cache.NewCacheFunc{"ours": caches.NewCache, "theirs": cache.New} {
					opts := options()
					var transformed []string
					opts.DefaultTransform = func(obj any) (any, error) {
						transformed = append(transformed, show(obj))
						return obj, nil
					}
					c, err := newCache(newServer(t, encoding), opts)
					if err != nil {
						t.Fatal(err)
					}
					both[of] = watchAll(t, c, form, &transformed)
				}
				if !reflect.DeepEqual(both["ours"], both["theirs"]) {
					t.Errorf("ours:\n%+v\ntheirs:\n%+v", both["ours"], both["theirs"])
				}
				status := caches.Statuses()
				if len(status) != 1 || status[0].Reading.Streamed == 0 || status[0].Reading.Whole != 0 {
					t.Errorf("%+v", status)
				}
			})
		}
	}
}

// A cache can have all forms of one kind at once, and Drop applies to all of them.
func TestDrop(t *testing.T) {
	caches := kwctrl.NewCaches(kwctrl.Options{Options: informer.Options{
		Drop: []string{"metadata.labels"}, Limiter: listwatch.NewLimiter(1).WithBudget(1)}})
	c, err := caches.NewCache(newServer(t, jsonEncoding), options())
	if err != nil {
		t.Fatal(err)
	}
	ctx := start(t, c)
	for name, form := range forms {
		obj, _ := form()
		if err := c.Get(ctx, client.ObjectKey{Namespace: "ns", Name: "first"}, obj); err != nil {
			t.Fatal(err)
		}
		if len(obj.GetLabels()) != 0 || obj.GetAnnotations()["a"] != "b" {
			t.Errorf("%s: %s", name, show(obj))
		}
	}
	if n := len(caches.Statuses()); n != len(forms) {
		t.Errorf("%d informers", n)
	}
}

// The options of a cache keep working.
func TestOptionsOfCaches(t *testing.T) {
	t.Run("negative", func(t *testing.T) {
		negative := kwctrl.Options{Options: informer.Options{SilenceTimeout: -1}}
		if _, err := kwctrl.NewCaches(negative).NewCache(&rest.Config{}, options()); err == nil {
			t.Errorf("%+v is accepted", negative)
		}
	})
	t.Run("NewInformer", func(t *testing.T) {
		opts, called := options(), false
		opts.NewInformer = func(
			lw toolscache.ListerWatcher, obj runtime.Object, resync time.Duration, indexers toolscache.Indexers,
		) toolscache.SharedIndexInformer {
			called = true
			return toolscache.NewSharedIndexInformer(lw, obj, resync, indexers)
		}
		caches := kwctrl.NewCaches(kwctrl.Options{})
		c, err := caches.NewCache(newServer(t, jsonEncoding), opts)
		if err != nil {
			t.Fatal(err)
		}
		_, err = c.GetInformer(start(t, c), &corev1.ConfigMap{})
		if err != nil || !called || len(caches.Statuses()) != 0 {
			t.Errorf("%v, %v", err, called)
		}
	})
	t.Run("NewCache", func(t *testing.T) {
		refused := errors.New("refused")
		caches := kwctrl.NewCaches(kwctrl.Options{NewCache: func(*rest.Config, cache.Options) (cache.Cache, error) {
			return nil, refused
		}})
		if _, err := caches.NewCache(newServer(t, jsonEncoding), options()); err != refused {
			t.Error(err)
		}
	})
	t.Run("HTTPClient", func(t *testing.T) {
		config, opts := newServer(t, jsonEncoding), options()
		httpClient, err := rest.HTTPClientFor(config)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(httpClient.CloseIdleConnections)
		before := httpClient.Transport
		opts.HTTPClient = httpClient
		_, err = kwctrl.NewCaches(kwctrl.Options{}).NewCache(config, opts)
		if err != nil || httpClient.Transport != before || config.WrapTransport != nil {
			t.Errorf("the program's client or configuration changed: %v", err)
		}
	})
	t.Run("namespaces", func(t *testing.T) {
		caches, opts := kwctrl.NewCaches(kwctrl.Options{}), options()
		opts.DefaultNamespaces = map[string]cache.Config{"ns": {}, "other": {}}
		c, err := caches.NewCache(newServer(t, jsonEncoding), opts)
		if err != nil {
			t.Fatal(err)
		}
		var list corev1.ConfigMapList
		if err := c.List(start(t, c), &list); err != nil || len(list.Items) == 0 || len(caches.Statuses()) != 2 {
			t.Errorf("%v, %d objects, %d informers", err, len(list.Items), len(caches.Statuses()))
		}
	})
	t.Run("ReaderFailOnMissingInformer", func(t *testing.T) {
		opts := options()
		opts.ReaderFailOnMissingInformer = true
		c, err := kwctrl.NewCaches(kwctrl.Options{}).NewCache(newServer(t, jsonEncoding), opts)
		if err != nil {
			t.Fatal(err)
		}
		var missing *cache.ErrResourceNotCached
		if err := c.List(start(t, c), &corev1.ConfigMapList{}); !errors.As(err, &missing) {
			t.Error(err)
		}
	})
}

// GetInformer may be called with an object whose content JSON can't have: only its kind counts.
func TestExamples(t *testing.T) {
	c, err := kwctrl.NewCaches(kwctrl.Options{}).NewCache(newServer(t, jsonEncoding), options())
	if err != nil {
		t.Fatal(err)
	}
	example := &unstructured.Unstructured{Object: map[string]any{"data": map[string]string{"k": "v"}}}
	example.SetGroupVersionKind(corev1.SchemeGroupVersion.WithKind("ConfigMap"))
	if _, err := c.GetInformer(start(t, c), example); err != nil {
		t.Error(err)
	}
}

// Removed informers are no longer reported, and a failing one is unhealthy.
func TestHealth(t *testing.T) {
	caches := kwctrl.NewCaches(kwctrl.Options{})
	c, err := caches.NewCache(newServer(t, jsonEncoding), options())
	if err != nil {
		t.Fatal(err)
	}
	check := caches.HealthCheck(informer.HealthOptions{Synced: true})
	if err := check(&http.Request{}); err != nil {
		t.Error(err)
	}
	ctx := start(t, c)
	i, err := c.GetInformer(ctx, &corev1.ConfigMap{})
	if err != nil {
		t.Fatal(err)
	}
	if err := check(&http.Request{}); err != nil {
		t.Error(err)
	}
	r, err := i.AddEventHandler(toolscache.ResourceEventHandlerFuncs{})
	if err != nil {
		t.Fatal(err)
	}
	if err := c.RemoveInformer(ctx, &corev1.ConfigMap{}); err != nil {
		t.Fatal(err)
	}
	<-r.(interface{ ShutdownChan() <-chan struct{} }).ShutdownChan()
	if err := check(&http.Request{}); err != nil || len(caches.Statuses()) != 0 {
		t.Errorf("%v, %v", err, caches.Statuses())
	}

	// An informer that is removed before the start is never run.
	early, err := caches.NewCache(newServer(t, jsonEncoding), options())
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"typed", "metadata"} {
		obj, _ := forms[name]()
		if _, err := early.GetInformer(ctx, obj, cache.BlockUntilSynced(false)); err != nil {
			t.Fatal(err)
		}
	}
	if err := early.RemoveInformer(ctx, &corev1.ConfigMap{}); err != nil {
		t.Fatal(err)
	}
	start(t, early)
	if err := check(&http.Request{}); err != nil {
		t.Error(err)
	}
	all := caches.Statuses()
	if len(all) != 1 || !strings.HasPrefix(all[0].Name, "informer of v1 ConfigMap (") ||
		!strings.HasSuffix(all[0].Name, "/metadata)") {
		t.Errorf("%+v", all)
	}

	forbidden := serve(t, func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusForbidden) })
	broken, err := caches.NewCache(forbidden, options())
	if err != nil {
		t.Fatal(err)
	}
	_, err = broken.GetInformer(start(t, broken), &corev1.ConfigMap{}, cache.BlockUntilSynced(false))
	if err != nil {
		t.Fatal(err)
	}
	if err := check(&http.Request{}); err == nil || !strings.Contains(err.Error(), "ConfigMap") {
		t.Errorf("a cache that isn't synced is healthy: %v", err)
	}
}
