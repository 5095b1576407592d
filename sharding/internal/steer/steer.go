// Package steer lets package shardingtest change a group's table, which only package sharding understands.
package steer

import (
	coordinationv1 "k8s.io/api/coordination/v1"

	"github.com/kubewright/kubewright/runtime/shard"
)

// Table changes the table in a Lease by one step towards one in which a range belongs to a member. Free parts
// of the range are assigned to it, and so are those of members that are out: that don't act, and may not
// before they have written the table anew. Other owners are asked to hand over. It returns false if there is
// nothing to change.
//
// Package sharding sets it.
var Table func(
	lease *coordinationv1.Lease, r shard.Range, to string, isOut func(member string) bool,
) (changed bool, err error)
