package factory

import (
	"slices"

	"k8s.io/client-go/tools/cache"

	"github.com/kubewright/kubewright/runtime/informer"
	"github.com/kubewright/kubewright/runtime/listwatch"
)

// Decoding is how the informers of a factory decode objects.
type Decoding struct {
	Options listwatch.DecodingOptions
	// Dropped are fields that are dropped whatever Options drop.
	Dropped []string
}

// Decode is a method of [Owner].
func (s *Set[K]) Decode(function string, change func(*Decoding)) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if err := s.tooLate(function); err != nil {
		return err
	}
	if s.decoding == nil {
		s.decoding = &Decoding{}
	}
	change(s.decoding)
	return nil
}

// apply sets the decoding of an informer.
func (d *Decoding) apply(i cache.SharedIndexInformer) error {
	opts := d.Options
	opts.Drop = slices.Concat(opts.Drop, d.Dropped)
	return informer.SetDecoding(i, opts)
}
