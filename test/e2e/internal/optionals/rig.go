// Package optionals are the tests of optional kinds against a real API server, whichever it is: definitions
// are installed, deleted, installed again and changed while informers of their kinds run.
package optionals

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/go-logr/logr/funcr"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apiextensions-apiserver/pkg/client/clientset/clientset"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/cache"
	"k8s.io/client-go/util/retry"
	"k8s.io/klog/v2"

	"github.com/kubewright/kubewright/runtime/informer"
	"github.com/kubewright/kubewright/runtime/optional"
)

const definitionsPath = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"

// Server is the server under test.
type Server struct {
	Config *rest.Config
	// Restart restarts it.
	Restart func(context.Context) error
}

// rig are the clients of a test. Requests of the informers under test pass through it.
type rig struct {
	*testing.T
	ctx     context.Context
	server  Server
	crds    clientset.Interface
	objects dynamic.Interface
	config  *rest.Config // of the informers
	made    *optional.Definitions

	mu       sync.Mutex
	requests map[string]int
	answer   func(*http.Request) int
	lines    []string
}

func newRig(t *testing.T, server Server, limit time.Duration) *rig {
	t.Helper()
	r := &rig{T: t, server: server, requests: map[string]int{}}
	ctx, cancel := context.WithTimeoutCause(t.Context(), limit, fmt.Errorf("not within %v", limit))
	t.Cleanup(cancel)
	logger := funcr.New(func(_, line string) {
		r.mu.Lock()
		defer r.mu.Unlock()
		r.lines = append(r.lines, line)
	}, funcr.Options{})
	r.ctx = klog.NewContext(ctx, logger)
	direct := rest.CopyConfig(server.Config)
	direct.QPS = -1
	var err error
	if r.crds, err = clientset.NewForConfig(direct); err != nil {
		t.Fatal(err)
	}
	if r.objects, err = dynamic.NewForConfig(direct); err != nil {
		t.Fatal(err)
	}
	r.config = rest.CopyConfig(direct)
	r.config.Wrap(func(next http.RoundTripper) http.RoundTripper { return proxy{r, next} })
	if r.made, err = optional.NewDefinitions(r.config); err != nil {
		t.Fatal(err)
	}
	return r
}

// proxy counts the requests, and answers some itself.
type proxy struct {
	rig  *rig
	next http.RoundTripper
}

func (p proxy) RoundTrip(request *http.Request) (*http.Response, error) {
	if status := p.rig.count(request); status != 0 {
		body := fmt.Sprintf(`{"kind":"Status","apiVersion":"v1","status":"Failure","code":%d,"reason":%q}`,
			status, reasons[status])
		return &http.Response{StatusCode: status, Request: request, Body: io.NopCloser(strings.NewReader(body)),
			Header: http.Header{"Content-Type": {"application/json"}}}, nil
	}
	return p.next.RoundTrip(request)
}

var reasons = map[int]metav1.StatusReason{
	http.StatusForbidden: metav1.StatusReasonForbidden, http.StatusNotFound: metav1.StatusReasonNotFound,
	http.StatusServiceUnavailable: metav1.StatusReasonServiceUnavailable,
}

func (r *rig) count(request *http.Request) (status int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.requests[request.URL.Path]++
	if r.answer != nil {
		return r.answer(request)
	}
	return 0
}

// answers sets what is answered in place of the server: a status, or 0.
func (r *rig) answers(answer func(*http.Request) int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.answer = answer
}

// requested returns how many requests there were since the last call, by path.
func (r *rig) requested() map[string]int {
	r.mu.Lock()
	defer r.mu.Unlock()
	requests := r.requests
	r.requests = map[string]int{}
	return requests
}

// logged returns the lines since the last call.
func (r *rig) logged() []string {
	r.mu.Lock()
	defer r.mu.Unlock()
	lines := r.lines
	r.lines = nil
	return lines
}

// wantLines checks how many lines on kinds that come and go were logged since the last call. A busy server
// may cause others.
func (r *rig) wantLines(n int) {
	r.Helper()
	count := 0
	for _, line := range r.logged() {
		if strings.Contains(line, "serve a resource") || strings.Contains(line, "serves a resource") {
			count++
		} else {
			r.Logf("also logged: %s", line)
		}
	}
	if count != n {
		r.Errorf("%d lines were logged for kinds that come and go, want %d", count, n)
	}
}

// until waits until a condition is true.
func (r *rig) until(what string, is func() bool) {
	r.Helper()
	tick := time.NewTicker(5 * time.Millisecond)
	defer tick.Stop()
	for !is() {
		select {
		case <-tick.C:
		case <-r.ctx.Done():
			r.Fatalf("wait until %s: %v", what, context.Cause(r.ctx))
		}
	}
}

