package kwctrl_test

import (
	"fmt"
	"testing"

	"github.com/prometheus/client_golang/prometheus"

	kwctrl "github.com/kubewright/kubewright/contrib/controller-runtime"
	"github.com/kubewright/kubewright/contrib/prometheus/eyesmetrics"
	"github.com/kubewright/kubewright/eyes"
)

// TestScrape checks that the metrics of eyes are scraped without an error for caches of two clusters, each of
// all namespaces and of two, with three forms of one kind: what has the same labels is one series.
func TestScrape(t *testing.T) {
	e := eyes.New(eyes.Options{})
	for _, cluster := range []string{"east", "west"} {
		config, caches := newServer(t, jsonEncoding), kwctrl.NewCaches(kwctrl.Options{})
		e.AddCaches(cluster, caches)
		startAllForms(t, caches, config)
	}
	registry := prometheus.NewRegistry()
	registry.MustRegister(eyesmetrics.New(e))
	families, err := registry.Gather()
	if err != nil {
		t.Fatal(err)
	}
	informers := map[string]float64{}
	for _, family := range families {
		if family.GetName() != "kubewright_informer_state" {
			continue
		}
		for _, metric := range family.Metric {
			labels := map[string]string{}
			for _, label := range metric.Label {
				labels[label.GetName()] = label.GetValue()
			}
			informers[labels["source"]+" "+labels["resource"]+" "+labels["form"]] += metric.Gauge.GetValue()
		}
	}
	for _, cluster := range []string{"east", "west"} {
		for _, form := range []string{"typed", "metadata", "unstructured"} {
			if name := fmt.Sprint(cluster, " configmaps ", form); informers[name] != 3 {
				t.Errorf("%s: %v informers, want 3", name, informers[name])
			}
		}
	}
	if len(informers) != 6 {
		t.Errorf("%d series, want 6: %v", len(informers), informers)
	}
}
