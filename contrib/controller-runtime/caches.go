package kwctrl

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	utilruntime "k8s.io/apimachinery/pkg/util/runtime"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/rest"
	toolscache "k8s.io/client-go/tools/cache"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client/apiutil"
	"sigs.k8s.io/controller-runtime/pkg/metrics"

	kwprometheus "github.com/kubewright/kubewright/contrib/prometheus"
	kwcache "github.com/kubewright/kubewright/runtime/cache"
	"github.com/kubewright/kubewright/runtime/informer"
	"github.com/kubewright/kubewright/runtime/listwatch"
	"github.com/kubewright/kubewright/runtime/ownwrites"
)

// Options configure [NewCaches]. The zero value is valid: it reads lists and watches as streams and
// changes nothing else.
type Options struct {
	// NewCache makes the caches. The default is [cache.New].
	NewCache cache.NewCacheFunc
	// Options are those of all informers, for example Drop, or a Limiter that the caches of all managers share.
	// Overrides are by the mapper's resources. One for a resource of which no informer has been made a minute
	// after the first informer has started is logged: controllers request theirs when the manager starts. A
	// transform, and what else ByObject of the cache's options has, is set there.
	//
	// Definitions are of one server: with them, NewCache makes caches of one server only, which has to be
	// theirs.
	informer.Options
	// OwnWrites is a tracker that gets the informers of all caches, for function OwnWrites. It belongs to one
	// API server, and then so do the Caches. The manager's clients must write through its transport:
	//
	//	tracker := &ownwrites.Tracker{}
	//	config.Wrap(tracker.Transport)
	//	caches := kwctrl.NewCaches(kwctrl.Options{OwnWrites: tracker})
	//	mgr, err := ctrl.NewManager(config, ctrl.Options{NewCache: caches.NewCache})
	OwnWrites *ownwrites.Tracker
	// Optional are kinds that a server may not serve: controllers, sources, indexes and reads of them work, and
	// find nothing, until it does. See package optional. The caches find out by themselves what is served,
	// unless Definitions is set, which then is for these kinds only.
	Optional []Kind
}

// Caches makes caches on the informers of kubewright, and reports how they are doing. Its
// methods are safe for concurrent use.
type Caches struct {
	options Options
	metrics toolscache.InformerMetricsProvider

	informers informers
	overrides overrides
	server    oneServer
}

// NewCaches returns a Caches. One serves any number of managers and clusters:
//
//	options := informer.Options{Drop: []string{"metadata.managedFields"}}
//	caches := kwctrl.NewCaches(kwctrl.Options{Options: options})
//	manager, err := ctrl.NewManager(config, ctrl.Options{NewCache: caches.NewCache})
func NewCaches(options Options) *Caches {
	return &Caches{options: options, overrides: overrides{unmatched: resourcesOf(options.Overrides)},
		metrics: kwprometheus.NewInformerProvider(metrics.Registry)}
}

// NewCache is a [cache.NewCacheFunc], for the NewCache of the options of a manager or a cluster.
// The cache is what Options.NewCache makes, with informers of kubewright that read lists and
// watches as streams. They have client-go's metrics of informers in controller-runtime's registry,
// named after the server's host and the form of the objects. They log by the logger in the context that the
// cache is started with, or controller-runtime's, and an informer because of which the cache did not sync is
// logged with the cause. If opts has a NewInformer, the cache
// is made with opts unchanged. The HTTP client is copied, so other clients of the program don't
// change. With Options.OwnWrites, NewCache returns an error if opts has a NewInformer, or if writes
// of that HTTP client don't pass the tracker's transport.
func (c *Caches) NewCache(config *rest.Config, opts cache.Options) (cache.Cache, error) {
	newCache := c.options.NewCache
	if newCache == nil {
		newCache = cache.New
	}
	if err := errors.Join(c.options.Validate(), checkOptional(c.options.Optional)); err != nil {
		return nil, fmt.Errorf("kwctrl: %w", err)
	}
	tracker := c.options.OwnWrites
	if opts.NewInformer != nil {
		if tracker != nil {
			return nil, errors.New("kwctrl: Options.OwnWrites needs caches without a NewInformer")
		}
		if len(c.options.Optional) > 0 {
			return nil, fmt.Errorf("kwctrl: %w", errNewInformer)
		}
		return newCache(config, opts)
	}
	httpClient, err := streaming(config, opts.HTTPClient)
	if err != nil {
		return nil, err
	}
	if tracker != nil {
		if !isTracked(httpClient.Transport, tracker) {
			return nil, errors.New("kwctrl: Options.OwnWrites wouldn't see the writes of the manager's clients: " +
				"call config.Wrap(tracker.Transport) before the manager is made, after wrappers of your own and " +
				"before config.Wrap(sharding.FencingTransport)")
		}
		if err := c.server.check(config.Host, "OwnWrites"); err != nil {
			return nil, err
		}
	}
	if c.options.Definitions != nil {
		if err := c.server.check(config.Host, "Definitions"); err != nil {
			return nil, err
		}
	}
	opts.HTTPClient = httpClient
	scheme := opts.Scheme
	if scheme == nil {
		scheme = clientgoscheme.Scheme
	}
	if opts.Mapper == nil {
		// The one that the cache would make itself.
		if opts.Mapper, err = apiutil.NewDynamicRESTMapper(config, httpClient); err != nil {
			return nil, fmt.Errorf("make a RESTMapper: %w", err)
		}
	}
	optionals, err := c.newOptionals(config, httpClient)
	if err != nil {
		return nil, fmt.Errorf("kwctrl: %w", err)
	}
	opts.Mapper = optionals.mapper(opts.Mapper)
	cacheStarted, names, mapper := new(started), newNames(config.Host), opts.Mapper
	opts.NewInformer = func(
		lw toolscache.ListerWatcher, obj runtime.Object, resync time.Duration, indexers toolscache.Indexers,
	) toolscache.SharedIndexInformer {
		// The informer is named after the kind, because Event is a type of two groups.
		if obj.GetObjectKind().GroupVersionKind().Empty() {
			obj = withKind(obj, scheme)
		}
		i := c.newInformer(scheme, lw, obj, toolscache.SharedIndexInformerOptions{
			ResyncPeriod: resync, Indexers: indexers, InformerMetricsProvider: c.metrics,
		})
		gvr, known := resourceOf(obj.GetObjectKind().GroupVersionKind(), mapper)
		if known {
			i.(interface {
				SetResource(schema.GroupVersionResource)
			}).SetResource(gvr)
		}
		c.configure(i, gvr, optionals)
		made := &identified{
			SharedIndexInformer: i, all: &c.informers, overrides: &c.overrides,
			cacheStarted: cacheStarted, names: names, form: formOf(obj), gvr: gvr,
			tracker: tracker,
		}
		c.informers.add(made)
		return made
	}
	made, err := newCache(config, opts)
	if err != nil {
		return nil, err
	}
	return &tellingCache{Cache: made, all: &c.informers, started: cacheStarted,
		told: map[string]string{}}, nil
}

