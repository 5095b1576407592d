package shardingeyes

import (
	"reflect"
	"testing"
	"time"

	"github.com/kubewright/kubewright/eyes"
	"github.com/kubewright/kubewright/runtime/shard"
	"github.com/kubewright/kubewright/sharding"
)

// TestMemberOf checks that nothing of a status is lost, or shown as something else.
func TestMemberOf(t *testing.T) {
	since := time.Date(2000, 1, 1, 0, 0, 0, 0, time.UTC)
	low, high := shard.Range{Last: 1<<63 - 1}, shard.Range{First: 1 << 63, Last: 1<<64 - 1}
	got := memberOf("anna", sharding.Status{
		Owned: []sharding.Owned{{Range: low}}, Since: since, Owners: 2, Unowned: []shard.Range{high},
		UnownedObjects: 3, UnownedSince: since.Add(1), Giving: []shard.Range{low, high}, Gained: 4, Lost: 5,
		LostMembers: []string{"ben"}, LostAt: since.Add(2), Running: 6, Waiting: 7, Hung: []string{"oslo"},
		Started: true,
	})
	want := eyes.Member{
		Identity: "anna", Owned: []string{low.String()},
		Giving: []string{low.String(), high.String()}, Since: since,
		Owners: 2, Unowned: []string{high.String()}, UnownedObjects: 3, UnownedSince: since.Add(1), Gained: 4,
		Lost: 5, LostMembers: []string{"ben"}, LostAt: since.Add(2), Started: true, Running: 6, Waiting: 7, Hung: 1,
	}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("got %+v, want %+v", got, want)
	}
	// A field that is new is to be checked here, too. Add uses Err and Left.
	if n := reflect.TypeFor[sharding.Status]().NumField(); n != 17 {
		t.Errorf("a status has %d fields, 17 are known here", n)
	}
}
