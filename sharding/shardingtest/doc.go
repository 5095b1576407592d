// Package shardingtest has groups of members in memory, for tests of controllers that share their objects by
// package sharding: without an API server, and ranges move only when the test says so.
//
// The members are those of package sharding, and so are the table and the Leases: what runs in the test is
// what runs in production, except for the balancer. In its place the test calls [Group.Move]. Until then
// nobody owns anything. As no member is elected, [sharding.Member.Leader] calls nothing.
//
// It works inside a bubble of testing/synctest if the group is created there. Outside of one, tests that
// disconnect members wait less if RenewDeadline and RetryPeriod are short.
package shardingtest
