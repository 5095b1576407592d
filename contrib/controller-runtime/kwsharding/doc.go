// Package kwsharding lets all replicas of a controller-runtime program be active, each for its part of the
// objects. Shard makes a manager, whose caches are those of package kwctrl, a member of a group. Complete
// makes a controller of the manager a sharded one. docs/sharding.md says when to shard, and how.
//
// It isn't part of kwctrl, so that programs without sharding don't link it.
package kwsharding
