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

// Tuning is what an informer can do otherwise than client-go's. The zero value
// is an informer as client-go has it.
type Tuning struct {
	// InitialEventsTimeout is how long to wait for the bookmark that ends a
	// streamed list before listing in pages: some servers, proxies and fakes
	// never send it. Time in which the list waits for its limiter doesn't count.
	// Zero is for ever. [Status] has it as the last error.
	InitialEventsTimeout time.Duration
	// SilenceTimeout is how long an open watch may bring nothing, not even a
	// bookmark, before it is opened anew: a connection that died without a word
	// looks like a quiet one. Servers send a bookmark about every minute. Zero
	// is for ever. [Status] has it as the last error.
	SilenceTimeout time.Duration
	// RecreationIsDeletion tells handlers of an object that was deleted and
	// created again while nobody watched what happened: a missed deletion, then
	// an addition. It is recognised by its UID. Without it, that is an update.
	RecreationIsDeletion bool
	// MutationSample watches one in so many of the objects that the informer
	// hands out, for a few minutes each, for changes by those who got it: objects
	// are shared and must not be modified. Zero is none. A thousand costs so
	// little that production can afford it.
	MutationSample int
	// OnMutation is called with an object as it was handed out and as it is, once
	// for each object that was found to be modified: within ten seconds or, if the
	// informer stops, after its handlers have returned. By default that is reported
	// to utilruntime as an error, with the object's namespace and name and the
	// difference.
	OnMutation func(original, modified runtime.Object)
}

// Configure sets the options of an informer before its start. It returns an error if
// that is over, if the informer is of another make, or if an option is negative.
func Configure(i cache.SharedInformer, tuning Tuning) error {
	ours, ok := shell.As[interface{ configure(Tuning) error }](i)
	if !ok {
		return fmt.Errorf("configure %T: %w", i, unsupported(i))
	}
	if err := tuning.validate(); err != nil {
		return fmt.Errorf("configure %T: %w", i, err)
	}
	return ours.configure(tuning)
}

// validate refuses what is below zero, which may have been meant for anything.
func (t Tuning) validate() error {
	switch {
	case t.InitialEventsTimeout < 0:
		return fmt.Errorf("InitialEventsTimeout is %v: zero is for ever", t.InitialEventsTimeout)
	case t.SilenceTimeout < 0:
		return fmt.Errorf("SilenceTimeout is %v: zero is for ever", t.SilenceTimeout)
	case t.MutationSample < 0:
		return fmt.Errorf("MutationSample is %d: zero is none", t.MutationSample)
	}
	return nil
}

func (s *shared[K]) configure(tuning Tuning) error {
	return s.core.beforeStart(func() { s.core.config.Tuning = tuning })
}

// errNoStreams is for sources that take objects as others have decoded them.
var errNoStreams = errors.New("the informer's source doesn't decode objects itself")

// SetDecoding has an informer that a generated constructor made drop fields of
// objects before they are decoded, share more between objects, or take them as
// client-go decodes them. It is an error after the start, and for informers of
// another make.
func SetDecoding(i cache.SharedIndexInformer, opts listwatch.DecodingOptions) error {
	ours, ok := shell.As[interface {
		setDecoding(listwatch.DecodingOptions) error
	}](i)
	switch {
	case isNil(i):
		return fmt.Errorf("set the decoding of %T: %w", i, errNil)
	case !ok:
		return fmt.Errorf("informer of type %T: %w", i, errNoStreams)
	}
	return ours.setDecoding(opts)
}

func (s *shared[K]) setDecoding(opts listwatch.DecodingOptions) error {
	source, ok := s.core.config.source.(interface {
		SetDecoding(listwatch.DecodingOptions)
	})
	if !ok {
		return errNoStreams
	}
	return s.core.beforeStart(func() { source.SetDecoding(opts) })
}
