// Package sharding divides the objects of some kinds among replicas of a controller that are all active, each
// for its own part. They agree on who owns which part through Leases of the API server and nothing else.
//
//   - group: the replicas that share objects; it has a name
//   - member: a replica of a group, see [NewMember]
//   - hash: the number of an object, from its namespace or its UID, see [shard.Field]
//   - range: all hashes from a first to a last one
//   - table: the annotation of the group's Lease that names the owner of each range
//   - owner: the member that may act on the objects of a range
//   - token: the fencing token of a range: a number that grows whenever its owner changes
//   - balancer: the member, elected by the others, that assigns ranges
//   - lapse: the time in which a member can't renew its Lease, and doesn't act
//   - generation: the number of a table that grows with each write
//
// No two members act on one hash at the same time, as long as no member's clock runs faster than another's by
// more than LeaseDuration / RenewDeadline. It isn't guaranteed that every hash always has an owner.
//
// docs/sharding.md is the guide for users, docs/sharding-protocol.md has the rules.
package sharding
