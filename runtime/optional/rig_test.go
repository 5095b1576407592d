package optional_test

import (
	"context"
	"fmt"
	"maps"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"

	"github.com/go-logr/logr/funcr"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/tools/cache"
	"k8s.io/klog/v2"

	gen "github.com/kubewright/kubewright/runtime/gen/informer"
	"github.com/kubewright/kubewright/runtime/informer"
	"github.com/kubewright/kubewright/runtime/internal/definitions/definitionstest"
	"github.com/kubewright/kubewright/runtime/optional"
	"github.com/kubewright/kubewright/runtime/runtimetest"
)

var (
	widgets = schema.GroupResource{Group: "example.com", Resource: "widgets"}
	v1      = widgets.WithVersion("v1")
)

// rig is an informer of an optional kind. Its objects are ConfigMaps: what they are doesn't matter.
type rig struct {
	*testing.T
	definitions *definitionstest.Server
	made        *optional.Definitions
	objects     *runtimetest.Server[*corev1.ConfigMap, *corev1.ConfigMapList]
	informer    cache.TypedSharedIndexInformer[*corev1.ConfigMap]
	handler     *known
	logs        *logs
	// fault, if not 0, is the status with which requests for objects fail.
	fault atomic.Int32
	ctx   context.Context
	stop  func()
}

// logs has the lines that are logged by default.
type logs struct {
	mu    sync.Mutex
	lines []string
}

func (l *logs) write(_, line string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.lines = append(l.lines, line)
}

func (l *logs) take() []string {
	l.mu.Lock()
	defer l.mu.Unlock()
	lines := l.lines
	l.lines = nil
	return lines
}

// inBubble runs a test in a bubble, with an informer that doesn't run yet.
func inBubble(t *testing.T, test func(*rig)) {
	synctest.Test(t, func(t *testing.T) {
		r := &rig{
			T: t, definitions: definitionstest.New(), logs: &logs{},
			objects: runtimetest.NewServer[corev1.ConfigMap, corev1.ConfigMapList](),
			handler: &known{t: t, objects: map[string]string{}},
		}
		r.objects.OnRequest(func(context.Context, runtimetest.Request) error {
			status := int(r.fault.Load())
			if status == 0 && !r.definitions.Serves(v1) {
				status = http.StatusNotFound
			}
			if status != 0 {
				return apierrors.NewGenericServerResponse(status, "get", widgets, "", "", 0, true)
			}
			return nil
		})
		var err error
		if r.made, err = optional.NewDefinitions(r.definitions.Config()); err != nil {
			t.Fatal(err)
		}
		r.informer = r.another()
		if _, err := r.informer.AddEventHandler(r.handler); err != nil {
			t.Fatal(err)
		}
		if err := r.informer.AddIndexers(cache.Indexers{"app": func(obj any) ([]string, error) {
			return []string{obj.(*corev1.ConfigMap).Labels["app"]}, nil
		}}); err != nil {
			t.Fatal(err)
		}
		logger := funcr.New(func(prefix, line string) {
			r.status() // A logger may ask for the state.
			r.logs.write(prefix, line)
		}, funcr.Options{})
		ctx, cancel := context.WithCancel(klog.NewContext(t.Context(), logger))
		var running sync.WaitGroup
		r.ctx, r.stop = ctx, func() { cancel(); running.Wait() }
		defer func() { r.stop() }()
		r.handler.start = func() { running.Go(func() { r.informer.RunWithContext(ctx) }) }
		test(r)
	})
}

// another returns an informer of the optional kind.
func (r *rig) another() cache.TypedSharedIndexInformer[*corev1.ConfigMap] {
	i := r.of(v1)
	if err := informer.Configure(i, informer.Options{Definitions: r.made}); err != nil {
		r.Fatal(err)
	}
	return i
}

func (r *rig) of(resource schema.GroupVersionResource) cache.TypedSharedIndexInformer[*corev1.ConfigMap] {
	return gen.NewShared[*corev1.ConfigMap](
		func() gen.ResourceClient[*corev1.ConfigMapList] { return r.objects },
		gen.Options{Client: r.objects, Resource: resource})
}

func (r *rig) start() {
	r.handler.start()
	synctest.Wait()
}

// install defines and serves the kind.
func (r *rig) install() {
	r.definitions.Define(widgets, "v1")
	synctest.Wait()
}

// uninstall deletes the definition. The server ends the watches of the objects.
func (r *rig) uninstall() {
	r.definitions.Delete(widgets)
	r.objects.CloseWatches()
	synctest.Wait()
}

func (r *rig) create(name string) {
	r.objects.Create(&corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{
		Namespace: "shop", Name: name, Labels: map[string]string{"app": name}}})
	synctest.Wait()
}

func (r *rig) status() informer.Status {
	status, _ := informer.StatusOf(r.informer)
	return status
}

// wantState checks the state of the informer, and that its cache and its handler have n objects.
func (r *rig) wantState(state informer.State, n int) {
	r.Helper()
	synctest.Wait()
	if status := r.status(); status.State != state || !status.Synced || status.Objects != n {
		r.Fatalf("the status is %+v, want %s with %d objects", status, state, n)
	}
	stored := map[string]string{}
	for _, o := range r.informer.GetStore().List() {
		stored[keyOf(o)] = stateOf(o)
	}
	if has, _ := r.handler.has(); !maps.Equal(stored, has) {
		r.Fatalf("the store has %v, the handler %v", stored, has)
	}
}

// wantLines checks what was logged: one line with each of these texts.
func (r *rig) wantLines(texts ...string) {
	r.Helper()
	lines := r.logs.take()
	for n, text := range texts {
		if len(lines) != len(texts) || !strings.Contains(lines[n], text) {
			r.Fatalf("logged %q, want %q", lines, texts)
		}
	}
	if len(lines) != len(texts) {
		r.Fatalf("logged %q, want %q", lines, texts)
	}
}

const goes, comes = "The server doesn't serve a resource", "The server serves a resource that was absent"

// known is a handler that has the objects of which it was told.
type known struct {
	t     *testing.T
	start func()

	mu      sync.Mutex
	objects map[string]string
	deleted int
}

// has returns the objects, and how many were deleted.
func (k *known) has() (objects map[string]string, deleted int) {
	k.mu.Lock()
	defer k.mu.Unlock()
	return maps.Clone(k.objects), k.deleted
}

func (k *known) OnAdd(obj any, _ bool) { k.put("", obj) }
func (k *known) OnUpdate(old, obj any) { k.put(stateOf(old), obj) }

func (k *known) OnDelete(obj any) {
	if gone, ok := obj.(cache.DeletedFinalStateUnknown); ok {
		obj = gone.Obj
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.objects[keyOf(obj)] == "" {
		k.t.Errorf("%s leaves, and the handler doesn't have it", keyOf(obj))
	}
	delete(k.objects, keyOf(obj))
	k.deleted++
}

// OnRelease is called for objects that leave the part of an informer.
func (k *known) OnRelease(obj any) {
	k.mu.Lock()
	defer k.mu.Unlock()
	delete(k.objects, keyOf(obj))
}

func (k *known) put(before string, obj any) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if had := k.objects[keyOf(obj)]; had != before {
		k.t.Errorf("a change of %s from %q, the handler has it as %q", keyOf(obj), before, had)
	}
	k.objects[keyOf(obj)] = stateOf(obj)
}

func keyOf(obj any) string { return cache.MetaObjectToName(obj.(*corev1.ConfigMap)).String() }

func stateOf(obj any) string {
	o := obj.(*corev1.ConfigMap)
	return fmt.Sprint(o.UID, o.ResourceVersion)
}
