package sharding

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/kubewright/kubewright/runtime/shard"
)

// table names the owner of every hash. Tables are values: a change makes a new one.
type table struct {
	// Generation grows by one with every write. See versionOf for where it begins.
	Generation int64
	// Field is what is hashed, and Kinds are the resources that are sharded, sorted.
	Field shard.Field
	Kinds []string
	// Ranges are in order, without gap or overlap.
	Ranges []entry
}

// entry is a range of the table. It ends where the next one begins.
type entry struct {
	First uint64
	// Owner is a member, or "" if the range is free.
	Owner string
	// Token is the fencing token: the generation in which the range last changed owner or was confirmed by it, 0
	// if it never had an owner. The token of a hash never falls.
	Token int64
	// Objects is how many objects the range had by the last count when this entry was written.
	Objects int
	// To is the member to which the owner should hand over the range or, if Part isn't 0, a part of it with
	// about Part objects.
	To   string
	Part int
}

// Owned is a range with its fencing token: of two writes to one object, the one with the lower token is
// older.
type Owned struct {
	shard.Range
	Token int64
}

const (
	// maxRanges is how many ranges a member may have, so that selectors and the table stay short.
	maxRanges = 32
	// maxTable bounds the table's text, in bytes. The API server's bound for all annotations of an object is
	// 256 KB.
	maxTable = 200 << 10
)

// newTable returns a table of one range that nobody ever owned.
func newTable(field shard.Field, kinds []string) table {
	return table{Generation: 1, Field: field, Kinds: kinds, Ranges: []entry{{}}}
}

// check returns an error unless the table covers all hashes once.
func (t table) check() error {
	if len(t.Ranges) == 0 || t.Ranges[0].First != 0 {
		return errors.New("the first range doesn't begin at 0")
	}
	for i, e := range t.Ranges {
		span := t.rangeAt(i)
		switch {
		case i > 0 && e.First <= t.Ranges[i-1].First:
			return fmt.Errorf("range %016x isn't after the one before it", e.First)
		case !isName(e.Owner) || !isName(e.To):
			return fmt.Errorf("range %s: %q or %q is no member's identity", span, e.Owner, e.To)
		case e.Token < 0 || e.Token > t.Generation:
			return fmt.Errorf("range %s: token %d isn't between 0 and the generation, %d", span, e.Token, t.Generation)
		case e.Objects < 0 || e.Part < 0:
			return fmt.Errorf("range %s has a negative number of objects", span)
		case e.Owner != "" && e.Token == 0:
			return fmt.Errorf("range %s has an owner, but no token", span)
		case e.To != "" && (e.Owner == "" || e.To == e.Owner):
			return fmt.Errorf("range %s of %q can't be asked for %q", span, e.Owner, e.To)
		case e.Part > 0 && e.To == "":
			return fmt.Errorf("range %s: a part is requested, but for no member", span)
		}
	}
	return nil
}

// isName reports whether the table can hold an identity. It may be empty, for nobody.
func isName(text string) bool { return text != nobody && !strings.ContainsAny(text, " \n") }

// untouched reports whether no range of the table ever had an owner.
func (t table) untouched() bool {
	return !slices.ContainsFunc(t.Ranges, func(e entry) bool { return e.Token > 0 })
}

// rangeAt returns the range of entry i.
func (t table) rangeAt(i int) shard.Range {
	last := uint64(lastHash)
	if i+1 < len(t.Ranges) {
		last = t.Ranges[i+1].First - 1
	}
	return shard.Range{First: t.Ranges[i].First, Last: last}
}

// indexOf returns the index of the entry of a hash.
func (t table) indexOf(hash uint64) int {
	i, found := slices.BinarySearchFunc(t.Ranges, hash,
		func(e entry, hash uint64) int { return cmp.Compare(e.First, hash) })
	if !found {
		i--
	}
	return i
}

// ownedBy returns the ranges of an owner.
func (t table) ownedBy(owner string) (ranges []Owned) {
	for i, e := range t.Ranges {
		if e.Owner == owner {
			ranges = append(ranges, Owned{t.rangeAt(i), e.Token})
		}
	}
	return ranges
}

