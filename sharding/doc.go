// Package sharding divides the objects of some kinds among the members of a group: replicas of a controller that
// are all active, each for its part. Who owns which part, and how parts change hands, is agreed on through Leases
// of the API server and nothing else.
//
// An object's place is the hash of its namespace, or of its UID (see [Field]). The table, an annotation of one
// Lease, says who owns which range of hashes. What it promises: no two members act on one place at the same time,
// as long as no member's clock runs faster than another's by more than LeaseDuration / RenewDeadline. What it
// doesn't: that every place always has an owner.
//
// Four rules make it so:
//
//   - Only the owner of a range gives it away, splits it, or marks it free, after its work on it has ended, by one
//     write of the table.
//   - Only the balancer gives free ranges, asks owners to give ranges, and gives the ranges of a member whose Lease
//     has run out by the balancer's own observation. It is elected, for liveness; two balancers at once do no harm.
//   - A member acts on a range only while the last table that it read or wrote names it, and its Lease holds. When
//     its Lease has lapsed and holds again, it first writes the table anew.
//   - A new owner's first list of a range begins after its ownership is in the table.
//
// Every write of the table carries the resourceVersion of what was read, so of two writers one fails.
package sharding
