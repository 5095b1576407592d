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

// Handle is what a generated factory embeds so that the functions of this
// package find the Factory behind it. It has no exported methods: the factory's
// own are upstream's and no more.
type Handle struct{ of owner }

// owner is a [Set] of whatever key.
type owner interface {
	all() (started, others []cache.SharedIndexInformer)
	hold(cache.SharedInformer) error
	release(cache.SharedInformer) error
	setOnCreate(func(cache.SharedIndexInformer) error) error
	tweak(key any, tweak func(*metav1.ListOptions)) error
	tweaksOf(key any) []func(*metav1.ListOptions)
}

func (h Handle) owner() owner { return h.of }

// ErrUnsupportedFactory is returned for a factory that isn't one of ours.
var ErrUnsupportedFactory = errors.New("the factory is of another make")

// errNil is returned for no factory at all.
var errNil = errors.New("the factory is nil: pass what NewSharedInformerFactory returned")

// errNoFunction is better than a panic when the function would be called.
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

// Statuses says how the informers of f, a generated factory, are doing, started
// or not, by their names. Informers of another make say little.
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

// Hold says that somebody needs an informer of f, a generated factory, until the
// Release that belongs to it.
func Hold(f any, i cache.SharedInformer) error {
	o, err := ownerOf(f)
	if err != nil {
		return err
	}
	return o.hold(i)
}

// Release gives up an informer of f, a generated factory. With the last of its
// holds, or if nobody holds it, the informer stops, and the factory forgets it:
// whoever asks for the type again gets a new informer, which has no handlers and
// must be started. Listers of the old one go on showing what it knew last.
//
// Release doesn't wait for the informer's end, so that a handler may call it;
// Shutdown does.
func Release(f any, i cache.SharedInformer) error {
	o, err := ownerOf(f)
	if err != nil {
		return err
	}
	return o.release(i)
}

// OnCreate has f, a generated factory, pass each informer that it makes to setUp,
// before anyone else gets it: to declare indexes or set options for all. What setUp
// returns is logged.
//
// It is an error, and nothing is done, when f has informers already, which would
// be left as they are.
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
