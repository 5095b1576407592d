package sharding

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
)

// table says who owns which places. Tables are values: a change makes a new one.
type table struct {
	// Protocol is the version of the rules. Members of another version don't join.
	Protocol int `json:"protocol"`
	// Generation grows with every write.
	Generation int64 `json:"generation"`
	// Since is the generation in which the table was created. Members that have seen no table of it may still act on
	// a table from before.
	Since int64 `json:"since"`
	// Field is what is hashed, and Kinds are the resources that are sharded, sorted.
	Field Field    `json:"field"`
	Kinds []string `json:"kinds"`
	// Ranges are in order, without gap or overlap.
	Ranges []entry `json:"ranges"`
}

// entry is a range of the table. It ends where the next one begins.
type entry struct {
	First place `json:"first"`
	// Owner is a member, or "" if the range is free.
	Owner string `json:"owner,omitempty"`
	// Token is the generation in which the range changed owner. Of a place it never falls.
	Token int64 `json:"token"`
	// To is the member that the owner should give the range to, or the part of it that has about Part objects. A
	// Part of 0 stands for the whole.
	To   string `json:"to,omitempty"`
	Part int    `json:"part,omitempty"`
	// Objects is how many the owner had counted at its last write of the range.
	Objects int `json:"objects,omitempty"`
}

const (
	protocol = 1
	// maxRanges is how many ranges a member may have, so that selectors and the table stay short.
	maxRanges = 32
	// maxTable bounds the table's text, in bytes. The API server's bound for all annotations of an object is 256 KB.
	maxTable = 200 << 10
)

// newTable returns a table of one free range.
func newTable(generation int64, field Field, kinds []string) table {
	return table{
		Protocol: protocol, Generation: generation, Since: generation,
		Field: field, Kinds: kinds, Ranges: []entry{{}},
	}
}

// parseTable reads a table and checks it.
func parseTable(text string) (table, error) {
	var t table
	if err := json.Unmarshal([]byte(text), &t); err != nil {
		return table{}, err
	}
	if t.Protocol != protocol {
		return t, fmt.Errorf("protocol %d: this program knows %d", t.Protocol, protocol)
	}
	return t, t.check()
}

// check returns an error unless the table covers all places once.
func (t table) check() error {
	if len(t.Ranges) == 0 || t.Ranges[0].First != 0 {
		return errors.New("the ranges don't begin at place 0")
	}
	for i, e := range t.Ranges {
		switch {
		case i > 0 && e.First <= t.Ranges[i-1].First:
			return fmt.Errorf("range %d isn't after the one before", i)
		case e.Token > t.Generation:
			return fmt.Errorf("range %d has token %d, above the generation %d", i, e.Token, t.Generation)
		case e.To != "" && e.Owner == "":
			return fmt.Errorf("range %d is free, but should be given to %s", i, e.To)
		}
	}
	return nil
}

// text is what parseTable reads.
func (t table) text() (string, error) {
	if err := t.check(); err != nil {
		return "", err
	}
	text, err := json.Marshal(t)
	if len(text) > maxTable {
		return "", fmt.Errorf("the table has %d bytes, more than %d", len(text), maxTable)
	}
	return string(text), err
}

// span returns the range of entry i.
func (t table) span(i int) Range {
	last := uint64(lastPlace)
	if i+1 < len(t.Ranges) {
		last = uint64(t.Ranges[i+1].First) - 1
	}
	return Range{uint64(t.Ranges[i].First), last}
}

// at returns the index of the entry of a place.
func (t table) at(hash uint64) int {
	i, found := slices.BinarySearchFunc(t.Ranges, place(hash), func(e entry, p place) int {
		switch {
		case e.First < p:
			return -1
		case e.First > p:
			return 1
		}
		return 0
	})
	if !found {
		i--
	}
	return i
}

// next returns a copy of the table in the next generation.
func (t table) next() table {
	t.Generation++
	t.Ranges = slices.Clone(t.Ranges)
	return t
}

// cut makes the part an entry of its own, if it isn't, and returns its index. The part must be within one entry.
func (t *table) cut(part Range) int {
	i := t.at(part.First)
	whole := t.span(i)
	if whole.First < part.First {
		rest := t.Ranges[i]
		rest.First, rest.To, rest.Part = place(part.First), "", 0
		t.Ranges = slices.Insert(t.Ranges, i+1, rest)
		i++
	}
	if part.Last < whole.Last {
		rest := t.Ranges[i]
		rest.First = place(part.Last + 1)
		t.Ranges = slices.Insert(t.Ranges, i+1, rest)
	}
	return i
}

// give returns the table in which an owner has given a part of a range of its own to another member, or to nobody.
// What is left of the range is no longer asked for.
func (t table) give(owner string, part Range, to string, objects int) (table, error) {
	i := t.at(part.First)
	if t.Ranges[i].Owner != owner || t.span(i).Last < part.Last {
		return t, fmt.Errorf("%s doesn't own %s", owner, part)
	}
	t = t.next()
	t.Ranges[i].To, t.Ranges[i].Part = "", 0
	i = t.cut(part)
	t.Ranges[i].Owner, t.Ranges[i].Token, t.Ranges[i].Objects = to, t.Generation, objects
	return t.merged(), nil
}

// renewed returns the table in which a member has taken its own ranges anew, and how many these are.
func (t table) renewed(owner string) (table, int) {
	t = t.next()
	count := 0
	for i := range t.Ranges {
		if e := &t.Ranges[i]; e.Owner == owner {
			e.Token, e.To, e.Part = t.Generation, "", 0
			count++
		}
	}
	return t.merged(), count
}

// merged joins neighbours of one owner, unless one of them is asked for.
func (t table) merged() table {
	ranges := t.Ranges[:1]
	for _, e := range t.Ranges[1:] {
		last := &ranges[len(ranges)-1]
		if e.Owner != last.Owner || e.To != "" || last.To != "" {
			ranges = append(ranges, e)
			continue
		}
		last.Token = max(last.Token, e.Token)
		last.Objects += e.Objects
	}
	t.Ranges = ranges
	return t
}

// of returns the ranges of an owner.
func (t table) of(owner string) (ranges []Owned) {
	for i, e := range t.Ranges {
		if e.Owner == owner {
			ranges = append(ranges, Owned{t.span(i), e.Token})
		}
	}
	return ranges
}

// Owned is a range with the token of its owner: of two writes to one place, that with the lower token is older.
type Owned struct {
	Range
	Token int64
}
