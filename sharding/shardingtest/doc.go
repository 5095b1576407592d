// Package shardingtest has groups of members in memory, for tests of controllers that share their objects by
// package sharding. They need no API server, and ranges move only when the test moves them.
//
// The members, the table and the Leases are those of package sharding. The same code runs in the test as in
// production, except for the balancer: in its place the test calls [Group.Move], and until then nobody owns
// anything. As no member is elected, [sharding.Member.Leader] doesn't call its function.
//
// It works inside a bubble of testing/synctest if the group is created there. Outside of one, tests that
// disconnect members wait less if RenewDeadline and RetryPeriod are short.
package shardingtest
