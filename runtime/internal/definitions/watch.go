package definitions

import (
	"context"
	"fmt"
	"net/http"
	"reflect"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/runtime/serializer"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/rest"
	"k8s.io/klog/v2"

	"github.com/kubewright/kubewright/runtime/internal/clientsource"
	"github.com/kubewright/kubewright/runtime/internal/reflector"
	"github.com/kubewright/kubewright/runtime/internal/served"
	"github.com/kubewright/kubewright/runtime/internal/sources"
)

const (
	resource = "customresourcedefinitions"
	// forbiddenFor is how long a watch that is forbidden isn't tried again.
	forbiddenFor = 5 * time.Minute
	// silence is how long the watch may be silent. Servers send a bookmark about every minute.
	silence = 3 * time.Minute
)

// watch keeps what is known of definitions equal to the server's, until ctx is done.
func (r *run) watch(ctx context.Context) {
	source, err := r.set.source()
	if err != nil {
		r.cannotWatch(ctx, err)
		return
	}
	wait.UntilWithContext(ctx, func(ctx context.Context) {
		if refused := r.watchUntilRefused(ctx, source); refused != nil {
			r.cannotWatch(ctx, refused)
		}
	}, forbiddenFor)
}

// watchUntilRefused lists and watches definitions until ctx is done or the server refuses that.
func (r *run) watchUntilRefused(ctx context.Context, source sources.Source) (refused error) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	reflector.New(source, definitionSink{r}, reflector.Options{
		Name: "kubewright, optional kinds", TypeDescription: resource, Consistent: true, SilenceTimeout: silence,
		ErrorHandler: func(ctx context.Context, err error) {
			if isRefused(err) {
				refused = err
				cancel()
				return
			}
			klog.FromContext(ctx).V(1).Info("Watching CustomResourceDefinitions has failed", "err", err)
		},
	}).Run(ctx)
	return refused
}

// isRefused reports whether an error doesn't go away soon: the watch is forbidden, or the server has no
// definitions, or not their metadata.
func isRefused(err error) bool {
	return apierrors.IsForbidden(err) || apierrors.IsNotFound(err) || apierrors.IsMethodNotSupported(err) ||
		apierrors.IsNotAcceptable(err)
}

// cannotWatch goes on without the watch. It logs that at the first time.
func (r *run) cannotWatch(ctx context.Context, err error) {
	r.mu.Lock()
	defer r.unlock()
	r.defined = nil
	if r.watching != served.Unwatched {
		r.watching = served.Unwatched
		r.lines = append(r.lines, func() {
			klog.FromContext(ctx).Info(
				"CustomResourceDefinitions can't be watched: absent kinds are looked for every 30 seconds",
				"err", err)
		})
	}
	for _, k := range r.kinds {
		r.tellLocked(k, func(m *served.Kind, now time.Time) { m.Defined(now, served.Unwatched) })
	}
	r.awake()
}

// definitionOf returns what is known of the definition of a resource. The caller holds mu.
func (r *run) definitionOf(resource schema.GroupVersionResource) served.Definition {
	if _, ok := r.defined[resource.GroupResource().String()]; ok {
		return served.Present
	}
	return r.watching
}

// listed replaces all definitions, by their names and versions.
func (r *run) listed(all map[string]string) {
	r.mu.Lock()
	defer r.unlock()
	before := r.defined
	r.defined = all
	isFirst := r.watching != served.Missing
	r.watching = served.Missing
	for _, k := range r.kinds {
		name := k.resource.GroupResource().String()
		was, wasPresent := before[name]
		now, isPresent := all[name]
		if isFirst || was != now || wasPresent != isPresent {
			r.tellDefined(k)
		}
	}
	r.awake()
}

// changed changes one definition.
func (r *run) changed(name, version string, exists bool) {
	r.mu.Lock()
	defer r.unlock()
	if exists {
		r.defined[name] = version
	} else {
		delete(r.defined, name)
	}
	for _, k := range r.kinds {
		if k.resource.GroupResource().String() == name {
			r.tellDefined(k)
		}
	}
	r.awake()
}

