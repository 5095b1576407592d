//go:build linux

// Package judge says what was wrong in what a group of replicas did, from what was recorded of it.
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

// Records are what was seen. Each list is in the order in which things were recorded, which is about that in
// which they happened.
type Records struct {
	Renewals []Renewal
	Tables   []Table
	Writes   []Write
	Lists    []List
	Changes  []Change
	Sights   []Sight
	Rounds   []Round
}

// Renewal is a renewal of a member's Lease that succeeded: when the member sent it, and when the answer was
// on its way.
type Renewal struct {
	Member         string
	Sent, Answered wire.Time
}

// Table is a table that was written at some time from Began to Done, or read then.
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

// Write is a write of a bakery by a replica, whatever the server's answer was.
type Write struct {
	Member, Object string
	// Stamped says that the replica's member allowed it. If not, what follows is empty.
	Stamped bool
	Hash    uint64
	Range   shard.Range
	Token   int64
	// Looked is just before the member was asked, Arrived when the server got the write.
	Looked, Arrived wire.Time
}

// List is a list of bakeries, from the first page to the last, or the list that a watch begins with.
type List struct {
	Member string
	Ranges shard.Ranges
	// Began is when the request arrived, Ended when its answer was sent, 0 if that didn't end well.
	Began, Ended wire.Time
}

// Change is what the writer did to a bakery. Of one that is deleted the finalizer has to go.
type Change struct {
	UID        types.UID
	Hash       uint64
	Generation int64
	Deleted    bool
	At         wire.Time
}

// Sight is what was seen of a bakery: the generation that replicas have reconciled, or that it is gone.
type Sight struct {
	UID      types.UID
	Observed int64
	Gone     bool
	At       wire.Time
}

// Round is a time in which one fault is made, and after which everything is in order again.
type Round struct {
	Kind string
	// Fault is when the time that replicas may take begins to count: when others were killed or stopped, when
	// a server is back.
	Began, Fault, Ended wire.Time
	// Bound is how long a range may have no owner.
	Bound time.Duration
	// Filters says that the server filters lists and watches all the time, and goes on all the time: then
	// what a member has is never listed again.
	Filters bool
	// Frozen is the member that stood still for a while, if one did: how long its lists took says nothing.
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

// ParseTable reads the ranges of the text in the annotation of a group's Lease.
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