// streaming returns a copy of an HTTP client, or of the one for config if that is nil, that streams.
func streaming(config *rest.Config, httpClient *http.Client) (*http.Client, error) {
	if httpClient == nil {
		config = rest.CopyConfig(config)
		if config.UserAgent == "" {
			config.UserAgent = rest.DefaultKubernetesUserAgent()
		}
		var err error
		if httpClient, err = rest.HTTPClientFor(config); err != nil {
			return nil, err
		}
	}
	streaming := *httpClient
	streaming.Transport = listwatch.Wrap(streaming.Transport)
	return &streaming, nil
}

// newInformer returns an informer that streams if it can. That is safe, because the clients of a
// cache change nothing that the server sends, except for the kind of metadata objects.
func (c *Caches) newInformer(
	scheme *runtime.Scheme, lw toolscache.ListerWatcher, obj runtime.Object,
	opts toolscache.SharedIndexInformerOptions,
) toolscache.SharedIndexInformer {
	return kwcache.NewSharedIndexInformerWithOptions(listwatch.Streamed(lw, scheme), obj, opts)
}

// configure sets the options of a new informer. NewCache has checked that they are valid.
func (c *Caches) configure(
	i toolscache.SharedIndexInformer, gvr schema.GroupVersionResource, optionals *optionals,
) {
	resource := gvr.GroupResource()
	_, overridden := c.options.Overrides[resource]
	options := optionals.options(c.options.For(resource), gvr, overridden)
	c.overrides.match(resource)
	onCreate := options.OnCreate
	options.OnCreate = nil
	err := informer.Configure(i, options)
	if onCreate != nil {
		err = errors.Join(err, onCreate(i))
	}
	if err != nil {
		utilruntime.HandleErrorWithContext(context.Background(), err, "Setting up an informer failed",
			"resource", resource)
	}
}

// withKind returns an example like obj that has its kind, or obj if the scheme doesn't know it.
func withKind(obj runtime.Object, scheme *runtime.Scheme) runtime.Object {
	kind, err := apiutil.GVKForObject(obj, scheme)
	if err != nil {
		return obj
	}
	example, err := scheme.New(kind)
	if err != nil {
		return obj
	}
	example.GetObjectKind().SetGroupVersionKind(kind)
	return example
}

// Statuses returns the status of each informer that has not stopped, sorted by name. No two that run
// have the same name: it has the server's host, the form of the objects and perhaps a number in brackets.
func (c *Caches) Statuses() []informer.Status {
	var statuses []informer.Status
	for _, i := range c.informers.now() {
		status, _ := informer.StatusOf(i)
		statuses = append(statuses, status)
	}
	slices.SortStableFunc(statuses, func(a, b informer.Status) int { return strings.Compare(a.Name, b.Name) })
	return statuses
}

// HealthCheck returns a check of the informers, for AddHealthzCheck or AddReadyzCheck. Its
// error has the reason for each unhealthy informer, see [informer.HealthCheck]. Informers that
// were removed are not checked.
func (c *Caches) HealthCheck(options informer.HealthOptions) func(*http.Request) error {
	return func(req *http.Request) error { return informer.HealthCheck(options, c.informers.now()...)(req) }
}
