package factory

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/tools/cache"

	"github.com/kubewright/kubewright/runtime/informer"
)

// Handle is embedded in generated factories, so that the functions of this package find the Set behind it. It
// has no exported methods, so the factory has only upstream's.
type Handle struct{ of owner }

// owner is a [Set] with any type of key.
type owner interface {
	all() (started, others []cache.SharedIndexInformer)
	hold(cache.SharedInformer) error
	release(cache.SharedInformer) error
	setOnCreate(func(cache.SharedIndexInformer) error) error
	decode(function string, change func(*decoding)) error
	tweak(key any, tweak func(*metav1.ListOptions)) error
	tweaksOf(key any) []func(*metav1.ListOptions)
}

func (h Handle) owner() owner { return h.of }

// ErrUnsupportedFactory is returned for a factory that neither kubewright has generated nor this package has
// made.
var ErrUnsupportedFactory = errors.New("the factory is none of kubewright's")

// errNil is returned for a factory that is nil.
var errNil = errors.New("the factory is nil: pass what NewSharedInformerFactory returned")

// errNoFunction is returned for a function that is nil, in place of a panic at its first
// call.
var errNoFunction = errors.New("there is no function to call, it is nil")

func ownerOf(f any) (owner, error) {
	if owned, ok := f.(interface{ owner() owner }); ok && owned.owner() != nil {
		return owned.owner(), nil
	}
	if f == nil {
		return nil, errNil
	}
	return nil, fmt.Errorf("%T: %w", f, ErrUnsupportedFactory)
}

// Statuses returns the status of each informer of f, a generated factory, whether started
// or not, sorted by name. See [informer.StatusOf] for informers of another kind. It is
// safe for concurrent use.
func Statuses(f any) ([]informer.Status, error) {
	o, err := ownerOf(f)
	if err != nil {
		return nil, err
	}
	var statuses []informer.Status
	started, others := o.all()
	for _, i := range append(started, others...) {
		s, _ := informer.StatusOf(i)
		statuses = append(statuses, s)
	}
	slices.SortFunc(statuses, func(a, b informer.Status) int { return strings.Compare(a.Name, b.Name) })
	return statuses, nil
}

// Hold adds one user of an informer of f, a generated factory. Each Hold needs a Release. It is safe for
// concurrent use.
func Hold(f any, i cache.SharedInformer) error {
	o, err := ownerOf(f)
	if err != nil {
		return err
	}
	return o.hold(i)
}

// Release removes one user of an informer of f, a generated factory. When no user is left, or if there was no
// Hold, it stops the informer and removes it from the factory. When asked again, the factory makes a new
// informer for the type, which has no handlers and must be started. Listers of the old informer keep its last
// state.
//
// Release doesn't wait until the informer has stopped, so a handler may call it. Shutdown
// does. Release is safe for concurrent use.
func Release(f any, i cache.SharedInformer) error {
	o, err := ownerOf(f)
	if err != nil {
		return err
	}
	return o.release(i)
}

// OnCreate makes f, a generated factory, pass each informer that it makes to setUp before
// it returns it, to declare indexes or set options for all informers. An error of setUp is
// reported to utilruntime. OnCreate is safe for concurrent use.
//
// If f has informers already, OnCreate returns an error and does nothing, since setUp would not be applied to
// them.
func OnCreate(f any, setUp func(cache.SharedIndexInformer) error) error {
	o, err := ownerOf(f)
	if err != nil {
		return err
	}
	if setUp == nil {
		return errNoFunction
	}
	return o.setOnCreate(setUp)
}
