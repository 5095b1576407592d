package live

import (
	"context"
	"fmt"
	"maps"
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/serializer"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/cache"

	"k8s.io/client-go/kubernetes/scheme"

	"github.com/kubewright/kubewright/envtest/record"
	shopv1 "github.com/kubewright/kubewright/examples/apis/shop/v1"
	shopscheme "github.com/kubewright/kubewright/examples/generated/clientset/versioned/scheme"
	"github.com/kubewright/kubewright/internal/guarantee"
	ourcache "github.com/kubewright/kubewright/runtime/cache"
	"github.com/kubewright/kubewright/runtime/client"
	gen "github.com/kubewright/kubewright/runtime/gen/informer"
	"github.com/kubewright/kubewright/runtime/informer"
	"github.com/kubewright/kubewright/runtime/listwatch"
	"github.com/kubewright/kubewright/test/lab/results"
)

// implementation is a way to make informers.
type implementation string

const (
	ours     implementation = "ours"
	facade   implementation = "facade"
	clientGo implementation = "client-go"
)

var implementations = []implementation{ours, facade, clientGo}

// options are those of an informer. client-go ignores the tuning.
type options struct {
	namespace, labels string
	watchList         bool
	tuning            informer.Options
}

func (o options) tweak(opts *metav1.ListOptions) { opts.LabelSelector = o.labels }

// listsOnly is a clientset whose informers don't stream lists.
type listsOnly struct{}

func (listsOnly) IsWatchListSemanticsUnSupported() bool { return true }

// resource is a type of objects.
type resource interface {
	fmt.Stringer // the name of the resource
	// informer makes an informer.
	informer(who implementation, config *rest.Config, o options) (cache.SharedIndexInformer, error)
	// writer returns a writer for objects of a namespace.
	writer(config *rest.Config, namespace string) (writer, error)
	// versions returns the objects that the server has, with their versions. With a version, it returns those
	// that the server had at that version.
	versions(ctx context.Context, config *rest.Config, o options, at string) (map[cache.ObjectName]string, error)
	// snapshot returns the version of the informer's cache, and the objects there, at one moment. It returns
	// false for an informer that has no snapshots.
	snapshot(i cache.SharedIndexInformer) (version string, found map[cache.ObjectName]string, ok bool)
}

// writer writes objects that have no other writer. A write that fails may still have happened.
type writer interface {
	put(ctx context.Context, name string, labels map[string]string) error
	remove(ctx context.Context, name string) error
}

// bakeries are custom resources, in JSON; configMaps are of a built-in type, in protobuf.
var (
	bakeries = of[*shopv1.Bakery, *shopv1.BakeryList]{
		scheme: shopscheme.Scheme, plural: "bakeries",
		make: func() *shopv1.Bakery { return &shopv1.Bakery{Spec: shopv1.BakerySpec{Bread: "rye"}} },
	}
	configMaps = of[*corev1.ConfigMap, *corev1.ConfigMapList]{
		scheme: scheme.Scheme, plural: "configmaps", protobuf: true,
		make: func() *corev1.ConfigMap { return &corev1.ConfigMap{} },
	}
)

// of is the resource of a type.
type of[T interface {
	comparable
	client.Object
}, L runtime.Object] struct {
	scheme   *runtime.Scheme
	plural   string
	protobuf bool
	make     func() T
}

func (r of[T, L]) String() string { return r.plural }

func (r of[T, L]) client(config *rest.Config) (*client.Resource[T, L], error) {
	var opts []client.Option
	if r.protobuf {
		opts = append(opts, client.PrefersProtobuf())
	}
	return client.For[T, L](config, r.scheme, opts...)
}

