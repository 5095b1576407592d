//go:build linux

// Package wire has what the tests and their replicas exchange.
package wire

import (
	"strconv"
	"time"

	"golang.org/x/sys/unix"
	"k8s.io/apimachinery/pkg/types"

	"github.com/kubewright/kubewright/runtime/shard"
)

// Headers of a replica's requests.
const (
	// Member is the identity of the replica's member, Sent the time when the request was sent.
	Member = "Sharded-Member"
	Sent   = "Sharded-Sent"
	// Only on writes of a reconcile: the group, the value that is hashed, the range as "first-last" in
	// hexadecimal digits and the token that the member gave, and the time just before it was asked.
	InGroup = "Sharded-Group"
	Value   = "Sharded-Value"
	Range   = "Sharded-Range"
	Token   = "Sharded-Token"
	Looked  = "Sharded-Looked"
)

// Time is a moment on the machine's monotonic clock, which all its processes share. The clock goes on while a
// process is stopped.
type Time int64

// Now returns the current time.
func Now() Time {
	var now unix.Timespec
	if err := unix.ClockGettime(unix.CLOCK_MONOTONIC, &now); err != nil {
		panic(err) // Linux has this clock
	}
	return Time(now.Nano())
}

// Add returns the time d later.
func (t Time) Add(d time.Duration) Time { return t + Time(d) }

// Sub returns how long t is after another time.
func (t Time) Sub(other Time) time.Duration { return time.Duration(t - other) }

// String formats a time for a header.
func (t Time) String() string { return strconv.FormatInt(int64(t), 10) }

// Parse parses a header. It returns 0 for anything that isn't a time.
func Parse(header string) Time {
	n, err := strconv.ParseInt(header, 10, 64)
	if err != nil {
		return 0
	}
	return Time(n)
}

// Group is the replicas' group, Namespace that of its Leases.
const (
	Group     = "bakers"
	Namespace = "kube-system"
)

// Finalizer is the finalizer that replicas remove from deleted bakeries.
const Finalizer = "sharded.kubewright.dev/cleaned"

// Variable is the environment variable with a replica's Job.
const Variable = "SHARDED_REPLICA"

// Job configures a replica.
type Job struct {
	// Host is that of the proxy.
	Host string
	// Identity names the replica.
	Identity string
	Field    shard.Field
	Times    Times
	Workers  int
	// Careless, if not 0, makes a replica check ownership only before a reconcile, take that long for it, and
	// then write without the member's transport.
	Careless time.Duration
}

// Times are those of a member.
type Times struct{ LeaseDuration, RenewDeadline, RetryPeriod, JoinDelay time.Duration }

// Ready is the line that a replica prints when its member has joined.
type Ready struct {
	// Member is the identity of its member.
	Member string
	// Address is where it serves its State.
	Address string
}

// State is the state of a replica.
type State struct {
	// Objects are the resourceVersions of the objects in its cache.
	Objects map[types.UID]string
	// Dropped is how many items its queue has dropped.
	Dropped uint64
	// Health is the error of the member's health, "" if it is healthy.
	Health string
}
