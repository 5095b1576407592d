package engine

import (
	"slices"

	"github.com/kubewright/kubewright/runtime/informer"
	"github.com/kubewright/kubewright/runtime/internal/sources"
)

// lag returns what counts how old objects are when they arrive, nil if the source never knows.
func (i *engine[K]) lag() *sources.Lag {
	if source, ok := i.config.Source.(interface{ Lag() *sources.Lag }); ok {
		return source.Lag()
	}
	return nil
}

// countLag makes the informer count how old objects are.
func (i *engine[K]) countLag() {
	if lag := i.lag(); lag != nil {
		lag.Start()
	}
}

// setLag sets the lag of a status, whose Reading is set.
func (i *engine[K]) setLag(s *informer.Status) {
	lag, to := i.lag(), &s.Lag
	type bucket = struct {
		UpTo    float64
		Objects uint64
	}
	buckets := make([]bucket, 0, 16) // on the stack: most informers have no lag
	if lag != nil {
		to.Since, to.Seconds = lag.Since(), lag.Seconds()
		to.Objects = lag.Each(func(upTo float64, objects uint64) {
			buckets = append(buckets, bucket{upTo, objects})
		})
	}
	switch untimed := lag != nil && lag.Untimed() > 0; {
	case to.Objects > 0:
		to.Buckets = slices.Clone(buckets)
	case lag == nil:
		to.Absent = "the source isn't one of kubewright's"
	case s.Reading.NotStreamed != "":
		to.Absent = "watches aren't decoded by kubewright: " + s.Reading.NotStreamed
	case to.Since.IsZero():
		to.Absent = "it is counted once somebody has asked for it"
	case untimed && s.Reading.DropSent:
		to.Absent = "the server leaves metadata.managedFields out, as it was asked to"
	case untimed:
		to.Absent = "objects have no times in metadata.managedFields"
	default:
		to.Absent = "no change has arrived since counting began"
	}
}
