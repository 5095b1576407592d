package monitoring

import (
	"context"
	"encoding/json"
	"errors"
	"math"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/prometheus/model/labels"
	"github.com/prometheus/prometheus/promql/parser"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kubewright/kubewright/runtime/informer"
	"github.com/kubewright/kubewright/runtime/runtimetest"
)

// dashboard is what the tests read of it.
type dashboard struct {
	Templating struct {
		List []struct{ Name, Type, Query, AllValue string }
	}
	Panels []struct {
		ID          int
		Type, Title string
		Targets     []struct{ RefID, Expr, LegendFormat string }
	}
}

func readDashboard(t *testing.T) (d dashboard) {
	t.Helper()
	text, err := os.ReadFile(folder + "dashboard.json")
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(text, &d); err != nil {
		t.Fatal(err)
	}
	return d
}

var (
	labelValues = regexp.MustCompile(`^label_values\((.*), (\w+)\)$`)
	legendLabel = regexp.MustCompile(`{{(\w+)}}`)
)

// late is an informer that gets an object of three seconds before each look.
type late struct{ status informer.Status }

func (l *late) Statuses() []informer.Status {
	l.status.State, l.status.Type, l.status.Resource.Resource = informer.Watching, "*T", "ovens"
	lag := &l.status.Lag
	lag.Objects++
	lag.Buckets = []struct {
		UpTo    float64
		Objects uint64
	}{{UpTo: 2.5}, {5, lag.Objects}, {}}
	return []informer.Status{l.status}
}

// TestDashboard checks that each query of the dashboard, and each of its variables, returns data of a program
// that has all parts and some faults, with the labels of its legend.
func TestDashboard(t *testing.T) {
	d := readDashboard(t)
	for _, interval := range intervals {
		s := play(t, interval, func(p *program) {
			p.addQueue("idle", nil).Add("oslo")
			forbidden := p.newServer()
			forbidden.OnRequest(func(context.Context, runtimetest.Request) error {
				return apierrors.NewForbidden(schema.GroupResource{}, "", errors.New("no role"))
			})
			p.inform("market", forbidden)
			p.eyes.AddCaches("late", &late{})
			busy(p)
		})
		// Grafana's interval is at least four scrapes.
		values := []string{"$__rate_interval", (4 * interval).String()}
		for _, v := range d.Templating.List {
			if v.Type != "query" {
				continue
			}
			call := labelValues.FindStringSubmatch(strings.NewReplacer(values...).Replace(v.Query))
			if call == nil {
				t.Fatalf("variable %s: %s", v.Name, v.Query)
			}
			var found []string
			for _, one := range s.evaluate(t, call[1], interval) {
				found = append(found, one.Metric.Get(call[2]))
			}
			if len(found) == 0 || slices.Contains(found, "") {
				t.Errorf("variable %s has values %q", v.Name, found)
			}
			values = append(values, "$"+v.Name, v.AllValue)
		}
		for _, p := range d.Panels {
			for _, target := range p.Targets {
				query := strings.NewReplacer(values...).Replace(target.Expr)
				matrix := s.evaluate(t, query, interval)
				if strings.Contains(query, "$") || len(matrix) == 0 {
					t.Errorf("%s: no data for %s", p.Title, query)
				}
				for _, one := range matrix {
					if last := one.Floats[len(one.Floats)-1].F; math.IsNaN(last) {
						t.Errorf("%s: no number for %s at the end", p.Title, query)
					}
					for _, label := range legendLabel.FindAllStringSubmatch(target.LegendFormat, -1) {
						if !one.Metric.Has(label[1]) {
							t.Errorf("%s: the legend has %s, the series %s", p.Title, label[1], one.Metric)
						}
					}
				}
			}
		}
	}
}

// TestRows checks the rows of the dashboard, and that its panels have numbers of their own.
func TestRows(t *testing.T) {
	var rows []string
	ids := map[int]bool{}
	for _, p := range readDashboard(t).Panels {
		if p.Type == "row" {
			rows = append(rows, p.Title)
		} else if len(p.Targets) == 0 {
			t.Errorf("%s has no query", p.Title)
		}
		if ids[p.ID] {
			t.Errorf("%s has the number of another panel", p.Title)
		}
		ids[p.ID] = true
	}
	if want := []string{"Informers", "Handlers", "Queues", "Sharding"}; !slices.Equal(rows, want) {
		t.Errorf("rows %q, want %q", rows, want)
	}
}

// TestNames checks that alerts and the dashboard use only metrics that are exported.
func TestNames(t *testing.T) {
	exported := exportedNames()
	check := func(query string) (unknown []string) {
		expr, err := promQL.ParseExpr(query)
		if err != nil {
			t.Fatalf("%s: %v", query, err)
		}
		for _, selector := range parser.ExtractSelectors(expr) {
			for _, m := range selector {
				matches := func(name string) bool { return m.Matches(name) || m.Matches(name+"_bucket") }
				if m.Name == labels.MetricName && !slices.ContainsFunc(exported, matches) {
					unknown = append(unknown, m.Value)
				}
			}
		}
		return unknown
	}
	queries := map[string]string{}
	for _, a := range readAlerts(t) {
		queries[a.Alert] = a.Expr
	}
	for _, p := range readDashboard(t).Panels {
		for _, target := range p.Targets {
			query := strings.ReplaceAll(target.Expr, "$__rate_interval", time.Minute.String())
			queries[p.Title+" "+target.RefID] = query
		}
	}
	for name, query := range queries {
		if unknown := check(query); len(unknown) > 0 {
			t.Errorf("%s: nothing exports %q", name, unknown)
		}
	}
	if got := check("rate(kubewright_oven_total[1m]) > sharding_owners"); !slices.Equal(got, []string{
		"kubewright_oven_total"}) {
		t.Errorf("of a wrong query: %q", got)
	}
}
