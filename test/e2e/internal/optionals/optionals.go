package optionals

import (
	"context"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/tools/cache"

	"github.com/kubewright/kubewright/envtest/apiserver"
	shopv1 "github.com/kubewright/kubewright/examples/apis/shop/v1"
	"github.com/kubewright/kubewright/examples/crds"
	"github.com/kubewright/kubewright/examples/generated/clientset/versioned"
	"github.com/kubewright/kubewright/examples/generated/informers/externalversions"
	"github.com/kubewright/kubewright/informers/dynamicinformer"
	"github.com/kubewright/kubewright/runtime/client"
	"github.com/kubewright/kubewright/runtime/factory"
	"github.com/kubewright/kubewright/runtime/informer"
	"github.com/kubewright/kubewright/runtime/optional"
)

var bakeries = schema.GroupVersionResource{Group: "shop.kubewright.dev", Version: "v1", Resource: "bakeries"}

// Factories installs, deletes and reinstalls the definition of a kind of which a generated factory, a dynamic
// one, and one of client.For have informers.
func Factories(t *testing.T, server Server) {
	r := newRig(t, server, 2*time.Minute)
	all, err := apiserver.ReadCRDs(crds.Files)
	if err != nil {
		t.Fatal(err)
	}
	crd := all[slices.IndexFunc(all, func(crd *apiextensionsv1.CustomResourceDefinition) bool {
		return crd.Name == bakeries.GroupResource().String()
	})]
	informers := r.threeFactories()
	var deleted [3]atomic.Int32
	for n, i := range informers {
		if _, err := i.AddEventHandler(cache.ResourceEventHandlerFuncs{
			DeleteFunc: func(any) { deleted[n].Add(1) },
		}); err != nil {
			t.Fatal(err)
		}
	}
	r.allAre(optional.Absent, 0, informers...)
	r.wantLines(1)
	for round := range int32(2) {
		if n := r.requestsBelow(bakeries); n > 0 {
			t.Errorf("%d requests for an absent kind", n)
		}
		created := time.Now()
		r.install(crd)
		if err := r.made.WaitForServed(r.ctx, bakeries); err != nil {
			t.Fatal(err)
		}
		served := time.Now()
		synced := r.allListed(created, informers...)
		t.Logf("served %v after the definition was created, three informers have synced %v later",
			served.Sub(created), synced.Sub(served))
		r.wantLines(1)
		r.create(bakeries, "Bakery", "corner")
		r.allAre(informer.Watching, 1, informers...)
		r.uninstall(crd)
		gone := time.Now()
		r.allAre(optional.Absent, 0, informers...)
		t.Logf("three informers are empty %v after the definition was gone", time.Since(gone))
		for n := range informers {
			r.until("the handlers know", func() bool { return deleted[n].Load() == round+1 })
		}
		r.requested()
		r.wantLines(1)
	}
}

// requestsBelow returns the requests for the objects of a resource since the last call.
func (r *rig) requestsBelow(resource schema.GroupVersionResource) (n int) {
	for path, times := range r.requested() {
		if strings.HasPrefix(path, "/apis/"+resource.Group+"/"+resource.Version+"/") {
			n += times
		}
	}
	return n
}

func (r *rig) threeFactories() []cache.SharedIndexInformer {
	r.Helper()
	options := informer.Options{Definitions: r.made}
	configure := func(f factory.Interface) {
		r.Helper()
		if err := factory.Configure(f, options); err != nil {
			r.Fatal(err)
		}
	}
	clients, err := versioned.NewForConfig(r.config)
	if err != nil {
		r.Fatal(err)
	}
	generated := externalversions.NewSharedInformerFactory(clients, 0)
	configure(generated)
	dynamicClient, err := dynamic.NewForConfig(r.config)
	if err != nil {
		r.Fatal(err)
	}
	dynamics := dynamicinformer.NewDynamicSharedInformerFactory(dynamicClient, 0)
	configure(dynamics)
	scheme := runtime.NewScheme()
	if err := shopv1.AddToScheme(scheme); err != nil {
		r.Fatal(err)
	}
	ungenerated, err := client.For[*shopv1.Bakery, *shopv1.BakeryList](r.config, scheme)
	if err != nil {
		r.Fatal(err)
	}
	typed := factory.New(0)
	configure(typed)
	access, err := factory.For(typed, ungenerated)
	if err != nil {
		r.Fatal(err)
	}
	informers := []cache.SharedIndexInformer{
		generated.Shop().V1().Bakeries().Informer(), dynamics.ForResource(bakeries).Informer(), access.Informer(),
	}
	r.run(generated.StartWithContext, generated.Shutdown)
	r.run(startOf(dynamics), dynamics.Shutdown)
	r.run(typed.StartWithContext, typed.Shutdown)
	return informers
}

