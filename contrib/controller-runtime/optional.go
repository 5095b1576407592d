package kwctrl

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"

	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/rest"

	"github.com/kubewright/kubewright/runtime/informer"
	"github.com/kubewright/kubewright/runtime/optional"
)

// Kind is a kind that the server may not serve, see Options.Optional. What a manager asks discovery for other
// kinds is stated here: the resource, which is the plural in URLs, and whether its objects have a namespace.
type Kind struct {
	GVK        schema.GroupVersionKind
	Resource   string
	Namespaced bool
}

func (k Kind) resource() schema.GroupVersionResource {
	return k.GVK.GroupVersion().WithResource(k.Resource)
}

func (k Kind) mapping() *meta.RESTMapping {
	scope := meta.RESTScopeRoot
	if k.Namespaced {
		scope = meta.RESTScopeNamespace
	}
	return &meta.RESTMapping{Resource: k.resource(), GroupVersionKind: k.GVK, Scope: scope}
}

// checkOptional returns an error for kinds that are incomplete, or that occur twice.
func checkOptional(kinds []Kind) error {
	seen := map[schema.GroupVersionKind]bool{}
	for _, kind := range kinds {
		switch {
		case kind.GVK.Kind == "" || kind.GVK.Version == "" || kind.Resource == "":
			return fmt.Errorf("the optional kind %q of %q needs a version, a kind and a resource", kind.GVK,
				kind.Resource)
		case seen[kind.GVK]:
			return fmt.Errorf("the kind %q is optional twice", kind.GVK)
		}
		seen[kind.GVK] = true
	}
	return nil
}

var errNewInformer = errors.New(
	"optional kinds need the informers of kubewright, but the options of the cache have a NewInformer")

// definitions are the type of Definitions of informer.Options.
type definitions interface {
	WaitForServed(ctx context.Context, resource schema.GroupVersionResource) error
}

// optionals are the optional kinds of a cache.
type optionals struct {
	kinds       []Kind
	definitions definitions
}

// newOptionals returns the optional kinds of a cache that sends its requests with a client. Without
// Definitions in the options, the cache has its own.
func (c *Caches) newOptionals(config *rest.Config, client *http.Client) (*optionals, error) {
	o := &optionals{kinds: c.options.Optional, definitions: c.options.Definitions}
	if len(o.kinds) == 0 || o.definitions != nil {
		return o, nil
	}
	base, _, err := rest.DefaultServerUrlFor(config)
	if err != nil {
		return nil, err
	}
	// The transport has the credentials.
	o.definitions, err = optional.NewDefinitions(&rest.Config{
		Host: base.String(), Transport: client.Transport, UserAgent: config.UserAgent,
	})
	return o, err
}

// options returns the options of an informer of a resource. overridden says that they are an override's.
func (o *optionals) options(
	of informer.Options, resource schema.GroupVersionResource, overridden bool,
) informer.Options {
	switch isOptional := slices.ContainsFunc(o.kinds, func(k Kind) bool { return k.resource() == resource }); {
	case isOptional && of.Definitions == nil:
		of.Definitions = o.definitions
	case !isOptional && len(o.kinds) > 0 && !overridden:
		of.Definitions = nil // Those of Options are for the optional kinds.
	}
	return of
}

// mapper returns a mapper that answers for the optional kinds itself.
func (o *optionals) mapper(of meta.RESTMapper) meta.RESTMapper {
	if len(o.kinds) == 0 {
		return of
	}
	return optionalMapper{of, o.kinds}
}

// optionalMapper knows optional kinds, whether they are served or not.
type optionalMapper struct {
	meta.RESTMapper
	kinds []Kind
}

func (m optionalMapper) RESTMapping(kind schema.GroupKind, versions ...string) (*meta.RESTMapping, error) {
	if known := m.known(kind, versions); len(known) > 0 {
		return known[0], nil
	}
	return m.RESTMapper.RESTMapping(kind, versions...)
}

func (m optionalMapper) RESTMappings(kind schema.GroupKind, versions ...string) ([]*meta.RESTMapping, error) {
	if known := m.known(kind, versions); len(known) > 0 {
		return known, nil
	}
	return m.RESTMapper.RESTMappings(kind, versions...)
}

// known returns the mappings of optional kinds, in the order of the versions. Without versions, all that are
// optional count.
func (m optionalMapper) known(kind schema.GroupKind, versions []string) (known []*meta.RESTMapping) {
	for _, k := range m.kinds {
		isWanted := len(versions) == 0 || slices.Contains(versions, k.GVK.Version)
		if k.GVK.GroupKind() == kind && isWanted {
			known = append(known, k.mapping())
		}
	}
	place := func(m *meta.RESTMapping) int { return slices.Index(versions, m.GroupVersionKind.Version) }
	slices.SortStableFunc(known, func(a, b *meta.RESTMapping) int { return place(a) - place(b) })
	return known
}
