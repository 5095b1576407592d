// Package sharding divides the objects of some kinds among the members of a group: replicas of a controller
// that are all active, each for its part. Who owns which part, and how parts change hands, is agreed on
// through Leases of the API server and nothing else.
//
// Namespaces, or UIDs, are hashed (see [Field]). The table, an annotation of one Lease, says who owns which
// range of hashes. No two members act on one hash at the same time, as long as no member's clock runs faster
// than another's by more than LeaseDuration / RenewDeadline. That every hash always has an owner isn't
// promised.
//
// The rules:
//
//   - The table is written only with the resourceVersion of what was read, so of two writers one fails.
//   - Only the owner of a range gives it away or marks it free, by one write, after its work on it has ended.
//     A write that wasn't answered is repeated until its outcome is known; until then no work begins there.
//   - Only the balancer gives free ranges, asks owners for ranges, and gives the ranges of a member whose
//     Lease has run out by the balancer's own observation. It reads the table first, then the Leases once
//     more, and then writes. It is elected, for liveness; two balancers at once do no harm.
//   - A member acts on a range only while the last table that it read or wrote names it, and its Lease holds:
//     until RenewDeadline after its last successful renewal was sent. When it holds again after a lapse, the
//     member first writes the table anew, so that a balancer that decided earlier fails.
//   - Who observes counts a Lease's silence from when the last change came in, and only while it sees its own
//     renewals come in. It waits for its own LeaseDuration, or for the Lease's, if that is longer. A Lease
//     that is missing is one that doesn't change.
//   - A member's Lease says by which table it acts. The balancer gives ranges only to those whose Lease names
//     this one, and the first ranges of a table, which may be one that was created anew after it was deleted,
//     only when it has observed the group for LeaseDuration, and no Lease names another one.
//   - The generation of a table, from which tokens come, begins at the resourceVersion with which its Lease
//     was created, and grows by one with every write. So tokens grow also when the table is deleted.
//   - The first list of a range begins after its ownership was in the table. A member's informers follow the
//     table rather than its Lease, and list again only what others may have owned in between.
//
// docs/sharding.md says the same for users.
package sharding
