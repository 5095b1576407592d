package monitoring

import (
	"context"
	"math"
	"slices"
	"strconv"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	dto "github.com/prometheus/client_model/go"
	"github.com/prometheus/prometheus/model/labels"
	"github.com/prometheus/prometheus/model/value"
	"github.com/prometheus/prometheus/promql"
	"github.com/prometheus/prometheus/promql/parser"
	"github.com/prometheus/prometheus/storage"
	"github.com/prometheus/prometheus/util/annotations"
)

// store has the series of scrapes, as Prometheus stores them.
type store struct {
	series        map[string]*promql.Series // by their labels
	first, latest time.Time
}

func newStore() *store { return &store{series: map[string]*promql.Series{}} }

// scrape adds the gauges, counters and buckets that a registry has now, with the labels of a target. A series
// that has ended gets the mark by which Prometheus knows that.
func (s *store) scrape(t *testing.T, from prometheus.Gatherer) {
	t.Helper()
	families, err := from.Gather()
	if err != nil {
		t.Fatalf("scrape: %v", err)
	}
	now := time.Now()
	if s.first.IsZero() {
		s.first = now
	}
	s.latest = now
	at := now.UnixMilli()
	for _, f := range families {
		for _, m := range f.Metric {
			of := labels.NewBuilder(labels.FromStrings(
				labels.MetricName, f.GetName(), "job", "bakery", "instance", "10.0.0.1:8080"))
			for _, l := range m.Label {
				of.Set(l.GetName(), l.GetValue())
			}
			if h := m.GetHistogram(); h != nil {
				s.addBuckets(f.GetName(), of, at, h)
			} else {
				s.add(of.Labels(), at, m.GetGauge().GetValue()+m.GetCounter().GetValue())
			}
		}
	}
	for _, one := range s.series {
		last := one.Floats[len(one.Floats)-1]
		if last.T < at && !value.IsStaleNaN(last.F) {
			s.add(one.Metric, at, math.Float64frombits(value.StaleNaN))
		}
	}
}

// addBuckets adds the series of a histogram's buckets, the last of which is only in its text.
func (s *store) addBuckets(name string, of *labels.Builder, at int64, h *dto.Histogram) {
	of.Set(labels.MetricName, name+"_bucket")
	for _, b := range h.GetBucket() {
		of.Set(labels.BucketLabel, strconv.FormatFloat(b.GetUpperBound(), 'g', -1, 64))
		s.add(of.Labels(), at, float64(b.GetCumulativeCount()))
	}
	of.Set(labels.BucketLabel, "+Inf")
	s.add(of.Labels(), at, float64(h.GetSampleCount()))
}

func (s *store) add(of labels.Labels, at int64, value float64) {
	key := of.String()
	if s.series[key] == nil {
		s.series[key] = &promql.Series{Metric: of}
	}
	s.series[key].Floats = append(s.series[key].Floats, promql.FPoint{T: at, F: value})
}

// valuesOf returns the values of a label of a metric.
func (s *store) valuesOf(metric, label string) (found []string) {
	for _, one := range s.series {
		if one.Metric.Get(labels.MetricName) == metric && one.Metric.Has(label) {
			found = append(found, one.Metric.Get(label))
		}
	}
	slices.Sort(found)
	return slices.Compact(found)
}

// querier implements storage.Querier for the engine, which uses Select alone.
type querier struct {
	storage.LabelQuerier
	*store
}

func (s *store) Querier(int64, int64) (storage.Querier, error) { return querier{store: s}, nil }

func (querier) Close() error { return nil }

func (q querier) Select(
	_ context.Context, _ bool, _ *storage.SelectHints, matchers ...*labels.Matcher,
) storage.SeriesSet {
	set := &seriesSet{at: -1}
	for _, one := range q.series {
		fits := func(m *labels.Matcher) bool { return m.Matches(one.Metric.Get(m.Name)) }
		if !slices.ContainsFunc(matchers, func(m *labels.Matcher) bool { return !fits(m) }) {
			set.series = append(set.series, promql.NewStorageSeries(*one))
		}
	}
	return set
}

type seriesSet struct {
	series []storage.Series
	at     int
}

func (s *seriesSet) Next() bool                      { s.at++; return s.at < len(s.series) }
func (s *seriesSet) At() storage.Series              { return s.series[s.at] }
func (*seriesSet) Err() error                        { return nil }
func (*seriesSet) Warnings() annotations.Annotations { return nil }

// promQL is the parser of rules and queries.
var promQL = parser.NewParser(parser.Options{})

// evaluate returns the series of a query at each scrape since the first.
func (s *store) evaluate(t *testing.T, query string, interval time.Duration) promql.Matrix {
	t.Helper()
	engine := promql.NewEngine(promql.EngineOpts{
		MaxSamples: 1e6, Timeout: time.Minute, LookbackDelta: 5 * time.Minute, Parser: promQL,
	})
	defer engine.Close()
	q, err := engine.NewRangeQuery(t.Context(), s, nil, query, s.first, s.latest, interval)
	if err != nil {
		t.Fatalf("%s: %v", query, err)
	}
	result := q.Exec(t.Context())
	if result.Err != nil || len(result.Warnings) > 0 {
		t.Fatalf("%s: %v, %v", query, result.Err, result.Warnings)
	}
	matrix, err := result.Matrix()
	if err != nil {
		t.Fatalf("%s: %v", query, err)
	}
	return matrix
}
