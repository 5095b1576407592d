package shardingmetrics_test

import (
	"errors"
	"fmt"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/testutil"

	"github.com/kubewright/kubewright/contrib/prometheus/shardingmetrics"
	"github.com/kubewright/kubewright/runtime/shard"
	"github.com/kubewright/kubewright/sharding"
)

// member is a Member with a fixed status.
type member struct {
	name   string
	status sharding.Status
}

func (m *member) Identity() string        { return m.name }
func (m *member) Status() sharding.Status { return m.status }

// queue is a Queue that has dropped so many items.
type queue uint64

func (q queue) Dropped() uint64 { return uint64(q) }

// The metrics of a member in a registry. A program passes what sharding.NewMember returns.
func Example() {
	baker := &member{"baker-1", sharding.Status{Owners: 3, UnownedObjects: 12}}
	registry := prometheus.NewRegistry()
	registry.MustRegister(shardingmetrics.New("bakery-controller", baker))
	families, err := registry.Gather()
	for _, family := range families {
		if strings.HasPrefix(family.GetName(), "sharding_unowned") {
			fmt.Println(family.GetName(), family.Metric[0].Gauge.GetValue(), err)
		}
	}
	// Output:
	// sharding_unowned_objects 12 <nil>
	// sharding_unowned_ranges 0 <nil>
}

// TestCollector compares all metrics of two members, before and after one changes.
func TestCollector(t *testing.T) {
	first := &member{"first", sharding.Status{
		Started: true, Owned: make([]sharding.Owned, 2),
		Owners: 3, Unowned: make([]shard.Range, 4), UnownedObjects: 5,
		Giving: make([]shard.Range, 6), Gained: 7, Lost: 8, Running: 9, Waiting: 10, Hung: make([]string, 11),
	}}
	registry := prometheus.NewPedanticRegistry()
	collector := shardingmetrics.New("bakers", first)
	registry.MustRegister(collector, shardingmetrics.New("bakers", &member{name: "second"}))
	collector.AddQueue("bakery", queue(11))
	collector.AddQueue("oven", queue(12))
	collector.AddQueue("oven", queue(1))
	check := func(acting int) {
		t.Helper()
		want := fmt.Sprintf("acting %d; dropped_items_total 11; dropped_items_total 13; "+
			"gained_ranges_total 7; giving_ranges 6; hung_work 11; lost_ranges_total 8; owned_ranges 2; "+
			"owners 3; running_work 9; unowned_objects 5; unowned_ranges 4; waiting_work 10", acting)
		if got := values(t, registry, "first"); got != want {
			t.Errorf("got  %s\nwant %s", got, want)
		}
	}
	check(1)
	first.status.Err = errors.New("the lease isn't renewed")
	check(0)
	first.status.Left = true
	for _, name := range []string{"first", "second"} {
		if got := values(t, registry, name); strings.Contains(got, "acting") || !strings.Contains(got, "owners ") {
			t.Errorf("the %s doesn't run, and has %s", name, got)
		}
	}
	if problems, err := testutil.GatherAndLint(registry); err != nil || len(problems) > 0 {
		t.Errorf("%v %v", problems, err)
	}
}

// values are a member's metrics.
func values(t *testing.T, registry *prometheus.Registry, member string) string {
	t.Helper()
	families, err := registry.Gather()
	if err != nil {
		t.Fatal(err)
	}
	var found []string
	for _, family := range families {
		name, ok := strings.CutPrefix(family.GetName(), "sharding_")
		for _, metric := range family.Metric {
			if ok && metric.Label[1].GetValue() == member {
				found = append(found, fmt.Sprint(name, " ", metric.Gauge.GetValue()+metric.Counter.GetValue()))
			}
		}
	}
	slices.Sort(found)
	return strings.Join(found, "; ")
}

// TestDocumentation: the package's documentation names all metrics, and no others.
func TestDocumentation(t *testing.T) {
	source, err := os.ReadFile("collector.go")
	if err != nil {
		t.Fatal(err)
	}
	registry := prometheus.NewRegistry()
	collector := shardingmetrics.New("bakers", &member{"first", sharding.Status{Started: true}})
	collector.AddQueue("oven", queue(0))
	registry.MustRegister(collector)
	families, err := registry.Gather()
	if err != nil {
		t.Fatal(err)
	}
	var registered []string
	for _, family := range families {
		registered = append(registered, family.GetName())
	}
	var documented []string
	names := regexp.MustCompile(`(?m)^//\t(sharding_\w+)$`)
	for _, match := range names.FindAllStringSubmatch(string(source), -1) {
		documented = append(documented, match[1])
	}
	slices.Sort(documented)
	if !slices.Equal(documented, registered) {
		t.Errorf("the documentation has %q, the registry %q", documented, registered)
	}
}
