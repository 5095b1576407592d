package sharding

import (
	"testing"
	"time"

	coordinationv1 "k8s.io/api/coordination/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/kubewright/kubewright/runtime/shard"
)

// TestNewTableWaitsForOwnersOfTheOld checks that the balancer assigns no range of a new table while a member
// that renews its Lease acts on the table that was deleted: the member may not have noticed the deletion yet.
// The model doesn't find that, because all its watches are equally fast.
func TestNewTableWaitsForOwnersOfTheOld(t *testing.T) {
	now := time.Now()
	counted := make(chan struct{})
	close(counted)
	config := Config{Identity: "a", Field: shard.ByNamespace, Kinds: []string{"bakeries"},
		LeaseDuration: 15 * time.Second, RetryPeriod: 2 * time.Second, MinMembers: 1, clock: realClock{}}
	seen := func(table types.UID, unchanged time.Duration) *observed {
		return &observed{renews: true, first: now.Add(-time.Hour), unchanged: unchanged,
			lease:  &coordinationv1.Lease{},
			report: report{Field: config.Field, Kinds: config.Kinds, Table: table}}
	}
	for name, test := range map[string]struct {
		other *observed
		ready bool
	}{
		"acts on the old table":    {seen("old", 0), false},
		"acts on the new one":      {seen("new", 0), true},
		"acts on none":             {seen("", 0), true},
		"died with the old table":  {seen("old", config.LeaseDuration), true},
		"is silent, with the old":  {seen("old", config.LeaseDuration-1), false},
		"left with the old table":  {&observed{gone: true, report: report{Table: "old"}}, false},
		"isn't there":              {nil, true},
		"of another configuration": {&observed{report: report{Table: "new"}}, true},
	} {
		b := &balancer{member: &Member{config: config}, began: now, census: &census{done: counted},
			observer: newObserver("a", 4*time.Second), current: &version{
				table: table{Field: config.Field, Kinds: config.Kinds, Ranges: []entry{{}}},
				lease: &coordinationv1.Lease{ObjectMeta: metav1.ObjectMeta{UID: "new"}},
			}}
		b.observer.reading = time.Hour
		b.observer.members["a"] = seen("new", 0)
		if test.other != nil {
			b.observer.members["b"] = test.other
		}
		if _, ready := b.situation(); ready != test.ready {
			t.Errorf("the other member %s: the balancer may assign ranges: %t", name, ready)
		}
	}
}