func (r of[T, L]) informer(
	who implementation, config *rest.Config, o options,
) (cache.SharedIndexInformer, error) {
	config = rest.CopyConfig(config)
	config.UserAgent = string(who)
	var clientset any
	if !o.watchList {
		clientset = listsOnly{}
	}
	switch who {
	case ours:
		c, err := r.client(config)
		if err != nil {
			return nil, err
		}
		c = c.Namespace(o.namespace)
		i := gen.NewShared[T](func() gen.ResourceClient[L] { return c }, gen.Options{
			Client: clientset, Resource: c.Resource(), Namespace: o.namespace, TweakListOptions: o.tweak,
		})
		return i, informer.Configure(i, o.tuning)
	case facade:
		config.Wrap(listwatch.Wrap)
		lw, err := r.listerWatcher(config, o)
		if err != nil {
			return nil, err
		}
		i := ourcache.NewSharedIndexInformer(listwatch.Streamed(lw, r.scheme), r.example(), 0, cache.Indexers{})
		return i, informer.Configure(i, o.tuning)
	}
	lw, err := r.listerWatcher(config, o)
	if err != nil {
		return nil, err
	}
	return cache.NewSharedIndexInformer(lw, r.example(), 0, cache.Indexers{}), nil
}

func (of[T, L]) example() runtime.Object {
	return reflect.New(reflect.TypeFor[T]().Elem()).Interface().(runtime.Object)
}

// listerWatcher returns a lister-watcher of client-go.
func (r of[T, L]) listerWatcher(config *rest.Config, o options) (cache.ListerWatcher, error) {
	kinds, _, err := r.scheme.ObjectKinds(r.example())
	if err != nil {
		return nil, err
	}
	version := kinds[0].GroupVersion()
	config.GroupVersion, config.APIPath = &version, "/apis"
	if version.Group == "" {
		config.APIPath = "/api"
	}
	config.NegotiatedSerializer = serializer.NewCodecFactory(r.scheme).WithoutConversion()
	if r.protobuf {
		config.AcceptContentTypes = runtime.ContentTypeProtobuf + "," + runtime.ContentTypeJSON
		config.ContentType = runtime.ContentTypeProtobuf
	}
	c, err := rest.RESTClientFor(config)
	if err != nil {
		return nil, err
	}
	lw := cache.NewFilteredListWatchFromClient(c, r.plural, o.namespace, o.tweak)
	if o.watchList {
		return lw, nil
	}
	return cache.ToListWatcherWithWatchListSemantics(lw, listsOnly{}), nil
}

func (r of[T, L]) versions(
	ctx context.Context, config *rest.Config, o options, at string,
) (map[cache.ObjectName]string, error) {
	c, err := r.client(config)
	if err != nil {
		return nil, err
	}
	opts := metav1.ListOptions{LabelSelector: o.labels, ResourceVersion: at}
	if at != "" {
		opts.ResourceVersionMatch = metav1.ResourceVersionMatchExact
	}
	list, err := c.Namespace(o.namespace).List(ctx, opts)
	if err != nil {
		return nil, err
	}
	found := map[cache.ObjectName]string{}
	err = meta.EachListItem(list, func(obj runtime.Object) error {
		m := obj.(metav1.Object)
		found[cache.MetaObjectToName(m)] = m.GetResourceVersion()
		return nil
	})
	return found, err
}

func (of[T, L]) snapshot(
	i cache.SharedIndexInformer,
) (version string, found map[cache.ObjectName]string, ok bool) {
	typed, ok := informer.Of[T](i)
	if !ok {
		return "", nil, false
	}
	version, all := typed.Snapshot()
	found = map[cache.ObjectName]string{}
	for name, obj := range all {
		found[name] = obj.GetResourceVersion()
	}
	return version, found, true
}

func (r of[T, L]) writer(config *rest.Config, namespace string) (writer, error) {
	c, err := r.client(config)
	if err != nil {
		return nil, err
	}
	return &writing[T, L]{resource: r, client: c.Namespace(namespace), known: map[string]T{}}, nil
}

type writing[T interface {
	comparable
	client.Object
}, L runtime.Object] struct {
	resource of[T, L]
	client   *client.Resource[T, L]
	known    map[string]T
	count    int
}

// put creates the object, or changes it if it is known to exist.
func (w *writing[T, L]) put(ctx context.Context, name string, labels map[string]string) (err error) {
	w.count++
	obj, known := w.known[name]
	if !known {
		obj = w.resource.make()
		obj.SetName(name)
	}
	obj.SetLabels(labels)
	// Some characters have several bytes, so that they can be cut.
	obj.SetAnnotations(map[string]string{"text": fmt.Sprint("naïve ☃ ", w.count)})
	if known {
		obj, err = w.client.Update(ctx, obj, metav1.UpdateOptions{})
	} else {
		obj, err = w.client.Create(ctx, obj, metav1.CreateOptions{})
	}
	if err != nil {
		return w.forget(ctx, name, err)
	}
	w.known[name] = obj
	return nil
}

