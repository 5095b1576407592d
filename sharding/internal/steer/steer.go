// Package steer lets package shardingtest change a group's table, which only package sharding understands.
package steer

import (
	coordinationv1 "k8s.io/api/coordination/v1"

	"github.com/kubewright/kubewright/runtime/shard"
)

// Table changes the table in a Lease by one step towards one in which a range belongs to a member. What has
// no owner is given to it, and so is what belongs to members that are out: those that don't act, nor may
// before they have written the table anew. Other owners are asked to give. It returns false if there is
// nothing to change.
//
// Package sharding sets it.
var Table func(
	lease *coordinationv1.Lease, r shard.Range, to string, isOut func(member string) bool,
) (changed bool, err error)
