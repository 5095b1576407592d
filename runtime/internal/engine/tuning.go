package engine

import (
	"github.com/kubewright/kubewright/runtime/informer"
	"github.com/kubewright/kubewright/runtime/listwatch"
)

// Configure is [informer.Configure], after the tuning was validated.
func (s *shared[K]) Configure(tuning informer.Tuning) error {
	return s.core.beforeStart(func() { s.core.config.Tuning = tuning })
}

// SetDecoding is [informer.SetDecoding]. decodes is false if the source doesn't decode objects itself.
func (s *shared[K]) SetDecoding(opts listwatch.DecodingOptions) (decodes bool, err error) {
	source, ok := s.core.config.Source.(interface {
		SetDecoding(listwatch.DecodingOptions) bool
	})
	err = s.core.beforeStart(func() { decodes = ok && source.SetDecoding(opts) })
	return decodes, err
}
