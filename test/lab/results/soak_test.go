package results_test

import (
	"strings"
	"testing"
	"time"

	"github.com/kubewright/kubewright/test/lab/results"
)

// steady is a soak in which nothing grows except what the documentation allows: the blocked handler's
// backlog, and with it the heap, up to their bounds.
func steady() results.Soak {
	s := results.Soak{
		Objects: 50_000, Handlers: 20, Slowest99: 20 * time.Millisecond,
		Before: results.Sample{Live: 8 << 20, Goroutines: 5, Descriptors: 10},
		Synced: results.Sample{Live: 108 << 20, Goroutines: 60, Descriptors: 11},
		After:  results.Sample{Live: 9 << 20, Goroutines: 5, Descriptors: 10},
	}
	for i := range 240 {
		s.Samples = append(s.Samples, results.Sample{
			At: time.Duration(i) * 5 * time.Second, Live: uint64(108+min(100, 4*i)) << 20, Goroutines: 61 + i%3,
			Descriptors: 11, Backlog: min(55_000, 2_000*i), Others: i % 50,
		})
	}
	return s
}

// TestProblems: a steady soak has no problems, and Problems notices everything that grows.
func TestProblems(t *testing.T) {
	if problems := steady().Problems(true); len(problems) > 0 {
		t.Errorf("a steady soak: %q", problems)
	}
	late := steady()
	late.Slowest99 = time.Second
	if problems := late.Problems(false); len(problems) > 0 {
		t.Errorf("without time: %q", problems)
	}
	for want, spoil := range map[string]func(s *results.Soak){
		"there are 7 samples":                func(s *results.Soak) { s.Samples = s.Samples[:7] },
		"bounded memory: 100001 notif":       func(s *results.Soak) { s.Samples[100].Backlog = 100_001 },
		"bounded memory: the live heap has":  func(s *results.Soak) { s.Samples[100].Live = 400 << 20 },
		"bounded memory: the live heap grew": grows(func(s *results.Sample, i int) { s.Live += uint64(i) << 18 }),
		"no leak: the number of goro":        grows(func(s *results.Sample, i int) { s.Goroutines += i / 5 }),
		"no leak: the number of desc":        grows(func(s *results.Sample, i int) { s.Descriptors += i / 10 }),
		"isolated: the backlog":              grows(func(s *results.Sample, i int) { s.Others += 500 * i }),
		"no leak: 6 goroutines":              func(s *results.Soak) { s.After.Goroutines++ },
		"no leak: 11 descriptors":            func(s *results.Soak) { s.After.Descriptors++ },
		"bounded memory: 113246208":          func(s *results.Soak) { s.After.Live = s.Synced.Live },
		"isolated: a handler":                func(s *results.Soak) { s.Slowest99 = time.Second },
	} {
		s := steady()
		spoil(&s)
		if got := s.Problems(true); len(got) != 1 || !strings.HasPrefix(got[0], want) {
			t.Errorf("%q instead of one problem that begins with %q", got, want)
		}
	}
}

func grows(add func(s *results.Sample, i int)) func(*results.Soak) {
	return func(s *results.Soak) {
		for i := range s.Samples {
			add(&s.Samples[i], i)
		}
	}
}
