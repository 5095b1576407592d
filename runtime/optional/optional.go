// Package optional is for kinds that a server may not serve yet, or not any more: their
// CustomResourceDefinition isn't installed, or their version isn't served. Give [Definitions] to a factory:
//
//	definitions, err := optional.NewDefinitions(config)
//	...
//	err = factory.Configure(informers, informer.Options{Definitions: definitions})
//
// That makes all kinds of the factory optional: one that is missing by mistake counts as synced, too. For
// some kinds only, name their resources:
//
//	options := informer.Options{Drop: []string{"metadata.managedFields"}}
//	boats := options
//	boats.Definitions = definitions
//	resource := schema.GroupResource{Group: "shop.example.com", Resource: "boats"}
//	options.Overrides = map[schema.GroupResource]informer.Options{resource: boats}
//	err = factory.Configure(informers, options) // before informers are made
//
// While a kind is absent, its informers send no request, have synced, and are empty. When it is served, they
// list and watch; when its definition is deleted, handlers receive the deletions. Handlers and indexes stay.
// An empty kind calls no handler when it comes: for keys that wait for the kind itself, let a goroutine call
// [Definitions.WaitForServed] and add them. The State of informer.StatusOf tells whether it is absent now.
// docs/concepts.md has the rules by which a kind is absent.
package optional

import (
	"context"
	"fmt"

	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/rest"

	"github.com/kubewright/kubewright/runtime/informer"
	"github.com/kubewright/kubewright/runtime/internal/definitions"
	"github.com/kubewright/kubewright/runtime/internal/served"
)

// Absent is the state of an informer, in its Status, while the server doesn't serve its kind.
const Absent informer.State = served.AbsentState

// Definitions tell informers which kinds a server serves. One object serves any number of factories and
// informers of that server. It works while one of its informers runs, or WaitForServed waits: it watches the
// metadata of CustomResourceDefinitions, for which it needs the verbs list and watch. Without them, and for
// aggregated APIs, it sends one discovery every 30 seconds while a kind is absent.
//
// All methods are safe for concurrent use.
type Definitions struct{ inside }

// inside is embedded under an unexported name, so that informers find its methods and nobody else sees them.
type inside = served.Definitions

// NewDefinitions returns the Definitions of a server. Its requests have no rate limit, because it sends one
// for each group and version at most. It sends none before an informer runs.
func NewDefinitions(config *rest.Config) (*Definitions, error) {
	set, err := definitions.New(config)
	if err != nil {
		return nil, fmt.Errorf("observe definitions: %w", err)
	}
	return &Definitions{set}, nil
}

// WaitForServed waits until the server serves a resource in this version. If ctx ends first, it returns the
// cause, since when the resource is absent, and in which versions it is served.
func (d *Definitions) WaitForServed(ctx context.Context, resource schema.GroupVersionResource) error {
	return d.inside.WaitForServed(ctx, resource)
}
