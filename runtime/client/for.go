package client

import (
	"cmp"
	"errors"
	"fmt"
	"reflect"
	"slices"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/runtime/serializer"
	"k8s.io/client-go/rest"

	gen "github.com/kubewright/kubewright/runtime/gen/client"
)

// Object is an API object with metadata.
type Object interface {
	runtime.Object
	metav1.Object
}

// Resource is a client of a resource for which nothing was generated, see [For]. [For] returns
// a client for all namespaces, or for a cluster-scoped resource; Namespace returns one for a
// single namespace.
//
// It has the methods of a generated client, and UpdateStatus and ApplyStatus whether the
// resource has a status or not. Apply and ApplyStatus take any generated apply configuration;
// only the server refuses one of another kind. If there is none, send JSON with Patch and
// types.ApplyPatchType. [GetAs], [CreateAs] and [UpdateAs] reach subresources:
//
//	shop := widgets.Namespace("shop")
//	scale, err := client.GetAs[*autoscalingv1.Scale](ctx, shop, "one", "scale", metav1.GetOptions{})
//
// It is safe for concurrent use.
type Resource[T Object, L runtime.Object] struct {
	gen.ClientWithListAndApply[T, L, gen.Configuration]
	at *endpoint
}

// For returns a client of the resource whose objects are of type T and whose lists are of
// type L, pointers to types of the scheme. Nothing has to be generated for them but their
// deep copies:
//
//	widgets, err := client.For[*v1.Widget, *v1.WidgetList](config, scheme)
//	widget, err := widgets.Namespace("shop").Get(ctx, "one", metav1.GetOptions{})
//
// factory.For makes informers and listers from the client. They have all features of generated
// ones: lists and watches are decoded as they arrive, and readers can wait for own writes.
//
// The group, version and kind come from the scheme. If it has the type in several versions,
// config.GroupVersion chooses one. The name of the resource is the plural that Kubernetes
// guesses from the kind. It is wrong for irregular nouns: set it with [ResourceName]. For a
// cluster-scoped resource, don't call Namespace. With the option PrefersProtobuf, built-in
// types are sent as protobuf.
//
// Each call makes a client with a rate limiter of its own, unless config has one: set config.RateLimiter to
// share it. For sends no request. Its error describes what is missing in the scheme.
func For[T Object, L runtime.Object](
	config *rest.Config, scheme *runtime.Scheme, opts ...Option,
) (*Resource[T, L], error) {
	at, err := connect(config, scheme, reflect.TypeFor[T](), reflect.TypeFor[L](), opts)
	if err != nil {
		return nil, fmt.Errorf("make a client of %s: %w", reflect.TypeFor[T](), err)
	}
	return newResource[T, L](at, ""), nil
}

// newResource returns the client for a namespace. Without one, the resource is assumed to be cluster-scoped,
// since nothing indicates whether it is.
func newResource[T Object, L runtime.Object](at *endpoint, namespace string) *Resource[T, L] {
	options := at.options
	if namespace == "" {
		options = append(slices.Clip(options), gen.ClusterScoped())
	}
	return &Resource[T, L]{*gen.NewWithListAndApply[T, L, gen.Configuration](
		at.rest, at.codec, at.resource, namespace, options...), at}
}

// Namespace returns the client for a namespace, or for all namespaces if it is empty.
func (r *Resource[T, L]) Namespace(namespace string) *Resource[T, L] {
	return newResource[T, L](r.at, namespace)
}

// Resource returns the group, version and name of the resource.
func (r *Resource[T, L]) Resource() schema.GroupVersionResource {
	return r.at.rest.APIVersion().WithResource(r.at.resource)
}

// endpoint is what the clients of a resource for all its namespaces share.
type endpoint struct {
	rest     rest.Interface
	codec    runtime.ParameterCodec
	resource string
	options  []gen.Option
}

// connect returns the endpoint of the resource whose objects and lists have these types. It has no type
// parameters, so it is compiled once.
func connect(
	config *rest.Config, scheme *runtime.Scheme, object, list reflect.Type, opts []Option,
) (*endpoint, error) {
	kind, err := kindOf(config, scheme, object, list)
	if err != nil {
		return nil, err
	}
	root := "/apis"
	if kind.Group == "" {
		root = "/api"
	}
	group := gen.Group{
		Version: kind.GroupVersion(), APIPath: root,
		Scheme: scheme, Codecs: serializer.NewCodecFactory(scheme),
	}
	client, err := gen.ForConfig(config, group.RESTClient)
	if err != nil {
		return nil, err
	}
	guess, _ := meta.UnsafeGuessKindToResource(kind)
	at := &endpoint{rest: client, codec: runtime.NewParameterCodec(scheme), resource: guess.Resource,
		options: []gen.Option{gen.RememberIn(&gen.Writes{})}}
	for _, o := range opts {
		at.resource = cmp.Or(o.resource, at.resource)
		if o.prefersProtobuf {
			at.options = append(at.options, gen.PrefersProtobuf())
		}
	}
	return at, nil
}