// allAre waits until all informers are in a state and have n objects each.
func (r *rig) allAre(state informer.State, n int, informers ...cache.SharedIndexInformer) {
	r.Helper()
	r.until(fmt.Sprintf("informers are %s with %d objects", state, n), func() bool {
		return !slices.ContainsFunc(informers, func(i cache.SharedIndexInformer) bool {
			s, _ := informer.StatusOf(i)
			return s.State != state || s.Objects != n || !s.Synced
		})
	})
}

// allListed waits until all informers have read a list since a time, and returns the time of the last one.
func (r *rig) allListed(since time.Time, informers ...cache.SharedIndexInformer) (last time.Time) {
	r.Helper()
	r.until("informers have read a list", func() bool {
		return !slices.ContainsFunc(informers, func(i cache.SharedIndexInformer) bool {
			s, _ := informer.StatusOf(i)
			if s.Listed.After(last) {
				last = s.Listed
			}
			return s.State == optional.Absent || s.Listed.Before(since)
		})
	})
	return last
}

// definition returns a definition whose objects have no schema, in these versions. The first is stored.
func definition(
	resource schema.GroupResource, kind string, versions ...string,
) *apiextensionsv1.CustomResourceDefinition {
	keep := true
	crd := &apiextensionsv1.CustomResourceDefinition{
		ObjectMeta: metav1.ObjectMeta{Name: resource.String()},
		Spec: apiextensionsv1.CustomResourceDefinitionSpec{
			Group: resource.Group, Scope: apiextensionsv1.NamespaceScoped,
			Names: apiextensionsv1.CustomResourceDefinitionNames{Plural: resource.Resource, Kind: kind,
				Singular: strings.ToLower(kind), ListKind: kind + "List"},
		},
	}
	for n, version := range versions {
		crd.Spec.Versions = append(crd.Spec.Versions, apiextensionsv1.CustomResourceDefinitionVersion{
			Name: version, Served: true, Storage: n == 0,
			Schema: &apiextensionsv1.CustomResourceValidation{OpenAPIV3Schema: &apiextensionsv1.JSONSchemaProps{
				Type: "object", XPreserveUnknownFields: &keep}},
		})
	}
	return crd
}

// install creates definitions, and doesn't wait until they are served.
func (r *rig) install(crds ...*apiextensionsv1.CustomResourceDefinition) {
	r.Helper()
	for _, crd := range crds {
		_, err := r.crds.ApiextensionsV1().CustomResourceDefinitions().Create(r.ctx, crd.DeepCopy(),
			metav1.CreateOptions{})
		if err != nil {
			r.Fatal(err)
		}
	}
}

// uninstall deletes definitions, and waits until they are gone.
func (r *rig) uninstall(crds ...*apiextensionsv1.CustomResourceDefinition) {
	r.Helper()
	definitions := r.crds.ApiextensionsV1().CustomResourceDefinitions()
	for _, crd := range crds {
		if err := definitions.Delete(r.ctx, crd.Name, metav1.DeleteOptions{}); err != nil {
			r.Fatal(err)
		}
	}
	for _, crd := range crds {
		r.until(crd.Name+" is gone", func() bool {
			_, err := definitions.Get(r.ctx, crd.Name, metav1.GetOptions{})
			return apierrors.IsNotFound(err)
		})
	}
}

// serve changes which versions are served.
func (r *rig) serve(name string, versions ...string) {
	r.Helper()
	definitions := r.crds.ApiextensionsV1().CustomResourceDefinitions()
	if err := retry.RetryOnConflict(retry.DefaultRetry, func() error {
		crd, err := definitions.Get(r.ctx, name, metav1.GetOptions{})
		if err != nil {
			return err
		}
		for n := range crd.Spec.Versions {
			crd.Spec.Versions[n].Served = slices.Contains(versions, crd.Spec.Versions[n].Name)
		}
		_, err = definitions.Update(r.ctx, crd, metav1.UpdateOptions{})
		return err
	}); err != nil {
		r.Fatal(err)
	}
}

// create creates an object.
func (r *rig) create(resource schema.GroupVersionResource, kind, name string) {
	r.Helper()
	object := &unstructured.Unstructured{Object: map[string]any{
		"metadata": map[string]any{"name": name},
		"spec":     map[string]any{"bread": "rye", "market": "central", "bakers": int64(1)}, // of a Bakery
	}}
	object.SetGroupVersionKind(resource.GroupVersion().WithKind(kind))
	r.until(name+" is created", func() bool { // The server isn't ready for objects at once.
		_, err := r.objects.Resource(resource).Namespace("default").Create(r.ctx, object, metav1.CreateOptions{})
		if err != nil && !apierrors.IsNotFound(err) && !apierrors.IsAlreadyExists(err) {
			r.Fatal(err)
		}
		return err == nil || apierrors.IsAlreadyExists(err)
	})
}

// run runs informers until the test ends.
func (r *rig) run(start func(context.Context), shutdown func()) {
	ctx, cancel := context.WithCancel(r.ctx)
	start(ctx)
	r.Cleanup(func() {
		cancel()
		shutdown()
	})
}
