package informer

import (
	"errors"
	"fmt"
	"time"

	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/tools/cache"

	"github.com/kubewright/kubewright/runtime/internal/shell"
	"github.com/kubewright/kubewright/runtime/listwatch"
)

// Tuning makes an informer behave differently from client-go's. The zero value changes nothing.
type Tuning struct {
	// InitialEventsTimeout is how long the informer waits for the bookmark that ends a
	// watch-list before it lists in pages instead: some servers, proxies and fakes
	// never send that bookmark. The time that the list waits for its limiter doesn't
	// count. Zero means no timeout. A timeout shows as the last error in [Status].
	InitialEventsTimeout time.Duration
	// SilenceTimeout is how long a watch may deliver nothing, not even a bookmark or a response, before the
	// informer opens another: without it, a dead connection looks like a quiet one. Servers send a bookmark
	// about every minute. Zero means no timeout. A timeout shows as the last error in [Status].
	SilenceTimeout time.Duration
	// RecreationIsDeletion makes the informer report an object that was deleted and created again, while it
	// wasn't watching, as a missed deletion and an addition. Without it, handlers receive an update. The UID
	// distinguishes the two objects.
	RecreationIsDeletion bool
	// MutationSample makes the informer check one in MutationSample objects, for a few minutes each, for
	// modifications, which are bugs, since the objects are shared. Zero checks none. 1000 is cheap enough for
	// production. With KUBE_CACHE_MUTATION_DETECTOR=true, MutationSample and OnMutation have no effect: the
	// informer checks all objects and panics at a modification, as with client-go.
	MutationSample int
	// OnMutation is called once for each modified object, with the copy from before and the object, within
	// ten seconds of the modification or, if the informer stops, after its handlers have returned. The default
	// reports an error to utilruntime, with the object's namespace and name and the fields that differ,
	// without their values.
	OnMutation func(original, modified runtime.Object)
}

// Configure sets the tuning of an informer, in place of an earlier one. It returns an error if the informer
// has started or a value is negative, and [ErrUnsupportedInformer] if i is not an informer of this package.
// It is safe for concurrent use.
func Configure(i cache.SharedInformer, tuning Tuning) error {
	ours, ok := shell.As[interface{ Configure(Tuning) error }](i)
	if !ok {
		return fmt.Errorf("configure %T: %w", i, unsupported(i))
	}
	if err := tuning.validate(); err != nil {
		return fmt.Errorf("configure %T: %w", i, err)
	}
	return ours.Configure(tuning)
}

// validate refuses negative values, which have no meaning.
func (t Tuning) validate() error {
	switch {
	case t.InitialEventsTimeout < 0:
		return fmt.Errorf("InitialEventsTimeout is %v: zero means no timeout", t.InitialEventsTimeout)
	case t.SilenceTimeout < 0:
		return fmt.Errorf("SilenceTimeout is %v: zero means no timeout", t.SilenceTimeout)
	case t.MutationSample < 0:
		return fmt.Errorf("MutationSample is %d: zero means none", t.MutationSample)
	}
	return nil
}

// errNoStreams is returned for sources whose client decodes the objects.
var errNoStreams = errors.New("the informer's source doesn't decode objects itself")

// SetDecoding sets how an informer decodes objects: it can drop fields before they are
// decoded, share more between objects, or leave the decoding to client-go. It returns an
// error after the start, and for an informer that never streams, which is one that was made
// neither by a generated constructor nor with a lister-watcher of [listwatch.Streamed]. It is
// safe for concurrent use.
func SetDecoding(i cache.SharedIndexInformer, opts listwatch.DecodingOptions) error {
	ours, ok := shell.As[interface {
		SetDecoding(listwatch.DecodingOptions) (decodes bool, err error)
	}](i)
	switch {
	case isNil(i):
		return fmt.Errorf("set the decoding of %T: %w", i, errNil)
	case !ok:
		return fmt.Errorf("informer of type %T: %w", i, errNoStreams)
	}
	decodes, err := ours.SetDecoding(opts)
	if err == nil && !decodes {
		return errNoStreams
	}
	return err
}
