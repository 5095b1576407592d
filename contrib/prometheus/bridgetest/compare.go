package bridgetest

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	dto "github.com/prometheus/client_model/go"

	"github.com/kubewright/kubewright/runtime/workqueue"
)

// Compare does the same with two queues, named ours and theirs, and fails unless each metric
// of one has a counterpart of the other, with the same labels and counts.
func Compare(t *testing.T, gatherer prometheus.Gatherer, queues ...workqueue.TypedDelayingInterface[string]) {
	t.Helper()
	for _, q := range queues {
		q.Add("a")
		q.AddAfter("b", 0)
		q.AddAfter("c", time.Hour)
		item, _ := q.Get()
		q.Done(item)
		q.ShutDown()
	}
	families, err := gatherer.Gather()
	if err != nil {
		t.Fatal(err)
	}
	metrics := 0
	for _, family := range families {
		if !strings.HasPrefix(family.GetName(), "workqueue_") {
			continue
		}
		said := map[string]string{}
		for _, m := range family.Metric {
			name := ""
			for _, label := range m.Label {
				if label.GetName() == "name" {
					name = label.GetValue()
				}
			}
			said[name] = strings.ReplaceAll(fmt.Sprint(m.Label, value(m)), name, "X")
		}
		if said["ours"] != said["theirs"] || said["ours"] == "" {
			t.Errorf("%s: ours %q, theirs %q", family.GetName(), said["ours"], said["theirs"])
		}
		metrics++
	}
	if metrics != 7 {
		t.Errorf("%d metrics of queues", metrics)
	}
}

// value returns the part of a metric that doesn't depend on durations.
func value(m *dto.Metric) any {
	if m.Histogram != nil {
		return m.Histogram.GetSampleCount()
	}
	return m.Gauge.GetValue() + m.Counter.GetValue()
}
