package eyesmetrics_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/testutil"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
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
		Handlers: []informer.HandlerStatus{
			{Name: "baker", Backlog: 4, Delivered: 5}, {Name: "baker", At: "a.go:1", Backlog: 1},
		},
		FindsMutations: true,
	}
	other, metadata := one, one
	other.Namespace, other.Synced, other.Objects = "b", false, 5
	metadata.Type, metadata.FindsMutations = "*v1.PartialObjectMetadata", false
	return []informer.Status{one, other, metadata}
}

// TestCollector checks the series, and that informers with the same labels are one.
func TestCollector(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		e := eyes.New(eyes.Options{})
		e.AddCaches("shop", caches{})
		q := queue.New(queue.Config[string]{})
		defer q.ShutDown()
		e.AddQueue("bakeries\x00\xff", q)
		q.Add("secret")
		q.Get()
		q.Done("secret")
		q.Add("secret") // The worker has ended.
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
kubewright_handler_backlog{form="metadata",group="",handler="baker (a.go:1)",resource="configmaps",source="shop",version="v1"} 1
kubewright_handler_backlog{` + typed + `handler="baker",resource="configmaps",source="shop",version="v1"} 8
kubewright_handler_backlog{` + typed + `handler="baker (a.go:1)",resource="configmaps",source="shop",version="v1"} 2
# HELP kubewright_informer_mutations_total Cached objects that were found to be modified by someone they are shared with, where they are looked for
# TYPE kubewright_informer_mutations_total counter
kubewright_informer_mutations_total{` + typed + `resource="configmaps",source="shop",version="v1"} 0
# HELP kubewright_queue_ready Items that wait for a worker
# TYPE kubewright_queue_ready gauge
kubewright_queue_ready{source="bakeries??"} 1
# HELP kubewright_findings What doesn't work, by kind
# TYPE kubewright_findings gauge
kubewright_findings{kind="no worker",source="bakeries??"} 1
`
		err := testutil.GatherAndCompare(registry, strings.NewReader(want), "kubewright_informer_objects",
			"kubewright_informer_synced", "kubewright_handler_backlog", "kubewright_queue_ready",
			"kubewright_findings", "kubewright_informer_mutations_total")
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

// statuses are caches.
type statuses []informer.Status

func (s statuses) Statuses() []informer.Status { return s }

// TestAges checks what findings compare with their limits: the worst of two informers with the same labels,
// nothing of one that doesn't run, nor of one that isn't known to get bookmarks.
func TestAges(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		began := time.Now()
		bubble.Pass(time.Minute)
		reading := informer.Status{State: "Listing", Since: began}
		failing := informer.Status{
			State: informer.BackingOff, Since: time.Now(), Failures: 2, FailingSince: began,
			LastError: apierrors.NewForbidden(schema.GroupResource{}, "secret", nil),
		}
		once := failing
		once.Failures, once.Since = 1, began
		watching := informer.Status{
			State: informer.Watching, Since: began, LastEvent: began, Synced: true,
			RecentLists: [3]time.Time{began, began, began},
		}
		earlier := watching
		earlier.RecentLists[0] = began.Add(-time.Hour)
		idle := informer.Status{State: informer.Idle, Since: began}
		relisting := informer.Status{State: "Listing", Since: time.Now(), Synced: true, ListingSince: began}
		cut := informer.Status{State: informer.BackingOff, Since: time.Now(), ListingSince: began}
		for name, c := range map[string]struct {
			statuses statuses
			want     string
		}{
			"reading":     {statuses{reading}, "listing_seconds 0, unsynced_seconds 60"},
			"failing":     {statuses{failing}, "failing 1 forbidden, listing_seconds 0, unsynced_seconds 0"},
			"failed once": {statuses{once}, "listing_seconds 0, unsynced_seconds 60"},
			"watching":    {statuses{watching}, "listing_seconds 0, third_list_seconds 60, unsynced_seconds 0"},
			"idle":        {statuses{idle}, ""},
			"relisting": {statuses{relisting, watching},
				"listing_seconds 60, third_list_seconds 60, unsynced_seconds 0"},
			"cut": {statuses{cut}, "listing_seconds 0, unsynced_seconds 60"},
			"several": {statuses{earlier, reading, watching, idle, failing, failing},
				"failing 2 forbidden, listing_seconds 0, third_list_seconds 60, unsynced_seconds 60"},
		} {
			e := eyes.New(eyes.Options{})
			e.AddCaches("shop", c.statuses)
			registry := prometheus.NewRegistry()
			registry.MustRegister(eyesmetrics.New(e))
			families, err := registry.Gather()
			if err != nil {
				t.Fatal(err)
			}
			var got []string
			for _, f := range families {
				short := strings.TrimPrefix(f.GetName(), "kubewright_informer_")
				if !slices.Contains([]string{"failing", "listing_seconds", "silent_seconds", "third_list_seconds",
					"unsynced_seconds"}, short) {
					continue
				}
				text := fmt.Sprint(short, " ", f.Metric[0].Gauge.GetValue())
				for _, label := range f.Metric[0].Label {
					if label.GetName() == "reason" {
						text += " " + label.GetValue()
					}
				}
				got = append(got, text)
			}
			if got := strings.Join(got, ", "); got != c.want {
				t.Errorf("%s: %q, want %q", name, got, c.want)
			}
		}
	})
}

// TestStalled checks how long a queue hands out nothing.
func TestStalled(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		e := eyes.New(eyes.Options{})
		q := queue.New(queue.Config[string]{})
		defer q.ShutDown()
		e.AddQueue("bakeries", q)
		registry := prometheus.NewRegistry()
		registry.MustRegister(eyesmetrics.New(e))
		const name = "kubewright_queue_stalled_seconds"
		check := func(seconds string) {
			t.Helper()
			want := "# HELP " + name + " How long items have been ready in each look, and none was handed out\n" +
				"# TYPE " + name + " gauge\n" + name + `{source="bakeries"} ` + seconds + "\n"
			if err := testutil.GatherAndCompare(registry, strings.NewReader(want), name); err != nil {
				t.Error(err)
			}
			bubble.Pass(time.Minute)
		}
		check("0")
		q.Add("one")
		q.Add("another")
		check("0")
		check("60")
		q.Get()
		check("0")
	})
}

// TestSilent checks that a watch isn't silent for longer than it is open.
func TestSilent(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		open := &openWatch{informer.Status{
			State: informer.Watching, Since: time.Now(), LastEvent: time.Now(), LastBookmark: time.Now(),
		}}
		bubble.Pass(time.Hour)
		open.status.Since = time.Now()
		e := eyes.New(eyes.Options{})
		e.AddCaches("shop", open)
		bubble.Pass(time.Minute)
		registry := prometheus.NewRegistry()
		registry.MustRegister(eyesmetrics.New(e))
		const name = "kubewright_informer_silent_seconds"
		want := "# HELP " + name + " How long an open watch that has delivered bookmarks delivers nothing\n" +
			"# TYPE " + name + ` gauge
` + name + `{form="",group="",resource="",source="shop",version=""} 60
`
		if err := testutil.GatherAndCompare(registry, strings.NewReader(want), name); err != nil {
			t.Error(err)
		}
	})
}
