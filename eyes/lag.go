package eyes

import (
	"fmt"
	"time"

	"github.com/kubewright/kubewright/runtime/informer"
)

// Lag is how old objects were when watches delivered that they were added or modified, in seconds, see
// informer.Status. It is counted from the first look on that somebody asks for.
type Lag struct {
	Since   time.Time `json:"since"`
	Objects uint64    `json:"objects"`
	Seconds float64   `json:"seconds"`
	// Median and P99 are the ages that half of the objects, and 99 of 100, don't exceed. They are estimates from
	// the buckets, and at most the last UpTo.
	Median  float64     `json:"median"`
	P99     float64     `json:"p99"`
	Buckets []LagBucket `json:"buckets"`
}

// LagBucket counts the objects that are older than those of the bucket before, and up to UpTo seconds old.
// The last bucket has no UpTo.
type LagBucket struct {
	UpTo    float64 `json:"upTo,omitempty"`
	Objects uint64  `json:"objects"`
}

// lagOf returns the lag of an informer, nil and the reason if there is none. It makes the informer count if
// somebody has asked.
func lagOf(s *informer.Status, asked bool) (lag *Lag, unknown string) {
	if s.CountLag != nil && asked {
		s.CountLag()
	}
	if s.Lag.Objects == 0 {
		return nil, s.Lag.Absent
	}
	lag = &Lag{Since: s.Lag.Since, Objects: s.Lag.Objects, Seconds: s.Lag.Seconds}
	for _, b := range s.Lag.Buckets {
		lag.Buckets = append(lag.Buckets, LagBucket(b))
	}
	lag.Median, lag.P99 = lag.quantile(.5), lag.quantile(.99)
	return lag, ""
}

// quantile estimates the age that a part of the objects doesn't exceed, as if the ages in a bucket were
// spread evenly.
func (l *Lag) quantile(part float64) float64 {
	rank, from := part*float64(l.Objects), 0.0
	for _, b := range l.Buckets {
		if n := float64(b.Objects); n >= rank && b.UpTo > 0 {
			return from + (b.UpTo-from)*rank/n
		}
		rank -= float64(b.Objects)
		from = max(from, b.UpTo)
	}
	return from
}

// String returns the quantiles, empty if there are none.
func (l *Lag) String() string {
	if l == nil {
		return ""
	}
	return l.text(l.Median) + " " + l.text(l.P99)
}

func (l *Lag) text(age float64) string {
	switch last := len(l.Buckets) - 2; {
	case last >= 0 && age >= l.Buckets[last].UpTo:
		return fmt.Sprintf(">%.0fs", age)
	case age < 10:
		return fmt.Sprintf("%.1fs", age)
	}
	return fmt.Sprintf("%.0fs", age)
}