func (r *run) tellDefined(k *kind) {
	definition := r.definitionOf(k.resource)
	r.tellLocked(k, func(m *served.Kind, now time.Time) { m.Defined(now, definition) })
}

// definitionSink is the sink of the reflector: of definitions, only names and versions count. A definition of
// widgets in example.com has the name widgets.example.com.
type definitionSink struct{ run *run }

func (s definitionSink) Begin() reflector.Staging { return &staging{s.run, map[string]string{}} }

func (s definitionSink) set(obj any, version string, exists bool) error {
	name, err := nameOf(obj)
	if err == nil {
		s.run.changed(name, version, exists)
	}
	return err
}

func (s definitionSink) Added(obj any, version string) error   { return s.set(obj, version, true) }
func (s definitionSink) Updated(obj any, version string) error { return s.set(obj, version, true) }
func (s definitionSink) Deleted(obj any, version string) error { return s.set(obj, version, false) }
func (s definitionSink) Bookmark(string) error                 { return nil }
func (s definitionSink) Resync() error                         { return nil }

type staging struct {
	run *run
	all map[string]string
}

func (s *staging) Add(obj any, version string) error {
	name, err := nameOf(obj)
	if err == nil {
		s.all[name] = version
	}
	return err
}

func (s *staging) Update(obj any, version string) error { return s.Add(obj, version) }

func (s *staging) Remove(obj any) error {
	name, err := nameOf(obj)
	delete(s.all, name)
	return err
}

func (s *staging) Commit(string) error {
	s.run.listed(s.all)
	return nil
}

func (s *staging) Discard() {}

func nameOf(obj any) (string, error) {
	definition, ok := obj.(*metav1.PartialObjectMetadata)
	if !ok {
		return "", fmt.Errorf("a %T is no metadata of a definition", obj)
	}
	return definition.Name, nil
}

// source returns the source of definitions.
func (s *Set) source() (sources.Source, error) {
	scheme := runtime.NewScheme()
	metav1.AddToGroupVersion(scheme, schema.GroupVersion{Version: "v1"})
	if err := metav1.AddMetaToScheme(scheme); err != nil {
		return nil, err
	}
	config := rest.CopyConfig(s.config)
	config.APIPath = "/apis"
	config.GroupVersion = &schema.GroupVersion{Group: "apiextensions.k8s.io", Version: "v1"}
	config.NegotiatedSerializer = serializer.NewCodecFactory(scheme).WithoutConversion()
	config.ContentType, config.AcceptContentTypes = "", ""
	client, err := rest.RESTClientForConfigAndClient(config, s.client)
	if err != nil {
		return nil, err
	}
	definitions := definitionClient{client, runtime.NewParameterCodec(scheme)}
	return clientsource.FromClient(reflect.TypeFor[*metav1.PartialObjectMetadata](),
		func() sources.Client[*metav1.PartialObjectMetadataList] { return definitions },
		clientsource.Options{
			Client: definitions, Subject: resource, Streamed: true,
			Decoding: sources.Decoding{Drop: []string{"metadata.managedFields"}},
		}), nil
}

// definitionClient requests the metadata of definitions.
type definitionClient struct {
	client rest.Interface
	codec  runtime.ParameterCodec
}

func (c definitionClient) List(
	ctx context.Context, opts metav1.ListOptions,
) (*metav1.PartialObjectMetadataList, error) {
	list := &metav1.PartialObjectMetadataList{}
	err := c.request(opts, "PartialObjectMetadataList").Do(ctx).Into(list)
	return list, err
}

func (c definitionClient) Watch(ctx context.Context, opts metav1.ListOptions) (watch.Interface, error) {
	opts.Watch = true
	request := c.request(opts, "PartialObjectMetadata")
	if opts.TimeoutSeconds != nil {
		request.Timeout(time.Duration(*opts.TimeoutSeconds) * time.Second)
	}
	return request.Watch(ctx)
}

func (c definitionClient) request(opts metav1.ListOptions, as string) *rest.Request {
	return c.client.Verb(http.MethodGet).Resource(resource).
		SpecificallyVersionedParams(&opts, c.codec, schema.GroupVersion{Version: "v1"}).
		SetHeader("Accept", "application/json;as="+as+";g=meta.k8s.io;v=v1")
}