func (w *writing[T, L]) remove(ctx context.Context, name string) error {
	if err := w.client.Delete(ctx, name, metav1.DeleteOptions{}); err != nil {
		return w.forget(ctx, name, err)
	}
	delete(w.known, name)
	return nil
}

// forget reads the object again after a failed write.
func (w *writing[T, L]) forget(ctx context.Context, name string, err error) error {
	delete(w.known, name)
	if obj, err := w.client.Get(ctx, name, metav1.GetOptions{}); err == nil {
		w.known[name] = obj
	}
	return err
}

// churn changes objects at random until the returned function is called. That function waits for the last
// write, because a write that is given up may still happen, later.
func churn(ctx context.Context, w writer, seed uint64) (stop func()) {
	random := rand.New(rand.NewPCG(seed, 0))
	stopped := make(chan struct{})
	var writing sync.WaitGroup
	writing.Go(func() {
		ticker := time.NewTicker(pace)
		defer ticker.Stop()
		for {
			// A write that fails because the server is down is tried again in another form.
			step(ctx, w, random)
			select {
			case <-stopped:
				return
			case <-ticker.C:
			}
		}
	})
	return func() {
		close(stopped)
		writing.Wait()
	}
}

// few is how many objects a churn has, so that most are changed, deleted and created again.
const few = 8

func step(ctx context.Context, w writer, random *rand.Rand) {
	name := fmt.Sprint("object-", random.IntN(few))
	if random.IntN(3) == 0 {
		w.remove(ctx, name)
	} else {
		w.put(ctx, name, map[string]string{"n": fmt.Sprint(random.IntN(2))})
	}
}

// subject is an informer with a handler.
type subject struct {
	who      implementation
	informer cache.SharedIndexInformer
	*witness
	options options
	end     func()
}

// newSubject makes an informer and starts it.
func newSubject(
	ctx context.Context, r resource, who implementation, config *rest.Config, o options,
) (*subject, error) {
	i, err := r.informer(who, config, o)
	if err != nil {
		return nil, err
	}
	s := &subject{who: who, informer: i, witness: newWitness(i), options: o}
	typed := cache.NewTypedSharedIndexInformer[metav1.Object](i)
	if _, err := typed.AddTypedEventHandler(s.witness); err != nil {
		return nil, err
	}
	ctx, cancel := context.WithCancel(ctx)
	over := make(chan struct{})
	go func() {
		defer close(over)
		i.RunWithContext(ctx)
	}()
	s.end = func() {
		cancel()
		<-over
	}
	return s, nil
}

// judge waits until the handler has these versions, and returns what is wrong. What begins with the
// guarantee. After a restore of the server, what the handler was told isn't judged.
func (s *subject) judge(
	ctx context.Context, want map[cache.ObjectName]string, restored bool,
) (v results.Verdict, what string) {
	if err := s.reaches(ctx, want); err != nil {
		v, what = results.Late, fmt.Sprintf("%s: %v", guarantee.Converging, err)
	}
	if problems := s.Problems(); len(problems) > 0 && !restored {
		v, what = results.Broken, strings.Join(problems, "; ")
	}
	return v, what
}

// reaches waits until the handler has these versions, and checks that the store has them, too.
func (s *subject) reaches(ctx context.Context, want map[cache.ObjectName]string) error {
	err := s.Wait(ctx, func(present map[cache.ObjectName]metav1.Object) bool {
		return maps.Equal(record.Versions(slices.Collect(maps.Values(present))), want)
	})
	if err != nil {
		return fmt.Errorf("the handler didn't receive what the server has: %w: it has %v, the handler %v",
			err, want, s.Versions())
	}
	stored := map[cache.ObjectName]string{}
	for _, obj := range s.informer.GetStore().List() {
		m := obj.(metav1.Object)
		stored[cache.MetaObjectToName(m)] = m.GetResourceVersion()
	}
	if !maps.Equal(stored, want) {
		return fmt.Errorf("the store has %v, the server %v", stored, want)
	}
	return nil
}
