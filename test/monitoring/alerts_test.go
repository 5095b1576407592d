package monitoring

import (
	"fmt"
	"io"
	"log/slog"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/common/model"
	"github.com/prometheus/prometheus/model/labels"
	"github.com/prometheus/prometheus/model/rulefmt"
	corev1 "k8s.io/api/core/v1"
)

const folder = "../../contrib/prometheus/monitoring/"

// intervals are those of scrapes.
var intervals = []time.Duration{15 * time.Second, time.Minute}

// readAlerts returns the alerts, as Prometheus reads them.
func readAlerts(t *testing.T) (alerts []rulefmt.Rule) {
	t.Helper()
	groups, errs := rulefmt.ParseFile(folder+"alerts.yaml", false, model.UTF8Validation, promQL,
		slog.New(slog.NewTextHandler(io.Discard, nil)))
	if len(errs) > 0 {
		t.Fatal(errs)
	}
	for _, g := range groups.Groups {
		alerts = append(alerts, g.Rules...)
	}
	return alerts
}

// firing is the times at which an alert fires, and its labels then.
type firing struct {
	alert       string
	labels      labels.Labels
	first, last time.Time
}

// firings returns when alerts fire: once their expression has had a result at each scrape of their for.
func (s *store) firings(t *testing.T, alerts []rulefmt.Rule, interval time.Duration) (all []firing) {
	t.Helper()
	for _, a := range alerts {
		for _, one := range s.evaluate(t, a.Expr, interval) {
			active := one.Floats[0].T // since when, without a gap
			for n, point := range one.Floats {
				if n > 0 && point.T-one.Floats[n-1].T > interval.Milliseconds() {
					active = point.T
				}
				if point.T-active < time.Duration(a.For).Milliseconds() {
					continue
				}
				at := time.UnixMilli(point.T)
				last := len(all) - 1
				if n > 0 && last >= 0 && all[last].alert == a.Alert && at.Sub(all[last].last) == interval &&
					labels.Equal(all[last].labels, one.Metric) {
					all[last].last = at
				} else {
					all = append(all, firing{a.Alert, one.Metric, at, at})
				}
			}
		}
	}
	return all
}

// TestAlerts plants one fault at a time in a program, and checks that its alert fires meanwhile, ends after
// it, and that no other fires.
func TestAlerts(t *testing.T) {
	alerts := readAlerts(t)
	if len(faults) != len(alerts) {
		t.Errorf("%d faults for %d alerts", len(faults), len(alerts))
	}
	for _, a := range alerts {
		f := faults[a.Alert]
		if f.plant == nil {
			t.Errorf("%s isn't tested", a.Alert)
			continue
		}
		for _, interval := range intervals {
			t.Run(a.Alert+"/"+interval.String(), func(t *testing.T) {
				var began, ended time.Time
				s := play(t, interval, func(p *program) {
					start(p)
					p.pass(5 * time.Minute)
					began = time.Now()
					end := f.plant(p)
					p.pass(max(f.lasts, 5*time.Minute))
					ended = time.Now()
					end()
					p.pass(15 * time.Minute)
				})
				fired := false
				for _, one := range s.firings(t, alerts, interval) {
					when := fmt.Sprintf("from %s to %s", one.first, one.last)
					switch {
					case one.alert == f.also:
					case one.alert != a.Alert:
						t.Errorf("%s fires, too, %s: %s", one.alert, when, one.labels)
					case one.first.Before(began) || one.first.After(ended) || !one.last.Before(s.latest):
						t.Errorf("it fires %s, the fault was from %s to %s", when, began, ended)
					default:
						fired = true
						checkLabels(t, a, f.labels, one.labels)
					}
				}
				if !fired {
					t.Error("it doesn't fire")
				}
				if a.Labels["finding"] != "" {
					s.checkThreshold(t, a, interval)
				}
			})
		}
	}
}

// usedLabel matches a label in a template.
var usedLabel = regexp.MustCompile(`\$labels\.(\w+)`)

// checkLabels checks that an alert that fires has the labels that are wanted, and those that its texts show.
func checkLabels(t *testing.T, a rulefmt.Rule, want map[string]string, got labels.Labels) {
	t.Helper()
	for _, text := range a.Annotations {
		for _, label := range usedLabel.FindAllStringSubmatch(text, -1) {
			if !got.Has(label[1]) {
				t.Errorf("%q: the alert has no %s: %s", text, label[1], got)
			}
		}
	}
	for label, value := range want {
		if got := got.Get(label); got != value {
			t.Errorf("%s is %q, want %q", label, got, value)
		}
	}
}

// checkThreshold checks that an alert has the threshold of its finding: they begin at the same scrape, or the
// finding at the next one, if it needs two looks.
func (s *store) checkThreshold(t *testing.T, a rulefmt.Rule, interval time.Duration) {
	t.Helper()
	found := s.evaluate(t, fmt.Sprintf("kubewright_findings{kind=%q}", a.Labels["finding"]), interval)
	active := s.evaluate(t, a.Expr, interval)
	if len(found) == 0 || len(active) == 0 {
		t.Fatalf("the findings are %v, the alert has %v", found, active)
	}
	after := time.Duration(found[0].Floats[0].T-active[0].Floats[0].T) * time.Millisecond
	if after < 0 || after > interval {
		t.Errorf("the finding is there %s after the alert is active", after)
	}
}

// TestCountsThatBegin checks that what was counted before the first scrape makes an alert fire, too.
func TestCountsThatBegin(t *testing.T) {
	for _, interval := range intervals {
		s := play(t, interval, func(p *program) {
			onHandle(func(*corev1.ConfigMap) { panic("odd") })(p)
			start(p)
			release := lateQueue(p)
			release()
			p.pass(15 * time.Minute)
		})
		var names []string
		for _, one := range s.firings(t, readAlerts(t), interval) {
			names = append(names, one.alert)
			if !one.first.Equal(s.first) || one.last.Sub(one.first) > 10*time.Minute {
				t.Errorf("%s fires from %s to %s", one.alert, one.first, one.last)
			}
		}
		slices.Sort(names)
		want := []string{"KubewrightHandlerPanics", "KubewrightStaleAfterOwnWrites"}
		if !slices.Equal(names, want) {
			t.Errorf("%q fire, want %q", names, want)
		}
	}
}

// TestKinds checks that each kind of finding has an alert, and that it says what it is about.
func TestKinds(t *testing.T) {
	source, err := os.ReadFile("../../eyes/findings.go")
	if err != nil {
		t.Fatal(err)
	}
	kinds := regexp.MustCompile(`(?m)^//\t(\w.*)$`).FindAllStringSubmatch(string(source), -1)
	for _, a := range readAlerts(t) {
		of := func(kind []string) bool { return strings.HasPrefix(kind[1], a.Labels["finding"]) }
		switch i := slices.IndexFunc(kinds, of); {
		case a.Labels["finding"] == "":
		case i < 0:
			t.Errorf("%s: no other finding is %q", a.Alert, a.Labels["finding"])
		default:
			kinds = slices.Delete(kinds, i, i+1)
		}
		if s := a.Labels["severity"]; s != "warning" && s != "critical" || a.Annotations["summary"] == "" ||
			a.Annotations["description"] == "" {
			t.Errorf("%s: severity %q, annotations %q", a.Alert, s, a.Annotations)
		}
	}
	if len(kinds) > 0 {
		t.Errorf("no alert is for %q", kinds)
	}
}