// startOf returns what starts a dynamic factory. Its interface has no method that takes a context, and so no
// logger.
func startOf(f factory.Interface) func(context.Context) {
	return f.(interface{ StartWithContext(context.Context) }).StartWithContext
}

// dynamics returns running informers of resources.
func (r *rig) dynamics(resources ...schema.GroupVersionResource) (informers []cache.SharedIndexInformer) {
	r.Helper()
	c, err := dynamic.NewForConfig(r.config)
	if err != nil {
		r.Fatal(err)
	}
	f := dynamicinformer.NewDynamicSharedInformerFactory(c, 0)
	if err := factory.Configure(f, informer.Options{Definitions: r.made}); err != nil {
		r.Fatal(err)
	}
	for _, resource := range resources {
		informers = append(informers, f.ForResource(resource).Informer())
	}
	r.run(startOf(f), f.Shutdown)
	return informers
}

// ManyKinds installs and deletes many kinds at once.
func ManyKinds(t *testing.T, server Server, n int) {
	r := newRig(t, server, 3*time.Minute)
	var resources []schema.GroupVersionResource
	var definitions []*apiextensionsv1.CustomResourceDefinition
	for k := range n {
		resource := schema.GroupResource{Group: fmt.Sprintf("g%d.many.kubewright.dev", k), Resource: "things"}
		resources = append(resources, resource.WithVersion("v1"))
		definitions = append(definitions, definition(resource, "Thing", "v1"))
	}
	informers := r.dynamics(resources...)
	r.allAre(optional.Absent, 0, informers...)
	t.Logf("%d absent kinds: requests %v, one line each", n, sum(r.requested()))
	r.wantLines(n)
	began := time.Now()
	r.install(definitions...)
	created := time.Now()
	r.until("all are served", func() bool {
		return !slices.ContainsFunc(resources, func(resource schema.GroupVersionResource) bool {
			_, err := r.objects.Resource(resource).List(r.ctx, metav1.ListOptions{Limit: 1})
			return err != nil
		})
	})
	served := time.Now()
	synced := r.allListed(began, informers...)
	r.allAre(informer.Watching, 0, informers...)
	t.Logf("%d kinds: served %v after the last was created, synced %v later: requests %v, one line each", n,
		served.Sub(created), synced.Sub(served), sum(r.requested()))
	r.wantLines(n)
	r.uninstall(definitions...)
	gone := time.Now()
	r.allAre(optional.Absent, 0, informers...)
	t.Logf("%d kinds: absent %v after they were gone: requests %v, one line each", n, time.Since(gone),
		sum(r.requested()))
	r.wantLines(n)
}

// sum sums up requests: for definitions, discoveries, groups and versions, and objects.
func sum(requests map[string]int) string {
	var definitions, discoveries, versions, objects int
	for path, n := range requests {
		switch {
		case path == definitionsPath:
			definitions += n
		case path == "/apis":
			discoveries += n
		case strings.Count(path, "/") == 3:
			versions += n
		default:
			objects += n
		}
	}
	return fmt.Sprintf("%d of definitions, %d discoveries, %d of versions, %d of objects",
		definitions, discoveries, versions, objects)
}

