package bridgetest

import (
	"context"
	"fmt"
	"reflect"
	"strings"
	"sync"
	"testing"

	"github.com/prometheus/client_golang/prometheus"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/watch"
	upstream "k8s.io/client-go/tools/cache"

	"github.com/kubewright/kubewright/runtime/cache"
)

// Informers runs an informer of ours and one of client-go's, and fails unless
// each metric of informers has a value for ours and, if theirs is set, the same
// value for client-go's.
func Informers(t *testing.T, gatherer prometheus.Gatherer, theirs bool) {
	t.Helper()
	lw := upstream.ToListWatcherWithWatchListSemantics(&upstream.ListWatch{
		ListFunc: func(metav1.ListOptions) (runtime.Object, error) {
			return &metav1.PartialObjectMetadataList{ListMeta: metav1.ListMeta{ResourceVersion: "7"}}, nil
		},
		WatchFunc: func(metav1.ListOptions) (watch.Interface, error) { return watch.NewFake(), nil },
	}, lists{})
	ctx, cancel := context.WithCancel(context.Background())
	var running sync.WaitGroup
	for name, make := range map[string]func(upstream.SharedIndexInformerOptions) upstream.SharedIndexInformer{
		"ours": func(o upstream.SharedIndexInformerOptions) upstream.SharedIndexInformer {
			return cache.NewSharedIndexInformerWithOptions(lw, &metav1.PartialObjectMetadata{}, o)
		},
		"theirs": func(o upstream.SharedIndexInformerOptions) upstream.SharedIndexInformer {
			return upstream.NewSharedIndexInformerWithOptions(lw, &metav1.PartialObjectMetadata{}, o)
		},
	} {
		id, err := upstream.NewInformerName(name)
		if err != nil {
			t.Fatal(err)
		}
		defer id.Release()
		i := make(upstream.SharedIndexInformerOptions{
			Identifier: id.WithResource(schema.GroupVersionResource{Group: "g", Version: "v", Resource: "r"}),
		})
		running.Go(func() { i.RunWithContext(ctx) })
		<-i.HasSyncedChecker().Done()
	}
	cancel()
	running.Wait()

	families, err := gatherer.Gather()
	if err != nil {
		t.Fatal(err)
	}
	metrics := 0
	for _, family := range families {
		if !strings.HasPrefix(family.GetName(), "informer_") {
			continue
		}
		metrics++
		said := map[string]string{}
		for _, m := range family.Metric {
			name, labels := "", ""
			for _, label := range m.Label {
				if label.GetName() == "name" {
					name = label.GetValue()
				} else {
					labels += label.String()
				}
			}
			if m.Histogram != nil {
				said[name] = fmt.Sprint(labels, m.Histogram.GetSampleCount() > 0)
			} else {
				said[name] = fmt.Sprint(labels, m.Gauge.GetValue())
			}
		}
		if said["ours"] == "" || theirs && said["theirs"] != said["ours"] {
			t.Errorf("%s: %v", family.GetName(), said)
		}
	}
	if want := reflect.TypeFor[upstream.InformerMetricsProvider]().NumMethod(); metrics != want {
		t.Errorf("%d metrics of informers, not %d", metrics, want)
	}
}

// lists is a client that doesn't stream lists.
type lists struct{}

func (lists) IsWatchListSemanticsUnSupported() bool { return true }
