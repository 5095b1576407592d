//go:build linux

// Package judge finds what was wrong in the behavior of a group of replicas, by records of it.
package judge

import (
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/types"

	"github.com/kubewright/kubewright/runtime/shard"
	"github.com/kubewright/kubewright/test/e2e/sharded/internal/wire"
)

// Records are the observations of a test. Each list is in the order of recording, which is roughly that of
// the events.
type Records struct {
	Renewals []Renewal
	Tables   []Table
	Writes   []Write
	Lists    []List
	Changes  []Change
	Sights   []Sight
	Rounds   []Round
}

// Renewal is a successful renewal of a member's Lease: when the member sent it, and when the proxy passed the
// answer on.
type Renewal struct {
	Member         string
	Sent, Answered wire.Time
}

// Table is a table that was written, or read, some time between Began and Done.
type Table struct {
	Began, Done wire.Time
	Entries     []Entry
}

// Entry is a range of a table. It ends where the next one begins.
type Entry struct {
	First uint64
	// Owner is "" if the range is free.
	Owner string
	Token int64
}

// Write is a write of a bakery by a replica, whatever the server answered.
type Write struct {
	Member, Object string
	// Stamped means that the replica's member allowed the write. Otherwise the fields below are empty.
	Stamped bool
	Hash    uint64
	Range   shard.Range
	Token   int64
	// Looked is just before the member was asked, Arrived when the proxy got the write.
	Looked, Arrived wire.Time
}

// List is a list of bakeries, from the first page to the last, or the list that a watch begins with.
type List struct {
	Member string
	Ranges shard.Ranges
	// Began is when the request arrived. Ended is when the end of the answer was sent, 0 if the answer was
	// incomplete.
	Began, Ended wire.Time
}

// Change is a change of a bakery by the writer. Of a deleted bakery, replicas must remove the finalizer.
type Change struct {
	UID        types.UID
	Hash       uint64
	Generation int64
	Deleted    bool
	At         wire.Time
}

// Sight is an observed state of a bakery: the generation that replicas have reconciled, or that the bakery is
// gone.
type Sight struct {
	UID      types.UID
	Observed int64
	Gone     bool
	At       wire.Time
}

// Round is a time in which one fault is made, and at the end of which everything is in order again.
type Round struct {
	Kind string
	// Fault is when the time that replicas may take starts: when replicas were killed or stopped, or when the
	// server is back.
	Began, Fault, Ended wire.Time
	// Bound is how long a range may have no owner.
	Bound time.Duration
	// Filters means that the server filters lists and watches, and runs, throughout the round: then no member
	// lists again what it has.
	Filters bool
	// Frozen is the member that was frozen, if any. The duration of its lists means nothing.
	Frozen string
}

// at returns the entry of a hash.
func (t Table) at(hash uint64) Entry {
	found := Entry{}
	for _, e := range t.Entries {
		if e.First > hash {
			break
		}
		found = e
	}
	return found
}

// Of returns the ranges of an owner.
func (t Table) Of(owner string) shard.Ranges {
	var ranges []shard.Range
	for i, e := range t.Entries {
		if e.Owner == owner {
			ranges = append(ranges, t.span(i))
		}
	}
	return shard.Join(ranges...)
}

func (t Table) span(i int) shard.Range {
	last := uint64(math.MaxUint64)
	if i+1 < len(t.Entries) {
		last = t.Entries[i+1].First - 1
	}
	return shard.Range{First: t.Entries[i].First, Last: last}
}

// ParseTable parses the ranges in the text of the annotation of a group's Lease.
func ParseTable(text string) ([]Entry, error) {
	var entries []Entry
	for line := range strings.Lines(text) {
		words := strings.Fields(line)
		if len(words) < 4 || words[2] != "token" {
			continue // one of the lines before the ranges
		}
		e := Entry{Owner: words[1]}
		if e.Owner == "-" {
			e.Owner = ""
		}
		var err error
		if e.First, err = strconv.ParseUint(words[0], 16, 64); err != nil {
			return nil, fmt.Errorf("the table's line %q: %w", line, err)
		}
		if e.Token, err = strconv.ParseInt(words[3], 10, 64); err != nil {
			return nil, fmt.Errorf("the table's line %q: %w", line, err)
		}
		entries = append(entries, e)
	}
	if len(entries) == 0 || entries[0].First != 0 {
		return nil, fmt.Errorf("the table has no range that begins at 0:\n%s", text)
	}
	return entries, nil
}
