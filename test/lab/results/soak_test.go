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
		"too few":                    func(s *results.Soak) { s.Samples = s.Samples[:7] },
		"wait for the blocked":       func(s *results.Soak) { s.Samples[100].Backlog = 100_001 },
		"live heap has":              func(s *results.Soak) { s.Samples[100].Live = 400 << 20 },
		"live heap grew":             grows(func(s *results.Sample, i int) { s.Live += uint64(i) << 18 }),
		"goroutines grew":            grows(func(s *results.Sample, i int) { s.Goroutines += i / 5 }),
		"descriptors grew":           grows(func(s *results.Sample, i int) { s.Descriptors += i / 10 }),
		"that keep up grew":          grows(func(s *results.Sample, i int) { s.Others += 500 * i }),
		"goroutines are left":        func(s *results.Soak) { s.After.Goroutines++ },
		"descriptors are left":       func(s *results.Soak) { s.After.Descriptors++ },
		"of the heap are left":       func(s *results.Soak) { s.After.Live = s.Synced.Live },
		"at the 99th percentile, wa": func(s *results.Soak) { s.Slowest99 = time.Second },
	} {
		s := steady()
		spoil(&s)
		if got := s.Problems(true); len(got) != 1 || !strings.Contains(got[0], want) {
			t.Errorf("%q instead of one problem with %q", got, want)
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
