//go:build linux

// Package wire is what the tests and their replicas tell each other.
package wire

import (
	"strconv"
	"time"

	"golang.org/x/sys/unix"
	"k8s.io/apimachinery/pkg/types"

	"github.com/kubewright/kubewright/sharding"
)

// Headers of a replica's requests.
const (
	// Member is the identity of the replica's member, Sent the time when the request was sent.
	Member = "Sharded-Member"
	Sent   = "Sharded-Sent"
	// Those of writes in a reconcile: the group, what is hashed, the range, "first-last" in hexadecimal digits,
	// and the token that the member said it may act on, and the time just before it was asked.
	InGroup = "Sharded-Group"
	Value   = "Sharded-Value"
	Range   = "Sharded-Range"
	Token   = "Sharded-Token"
	Looked  = "Sharded-Looked"
)

// Time is a moment by the machine's monotonic clock, which all its processes share. It goes on while a
// process is stopped.
type Time int64

// Now returns the present time.
func Now() Time {
	var now unix.Timespec
	if err := unix.ClockGettime(unix.CLOCK_MONOTONIC, &now); err != nil {
		panic(err) // Linux has this clock.
	}
	return Time(now.Nano())
}

// Add returns the time a while later.
func (t Time) Add(d time.Duration) Time { return t + Time(d) }

// Sub returns how long after another time t is.
func (t Time) Sub(other Time) time.Duration { return time.Duration(t - other) }

// String is how a time stands in a header.
func (t Time) String() string { return strconv.FormatInt(int64(t), 10) }

// Parse reads a header. What is no time is 0.
func Parse(header string) Time {
	n, err := strconv.ParseInt(header, 10, 64)
	if err != nil {
		return 0
	}
	return Time(n)
}

// Group is the group that the replicas belong to, and Namespace the one of its Leases.
const (
	Group     = "bakers"
	Namespace = "kube-system"
)

// Finalizer is what replicas remove from deleted bakeries.
const Finalizer = "sharded.kubewright.dev/cleaned"

// Variable is the environment variable with a replica's Job.
const Variable = "SHARDED_REPLICA"

// Job is what a replica is told.
type Job struct {
	// Host is the proxy's.
	Host string
	// Identity names the replica.
	Identity string
	Field    sharding.Field
	Times    Times
	Workers  int
	// Careless makes a replica that asks only before a reconcile, reconciles for a while, and then writes
	// without the member's transport.
	Careless time.Duration
}

// Times are those of a member.
type Times struct{ LeaseDuration, RenewDeadline, RetryPeriod, JoinDelay time.Duration }

// Ready is the line that a replica prints when it takes part.
type Ready struct {
	// Member is the identity of its member.
	Member string
	// Address is where it serves its State.
	Address string
}

// State is what a replica has.
type State struct {
	// Objects are the resourceVersions of the objects in its cache.
	Objects map[types.UID]string
	// Dropped is how many items its queue has dropped.
	Dropped uint64
	// Health is what the member says, "" if it is well.
	Health string
}
