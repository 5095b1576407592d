package kwsharding_test

import (
	"testing"

	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/kubewright/kubewright/runtime/shard"
	"github.com/kubewright/kubewright/sharding/shardingtest"
)

// TestShardMoves moves ranges between two managers with shardingtest, as users' tests may: to the second one,
// and from the second one while that is cut off. Each reconciles its ranges, and nothing else.
func TestShardMoves(t *testing.T) {
	inBakery(t, func(t *testing.T, b *bakery[reconcile.Request]) {
		b.group = shardingtest.NewGroup()
		move := func(to *replica[reconcile.Request], ranges ...shard.Range) {
			t.Helper()
			if err := b.group.Move(t.Context(), to.Member, ranges...); err != nil {
				t.Fatal(err)
			}
		}
		done := func(r *replica[reconcile.Request], want int) {
			t.Helper()
			if _, got := b.doneBy(r); got != want {
				t.Errorf("%s has reconciled %d objects, want %d", r.name, got, want)
			}
		}
		b.fill(40, 40)
		first, second := b.join("first"), b.join("second")
		move(first, shardingtest.All)
		b.settle()
		done(first, 40)
		done(second, 0)

		move(second, shardingtest.Of("town-0"), shardingtest.Of("town-1"))
		b.check("two towns have moved")
		done(second, 2)

		b.group.Disconnect(second.Member)
		move(first, shardingtest.Of("town-0"))
		before, _ := b.doneBy(first)
		b.want("town-0", "bread-0", "rye")
		b.want("town-1", "bread-1", "rye")
		b.settle()
		after, _ := b.doneBy(first)
		if object, _ := b.maps.Get("town-0", "bread-0"); object.Data["baked"] != "rye" || after == before {
			t.Errorf("the first manager doesn't reconcile what it has taken over: %v", object.Data)
		}
		if object, _ := b.maps.Get("town-1", "bread-1"); object.Data["baked"] == "rye" {
			t.Error("an object of the second manager is reconciled while that is cut off")
		}

		b.group.Reconnect(second.Member)
		b.check("the second is back")
		done(second, 2)
	})
}
