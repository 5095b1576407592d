package engine

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubewright/kubewright/runtime/informer"
	"github.com/kubewright/kubewright/runtime/internal/sources"
	"github.com/kubewright/kubewright/runtime/listwatch"
)

// Configure is [informer.Configure], after the options were validated. streams is false if the source never
// streams.
func (s *shared[K]) Configure(o informer.Options) (streams bool, err error) {
	source, ok := s.core.config.Source.(interface {
		Configure(sources.Decoding, *listwatch.Limiter, func(*metav1.ListOptions)) (streams bool)
	})
	err = s.core.beforeStart(func() {
		s.core.config.Options = o
		streams = ok && source.Configure(sources.Decoding{
			Drop: o.Drop, MetadataOnly: o.MetadataOnly, ShareValues: o.ShareValues,
			KeepUnchanged: o.KeepUnchanged, NoServerDrop: o.NoServerDrop, MaxObject: o.MaxObject,
			Off: o.NoStreams,
		}, o.Limiter, o.TweakListOptions)
	})
	return streams, err
}