// kindOf returns the kind of the object type in the scheme. It returns an error if one of the types
// is unsuitable or the scheme lacks something.
func kindOf(
	config *rest.Config, scheme *runtime.Scheme, object, list reflect.Type,
) (kind schema.GroupVersionKind, err error) {
	switch {
	case config == nil:
		return kind, errors.New("the configuration is nil")
	case scheme == nil:
		return kind, errors.New("the scheme is nil: pass one that has the type")
	case !isStructPointer(object):
		return kind, fmt.Errorf("%s is not a pointer to a struct", object)
	case !lists(list, object):
		return kind, fmt.Errorf("%s is not a pointer to a list with Items of type %s", list, object.Elem())
	}
	kinds, err := kindsOf(scheme, object)
	if err != nil {
		return kind, err
	}
	if kind, err = choose(kinds, object.Elem().Name(), config.GroupVersion); err != nil {
		return kind, err
	}
	version := kind.GroupVersion()
	listKinds, err := kindsOf(scheme, list)
	if err != nil {
		return kind, err
	}
	if !slices.ContainsFunc(listKinds, inGroupVersion(version)) {
		return kind, fmt.Errorf("the scheme has it in %s, but %s only as %v: add that, too",
			version, list, listKinds)
	}
	if !scheme.Recognizes(version.WithKind("ListOptions")) {
		return kind, fmt.Errorf("the scheme lacks the options of %s: call metav1.AddToGroupVersion", version)
	}
	return kind, nil
}

// kindsOf returns the kinds of a pointer type in the scheme, without those of internal versions.
func kindsOf(scheme *runtime.Scheme, t reflect.Type) ([]schema.GroupVersionKind, error) {
	obj := reflect.New(t.Elem()).Interface().(runtime.Object)
	if _, ok := obj.(runtime.Unstructured); ok {
		return nil, errors.New("its objects can be of any kind: use client-go's dynamic client")
	}
	kinds, _, err := scheme.ObjectKinds(obj)
	if runtime.IsNotRegisteredError(err) {
		return nil, fmt.Errorf(
			"the scheme doesn't have %s: add it, as AddToScheme of %s should", t, t.Elem().PkgPath())
	}
	if err != nil {
		return nil, err
	}
	kinds = slices.DeleteFunc(slices.Clone(kinds), func(kind schema.GroupVersionKind) bool {
		return kind.Version == runtime.APIVersionInternal
	})
	if len(kinds) == 0 {
		return nil, fmt.Errorf("the scheme has %s only as an internal type, which no server serves", t)
	}
	return kinds, nil
}

// choose returns the kind to use. If there are several, it prefers those with the name of the
// type, and of these those of the wanted version, if any. It returns an error if several remain.
func choose(
	kinds []schema.GroupVersionKind, name string, wanted *schema.GroupVersion,
) (schema.GroupVersionKind, error) {
	left := narrow(kinds, func(kind schema.GroupVersionKind) bool { return kind.Kind == name })
	if wanted != nil {
		left = narrow(left, inGroupVersion(*wanted))
	}
	if len(left) > 1 {
		return schema.GroupVersionKind{}, fmt.Errorf(
			"the scheme has it as %v: set GroupVersion of the configuration to one of their versions", left)
	}
	return left[0], nil
}

// narrow returns the kinds that match, or all if none does.
func narrow(
	kinds []schema.GroupVersionKind, match func(schema.GroupVersionKind) bool,
) (matching []schema.GroupVersionKind) {
	matching = slices.DeleteFunc(slices.Clone(kinds), func(kind schema.GroupVersionKind) bool {
		return !match(kind)
	})
	if len(matching) == 0 {
		return kinds
	}
	return matching
}

// inGroupVersion reports whether a kind is of a version.
func inGroupVersion(version schema.GroupVersion) func(schema.GroupVersionKind) bool {
	return func(kind schema.GroupVersionKind) bool { return kind.GroupVersion() == version }
}

// lists reports whether list is a pointer to a struct whose Items are objects, or pointers to objects.
func lists(list, object reflect.Type) bool {
	if !isStructPointer(list) {
		return false
	}
	items, ok := list.Elem().FieldByName("Items")
	return ok && items.Type.Kind() == reflect.Slice &&
		(items.Type.Elem() == object || items.Type.Elem() == object.Elem())
}

func isStructPointer(t reflect.Type) bool {
	return t.Kind() == reflect.Pointer && t.Elem().Kind() == reflect.Struct
}