// rangesOf returns the hashes of some ranges.
func rangesOf(owned []Owned) shard.Ranges {
	ranges := make([]shard.Range, len(owned))
	for i, o := range owned {
		ranges[i] = o.Range
	}
	return shard.Join(ranges...)
}

// nextGeneration returns a copy of the table in the next generation.
func (t table) nextGeneration() table {
	t.Generation++
	t.Ranges = slices.Clone(t.Ranges)
	return t
}

// reassign returns the table in which a part of one entry belongs to another member, or to nobody. The rest
// of the entry is no longer requested.
func (t table) reassign(part shard.Range, to string, objects int) table {
	t = t.nextGeneration()
	i := t.indexOf(part.First)
	rest := t.Ranges[i]
	rest.To, rest.Part, rest.Objects = "", 0, max(rest.Objects-objects, 0)
	t.replacePart(i, part, entry{Owner: to, Token: t.Generation, Objects: objects}, rest)
	return t.merged()
}

// replacePart replaces a part of entry i by inner. What is left of the entry, on one side or both, becomes
// rest.
func (t *table) replacePart(i int, part shard.Range, inner, rest entry) {
	whole := t.rangeAt(i)
	inner.First, rest.First = part.First, whole.First
	pieces := []entry{inner}
	if whole.First < part.First {
		pieces = []entry{rest, inner}
		rest.Objects = 0 // all counted on the left
	}
	if part.Last < whole.Last {
		rest.First = part.Last + 1
		pieces = append(pieces, rest)
	}
	t.Ranges = slices.Replace(t.Ranges, i, i+1, pieces...)
}

// withoutRequest returns the table in which the entry of a hash is no longer requested.
func (t table) withoutRequest(hash uint64, objects int) table {
	t = t.nextGeneration()
	e := &t.Ranges[t.indexOf(hash)]
	e.To, e.Part, e.Objects = "", 0, objects
	return t.merged()
}

// withNewTokens returns the table in which a member's own ranges have new tokens and aren't requested, and
// how many these are.
func (t table) withNewTokens(owner string) (table, int) {
	t = t.nextGeneration()
	count := 0
	for i := range t.Ranges {
		if e := &t.Ranges[i]; e.Owner == owner {
			e.Token, e.To, e.Part = t.Generation, "", 0
			count++
		}
	}
	return t.merged(), count
}

// withFreed returns the table in which the ranges of an owner are free, split into the pieces that it
// counted, so that several members can get them.
func (t table) withFreed(owner string, counted []piece) table {
	t = t.nextGeneration()
	var ranges []entry
	for i, e := range t.Ranges {
		if e.Owner != owner {
			ranges = append(ranges, e)
			continue
		}
		e = entry{First: e.First, Token: t.Generation, Objects: e.Objects}
		ranges = append(ranges, e.split(piecesWithin(counted, t.rangeAt(i)))...)
	}
	t.Ranges = ranges
	return t
}

// nextOwner returns the member that will own the range once it has been handed over as requested.
func (e entry) nextOwner() string {
	if e.To != "" && e.Part == 0 {
		return e.To
	}
	return e.Owner
}

// split returns the entry in pieces, or the entry itself if there are none.
func (e entry) split(pieces []piece) []entry {
	if len(pieces) == 0 {
		return []entry{e}
	}
	entries := make([]entry, len(pieces))
	for i, p := range pieces {
		entries[i] = e
		entries[i].First, entries[i].Objects = p.First, p.Objects
	}
	return entries
}

// size estimates the length of the table's text.
func (t table) size() (bytes int) {
	const numbers = "0000000000000000 token 000000000000 objects 00000000 to part 00000000"
	for _, e := range t.Ranges {
		bytes += len(numbers) + len(e.Owner) + len(e.To)
	}
	return bytes
}

// merged joins neighbouring ranges of one owner, unless one of them is requested.
func (t table) merged() table {
	ranges := t.Ranges[:1]
	for _, e := range t.Ranges[1:] {
		last := &ranges[len(ranges)-1]
		if e.Owner == "" || e.Owner != last.Owner || e.To != "" || last.To != "" {
			ranges = append(ranges, e)
			continue
		}
		last.Token = max(last.Token, e.Token)
		last.Objects += e.Objects
	}
	t.Ranges = ranges
	return t
}
