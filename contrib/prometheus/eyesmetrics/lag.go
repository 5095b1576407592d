package eyesmetrics

import (
	"strings"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/kubewright/kubewright/eyes"
)

var informerLag = prometheus.NewDesc("kubewright_informer_lag_seconds",
	"How old objects were when watches delivered that they were added or modified, since the first scrape",
	ofInformer, nil)

// lags are the histograms of a scrape, by their labels.
type lags map[string]*histogram

type histogram struct {
	objects uint64
	seconds float64
	// upTo has how many objects are not older than an age.
	upTo map[float64]uint64
}

// add adds the lag of an informer to those of others with the same labels.
func (all lags) add(lag *eyes.Lag, labels ...string) {
	if lag == nil {
		return
	}
	at := joined(labels)
	h := all[at]
	if h == nil {
		h = &histogram{upTo: map[float64]uint64{}}
		all[at] = h
	}
	h.objects += lag.Objects
	h.seconds += lag.Seconds
	sum := uint64(0)
	for _, b := range lag.Buckets {
		if sum += b.Objects; b.UpTo > 0 {
			h.upTo[b.UpTo] += sum
		}
	}
}

func (all lags) collect(ch chan<- prometheus.Metric) {
	for labels, h := range all {
		ch <- prometheus.MustNewConstHistogram(informerLag, h.objects, h.seconds, h.upTo,
			strings.Split(labels, "\x00")...)
	}
}
