package factory

import (
	"fmt"
	"slices"
	"strings"

	"k8s.io/client-go/tools/cache"

	gen "github.com/kubewright/kubewright/runtime/gen/factory"
	"github.com/kubewright/kubewright/runtime/informer"
)

func ownerOf(f Interface) (gen.Owner, error) {
	if o, ok := gen.OwnerOf(f); ok {
		return o, nil
	}
	if f == nil {
		return nil, errNil
	}
	return nil, fmt.Errorf("%T: %w", f, ErrUnsupportedFactory)
}

// informers is a factory, or what is behind it: a set of informers.
type informers interface {
	// Informers returns the informers that were started, and the others.
	Informers() (started, others []cache.SharedIndexInformer)
}

// informersOf returns the informers of a factory, or of a set of namespaces.
func informersOf(f Interface) (informers, error) {
	if set, ok := f.(informers); ok {
		return set, nil
	}
	return ownerOf(f)
}

// Statuses returns the status of each informer of f, whether started
// or not, sorted by name. See [informer.StatusOf] for informers of other packages. It is
// safe for concurrent use.
func Statuses(f Interface) ([]informer.Status, error) {
	set, err := informersOf(f)
	if err != nil {
		return nil, err
	}
	started, others := set.Informers()
	all := append(started, others...)
	statuses := make([]informer.Status, 0, len(all))
	for _, i := range all {
		s, _ := informer.StatusOf(i)
		statuses = append(statuses, s)
	}
	slices.SortFunc(statuses, func(a, b informer.Status) int { return strings.Compare(a.Name, b.Name) })
	return statuses, nil
}

// Retain adds one user of an informer of f. Each Retain needs a Release. It is safe for
// concurrent use.
func Retain(f Interface, i cache.SharedInformer) error {
	o, err := ownerOf(f)
	if err != nil {
		return err
	}
	return o.Retain(i)
}

// Release removes one user of an informer of f. When no user is left, or if there was
// no Retain, it stops the informer and removes it from the factory. When requested again, the factory makes a
// new informer for the type, which has no handlers and must be started. Listers of the old informer keep its
// last state.
//
// Release doesn't wait until the informer has stopped, so a handler may call it. Shutdown
// waits. Release is safe for concurrent use.
func Release(f Interface, i cache.SharedInformer) error {
	o, err := ownerOf(f)
	if err != nil {
		return err
	}
	return o.Release(i)
}

// Configure sets the options of all informers of f, in place of earlier ones. It returns
// [informer.ErrTooLate] if f has informers already, and an error for negative values and for an override
// inside an override. An informer that can't be configured, because client-go made it or because it doesn't
// decode its objects itself, is reported to utilruntime. Configure is safe for concurrent use.
func Configure(f Interface, options informer.Options) error {
	o, err := ownerOf(f)
	if err != nil {
		return err
	}
	return o.Configure(options)
}
