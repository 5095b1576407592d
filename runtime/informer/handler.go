package informer

import (
	"fmt"
	"time"

	"k8s.io/client-go/tools/cache"
	"k8s.io/klog/v2"

	"github.com/kubewright/kubewright/runtime/internal/unwrap"
)

// HandlerOptions are the options of a registration. The zero value registers the handler
// as client-go does.
type HandlerOptions struct {
	// Name names the handler in logs, in [HandlerStatus] and in its HasSyncedChecker.
	// The default is made from its type or the names of its functions; HandlerStatus.At then says where the
	// handler was added.
	Name string
	// Logger gets warnings about the handler, and its panics. The default is the logger in the context that the
	// informer runs in, and before that klog.Background().
	Logger *klog.Logger
	// ResyncPeriod is the interval at which the handler receives an update of every object in the store. Zero
	// means never, nil means the informer's default. A shorter period is raised to one second and to the
	// period in which the informer checks for due resyncs, which is fixed when it starts. A period has no
	// effect if the informer's own is zero.
	ResyncPeriod *time.Duration
	// Coalesce bounds the backlog by the number of objects: changes of an object that the handler has not
	// received yet are merged into one. The handler then receives the latest state of each object, in the
	// order in which the objects first changed, but not every state in between. An object that was created
	// and deleted meanwhile is not reported. One that was deleted and created again is reported as a deletion
	// and an addition.
	Coalesce bool
	// ContainPanics makes a panic of the handler an error that utilruntime handles,
	// with the handler's name, whether or not utilruntime is configured to survive
	// panics. The next notification follows at once. [HandlerStatus] counts panics
	// with and without ContainPanics.
	ContainPanics bool
}

// AddEventHandler is i.AddEventHandlerWithOptions with the options of this package. Like
// the method, it returns an error if the handler is nil. The error is
// [ErrUnsupportedInformer] if i is not an informer of this module. It is safe for
// concurrent use.
func AddEventHandler(
	i cache.SharedInformer, handler cache.ResourceEventHandler, options HandlerOptions,
) (cache.ResourceEventHandlerRegistration, error) {
	ours, ok := unwrap.As[adder](i)
	if !ok {
		return nil, fmt.Errorf("add a handler to %T: %w", i, unsupported(i))
	}
	return ours.AddHandler(handler, options)
}

// adder is an informer that takes handlers with the options of this package.
type adder interface {
	AddHandler(cache.ResourceEventHandler, HandlerOptions) (cache.ResourceEventHandlerRegistration, error)
}