// Versions changes which versions of a kind are served.
func Versions(t *testing.T, server Server) {
	r := newRig(t, server, 2*time.Minute)
	resource := schema.GroupResource{Group: "versions.kubewright.dev", Resource: "things"}
	crd := definition(resource, "Thing", "v1", "v2")
	r.install(crd)
	defer r.uninstall(crd)
	v2 := resource.WithVersion("v2")
	if err := r.made.WaitForServed(r.ctx, v2); err != nil {
		t.Fatal(err)
	}
	r.create(v2, "Thing", "one")
	informers := r.dynamics(v2)
	r.allAre(informer.Watching, 1, informers...)
	r.serve(crd.Name, "v1")
	changed := time.Now()
	r.allAre(optional.Absent, 0, informers...)
	s, _ := informer.StatusOf(informers[0])
	t.Logf("absent %v after the version wasn't served any more", time.Since(changed))
	if !slices.Equal(s.ServedVersions, []string{"v1"}) {
		t.Errorf("served versions %v", s.ServedVersions)
	}
	changed = time.Now()
	r.serve(crd.Name, "v1", "v2")
	synced := r.allListed(changed, informers...)
	r.allAre(informer.Watching, 1, informers...)
	t.Logf("synced %v after the version was served again", synced.Sub(changed))
}

// Forbidden runs informers that may not watch definitions.
func Forbidden(t *testing.T, server Server) {
	r := newRig(t, server, 3*time.Minute)
	r.answers(func(request *http.Request) int {
		if request.URL.Path == definitionsPath {
			return http.StatusForbidden
		}
		return 0
	})
	var resources []schema.GroupVersionResource
	var definitions []*apiextensionsv1.CustomResourceDefinition
	for k := range 3 {
		resource := schema.GroupResource{Group: fmt.Sprintf("g%d.forbidden.kubewright.dev", k), Resource: "things"}
		resources = append(resources, resource.WithVersion("v1"))
		definitions = append(definitions, definition(resource, "Thing", "v1"))
	}
	began := time.Now()
	informers := r.dynamics(resources...)
	r.allAre(optional.Absent, 0, informers...)
	t.Logf("absent after %v: requests %s", time.Since(began), sum(r.requested()))
	created := time.Now()
	r.install(definitions...)
	synced := r.allListed(created, informers...)
	r.allAre(informer.Watching, 0, informers...)
	t.Logf("synced %v after the definitions were created: requests %s", synced.Sub(created), sum(r.requested()))
	r.uninstall(definitions...)
	gone := time.Now()
	r.allAre(optional.Absent, 0, informers...)
	t.Logf("absent %v after the definitions were gone: requests %s", time.Since(gone), sum(r.requested()))
}

// Restarts answers with 404 and 503 as replicas do that restart one after another, then restarts the server.
// No store is emptied.
func Restarts(t *testing.T, server Server) {
	r := newRig(t, server, 5*time.Minute)
	resource := schema.GroupResource{Group: "restarts.kubewright.dev", Resource: "things"}
	crd := definition(resource, "Thing", "v1")
	r.install(crd)
	defer r.uninstall(crd)
	v1 := resource.WithVersion("v1")
	r.create(v1, "Thing", "one")
	informers := r.dynamics(v1)
	r.allAre(informer.Watching, 1, informers...)
	var deletions atomic.Int32
	if _, err := informers[0].AddEventHandler(cache.ResourceEventHandlerFuncs{
		DeleteFunc: func(any) { deletions.Add(1) },
	}); err != nil {
		t.Fatal(err)
	}
	for _, status := range []int{http.StatusNotFound, http.StatusServiceUnavailable} {
		var answered atomic.Int32
		r.answers(func(*http.Request) int {
			answered.Add(1)
			return status
		})
		// The end of the watches makes the informers ask.
		if err := r.server.Restart(r.ctx); err != nil {
			t.Fatal(err)
		}
		r.until("some requests were refused", func() bool { return answered.Load() >= 3 })
		r.answers(nil)
		r.until("the informer watches", func() bool {
			s, _ := informer.StatusOf(informers[0])
			return s.State == informer.Watching && s.Failures == 0
		})
	}
	if s, _ := informer.StatusOf(informers[0]); s.Objects != 1 || deletions.Load() != 0 {
		t.Errorf("%d deletions, %+v", deletions.Load(), s)
	}
}
