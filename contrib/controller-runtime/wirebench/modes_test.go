package wirebench

import (
	"context"
	"net/http"

	"github.com/go-logr/logr"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/rest"
	toolscache "k8s.io/client-go/tools/cache"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/manager"
	"sigs.k8s.io/controller-runtime/pkg/metrics/server"

	kwctrl "github.com/kubewright/kubewright/contrib/controller-runtime"
	"github.com/kubewright/kubewright/internal/wirebench"
	"github.com/kubewright/kubewright/runtime/informer"
	"github.com/kubewright/kubewright/runtime/listwatch"
)

// forms are what a manager may cache.
var forms = map[string]func() client.Object{
	"typed":        func() client.Object { return &wirebench.Workload{} },
	"unstructured": func() client.Object { return unstructuredOf(workload) },
	"pods":         func() client.Object { return &corev1.Pod{} },
	"metadata":     func() client.Object { return metadataOf(workload) },
}

var workload = wirebench.GroupVersion.WithKind("Workload")

func unstructuredOf(kind schema.GroupVersionKind) client.Object {
	u := &unstructured.Unstructured{}
	u.SetGroupVersionKind(kind)
	return u
}

func metadataOf(kind schema.GroupVersionKind) client.Object {
	o := &metav1.PartialObjectMetadata{}
	o.SetGroupVersionKind(kind)
	return o
}

// setup is how a manager is set up.
type setup struct {
	// ours is nil for controller-runtime's own caches.
	ours  *informer.Options
	strip bool
	// budget is that of each manager's lists, zero for none.
	budget int64
}

// budget suits the lists of a program with a memory limit of some hundred MB. A single list never waits for
// it, so the benchmark shows that a budget costs nothing.
const budget = 16 << 20

var noManagedFields = []string{"metadata.managedFields"}

var setups = map[string]setup{
	"theirs":          {},
	"theirs-strip":    {strip: true},
	"ours":            {ours: &informer.Options{}},
	"ours-share":      {ours: &informer.Options{ShareValues: true}},
	"ours-drop":       {ours: &informer.Options{Drop: noManagedFields}, budget: budget},
	"ours-drop-share": {ours: &informer.Options{Drop: noManagedFields, ShareValues: true}, budget: budget},
}

// modes are all setups of all forms.
func modes() wirebench.Modes {
	all := wirebench.Modes{}
	for form, object := range forms {
		for name, s := range setups {
			all[form+"/"+name] = func(config *rest.Config) toolscache.SharedIndexInformer {
				m := s.manager(config)
				return managed{informerOf(m, object()), m}
			}
		}
	}
	for name, s := range setups {
		all["mixed/"+name] = s.mixed
	}
	return all
}

// manager returns a new manager.
func (s setup) manager(config *rest.Config) manager.Manager {
	scheme := runtime.NewScheme()
	must(corev1.AddToScheme(scheme))
	scheme.AddKnownTypes(wirebench.GroupVersion, &wirebench.Workload{}, &wirebench.WorkloadList{})
	metav1.AddToGroupVersion(scheme, wirebench.GroupVersion)
	options := manager.Options{
		Scheme:         scheme,
		MapperProvider: mapper,
		Metrics:        server.Options{BindAddress: "0"},
		Logger:         logr.Discard(),
	}
	if s.strip {
		options.Cache.DefaultTransform = cache.TransformStripManagedFields()
	}
	if s.ours != nil {
		own := *s.ours
		if s.budget > 0 {
			own.Limiter = listwatch.NewLimiter(0).WithBudget(s.budget)
		}
		options.NewCache = kwctrl.NewCaches(kwctrl.Options{Options: own}).NewCache
	}
	m, err := manager.New(config, options)
	must(err)
	return m
}

// informerOf returns the manager's informer of an object's kind.
func informerOf(m manager.Manager, object client.Object) toolscache.SharedIndexInformer {
	i, err := m.GetCache().GetInformer(context.Background(), object, cache.BlockUntilSynced(false))
	must(err)
	return i.(toolscache.SharedIndexInformer)
}

// mapper returns a mapper of the kinds, which needs no discovery.
func mapper(*rest.Config, *http.Client) (meta.RESTMapper, error) {
	m := meta.NewDefaultRESTMapper(nil)
	kinds := []schema.GroupVersionKind{workload, route, policy, deployment}
	for _, kind := range []string{"Pod", "ConfigMap", "Secret"} {
		kinds = append(kinds, corev1.SchemeGroupVersion.WithKind(kind))
	}
	for _, kind := range kinds {
		m.Add(kind, meta.RESTScopeNamespace)
	}
	return m, nil
}

func must(err error) {
	if err != nil {
		panic(err)
	}
}

// managed is an informer that runs with its manager.
type managed struct {
	toolscache.SharedIndexInformer
	manager manager.Manager
}

func (m managed) RunWithContext(ctx context.Context) { must(m.manager.Start(ctx)) }

// Untyped returns the informer, which has a status.
func (m managed) Untyped() toolscache.SharedInformer { return m.SharedIndexInformer }
