// Package sharding divides the objects of some kinds among the members of a group: replicas of a controller
// that are all active, each for its own part. The members agree on who owns which part, and hand parts over,
// through Leases of the API server and nothing else.
//
// Each object is hashed by its namespace or its UID (see [Field]). The table, an annotation of one Lease,
// names the owner of each range of hashes. No two members act on one hash at the same time, as long as no
// member's clock runs faster than another's by more than LeaseDuration / RenewDeadline. It isn't guaranteed
// that every hash always has an owner.
//
// The rules:
//
//   - Each write of the table carries the resourceVersion that was read, so of two writers one fails.
//   - Only the owner of a range hands it over or marks it free, by one write, after its work there has ended.
//     A write that got no answer is repeated until its outcome is known; until then no work begins there.
//   - Only the balancer assigns free ranges, requests ranges from their owners, and reassigns the ranges of a
//     member whose Lease it has seen unchanged for too long. Before it reassigns, it reads the table, and
//     then all Leases once more. It is elected, for liveness only; two balancers at once do no harm.
//   - A member acts on a range only while the last table that it read or wrote names it, and its Lease holds:
//     until RenewDeadline after its last successful renewal was sent. When the Lease holds again after a
//     lapse, the member first rewrites the table, so that the write of an earlier decision to take its ranges
//     fails.
//   - The balancer measures how long a Lease hasn't changed from when the last change came in, and only while
//     its own renewals come in. It waits for its own LeaseDuration or for the Lease's, whichever is longer. A
//     missing Lease counts as one that doesn't change.
//   - A member's Lease names the table by which the member acts. The balancer assigns ranges only to members
//     whose Lease names the current table. It assigns the first ranges of a table, which may replace a
//     deleted one, only after it has observed the group for LeaseDuration, and if no Lease names another
//     table.
//   - The generation of a table, from which tokens come, begins at the resourceVersion with which its Lease
//     was created, and grows by one with every write. So tokens grow even if the table is deleted.
//   - A member begins the first list of a range after the table names it as the owner. Its informers follow
//     the table rather than its Lease, and list again only what others may have owned in between.
//
// docs/sharding.md is the guide for users, docs/sharding-protocol.md the whole protocol.
package sharding
