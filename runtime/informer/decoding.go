package informer

import (
	"errors"
	"fmt"

	"k8s.io/client-go/tools/cache"

	"github.com/kubewright/kubewright/runtime/listwatch"
)

// errNoStreams is for sources that take objects as others have decoded them.
var errNoStreams = errors.New("the informer's source doesn't decode objects itself")

// SetDecoding has an informer that a generated constructor made drop fields of
// objects before they are decoded, share more between objects, or take them as
// client-go decodes them. It is an error after the start, and for informers of
// another make.
func SetDecoding(i cache.SharedIndexInformer, opts listwatch.DecodingOptions) error {
	ours, ok := i.(interface {
		setDecoding(listwatch.DecodingOptions) error
	})
	if !ok {
		return fmt.Errorf("informer of type %T: %w", i, errNoStreams)
	}
	return ours.setDecoding(opts)
}

func (s *Shared[K, T]) setDecoding(opts listwatch.DecodingOptions) error {
	source, ok := s.core.config.Source.(interface {
		SetDecoding(listwatch.DecodingOptions)
	})
	if !ok {
		return errNoStreams
	}
	return s.core.beforeStart(func() { source.SetDecoding(opts) })
}
