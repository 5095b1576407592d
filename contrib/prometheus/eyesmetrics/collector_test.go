package eyesmetrics_test

import (
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/testutil"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kubewright/kubewright/contrib/prometheus/eyesmetrics"
	"github.com/kubewright/kubewright/eyes"
	"github.com/kubewright/kubewright/internal/bubble"
	"github.com/kubewright/kubewright/runtime/informer"
	"github.com/kubewright/kubewright/runtime/queue"
)

// caches are two informers of a kind, such as those of two namespaces, and one of metadata.
type caches struct{}

func (caches) Statuses() []informer.Status {
	resource := schema.GroupVersionResource{Version: "v1", Resource: "configmaps"}
	one := informer.Status{
		Type: "*v1.ConfigMap", Resource: resource, Namespace: "a", State: informer.Watching, Synced: true,
		Objects: 2, Lists: 1, Watches: 3,
		Handlers: []informer.HandlerStatus{{Name: "baker", Backlog: 4, Delivered: 5}},
	}
	other, metadata := one, one
	other.Namespace, other.Synced, other.Objects = "b", false, 5
	metadata.Type = "*v1.PartialObjectMetadata"
	return []informer.Status{one, other, metadata}
}

// TestCollector checks the series, and that informers with the same labels are one.
func TestCollector(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		e := eyes.New(eyes.Options{})
		e.AddCaches("shop", caches{})
		q := queue.New(queue.Config[string]{})
		defer q.ShutDown()
		e.AddQueue("bakeries\xff", q)
		q.Add("secret")
		e.Snapshot()
		bubble.Pass(time.Minute)
		registry := prometheus.NewRegistry()
		registry.MustRegister(eyesmetrics.New(e))
		const typed = `form="typed",group="",`
		want := `# HELP kubewright_informer_objects Objects in the cache
# TYPE kubewright_informer_objects gauge
kubewright_informer_objects{form="metadata",group="",resource="configmaps",source="shop",version="v1"} 2
kubewright_informer_objects{` + typed + `resource="configmaps",source="shop",version="v1"} 7
# HELP kubewright_informer_synced Whether the cache holds a complete list
# TYPE kubewright_informer_synced gauge
kubewright_informer_synced{form="metadata",group="",resource="configmaps",source="shop",version="v1"} 1
kubewright_informer_synced{` + typed + `resource="configmaps",source="shop",version="v1"} 0
# HELP kubewright_handler_backlog Notifications that wait for the handler
# TYPE kubewright_handler_backlog gauge
kubewright_handler_backlog{form="metadata",group="",handler="baker",resource="configmaps",source="shop",version="v1"} 4
kubewright_handler_backlog{` + typed + `handler="baker",resource="configmaps",source="shop",version="v1"} 8
# HELP kubewright_queue_ready Items that wait for a worker
# TYPE kubewright_queue_ready gauge
kubewright_queue_ready{source="bakeries?"} 1
# HELP kubewright_findings What doesn't work, by kind
# TYPE kubewright_findings gauge
kubewright_findings{kind="no worker",source="bakeries?"} 1
`
		err := testutil.GatherAndCompare(registry, strings.NewReader(want), "kubewright_informer_objects",
			"kubewright_informer_synced", "kubewright_handler_backlog", "kubewright_queue_ready",
			"kubewright_findings")
		if err != nil {
			t.Error(err)
		}
		problems, err := testutil.GatherAndLint(registry)
		if err != nil || len(problems) > 0 {
			t.Errorf("promlint: %v, %v", problems, err)
		}
		all, err := registry.Gather()
		if err != nil {
			t.Fatal(err)
		}
		if text := fmt.Sprint(all); strings.Contains(text, "secret") || strings.Contains(text, "oldest_waiting") {
			t.Errorf("a key, or an unknown time: %s", text)
		}
	})
}

type openWatch struct{ status informer.Status }

func (o *openWatch) Statuses() []informer.Status { return []informer.Status{o.status} }

// TestSilent checks that a watch isn't silent for longer than it is open.
func TestSilent(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		open := &openWatch{informer.Status{State: informer.Watching, Since: time.Now(), LastEvent: time.Now()}}
		e := eyes.New(eyes.Options{})
		e.AddCaches("shop", open)
		bubble.Pass(time.Hour)
		open.status.Since = time.Now()
		bubble.Pass(time.Minute)
		registry := prometheus.NewRegistry()
		registry.MustRegister(eyesmetrics.New(e))
		const name = "kubewright_informer_silent_seconds"
		want := "# HELP " + name + " How long an open watch has delivered nothing, not even a bookmark\n# TYPE " +
			name + ` gauge
` + name + `{form="",group="",resource="",source="shop",version=""} 60
`
		if err := testutil.GatherAndCompare(registry, strings.NewReader(want), name); err != nil {
			t.Error(err)
		}
	})
}
