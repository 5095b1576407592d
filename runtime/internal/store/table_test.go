package store

import (
	"math/rand/v2"
	"slices"
	"testing"
)

// TestTable adds and removes slots of random tags, many of which share a bucket, a mark or all bits, and
// compares the table with a list of their tags.
func TestTable(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for name, tag := range map[string]func() uint32{
		"any":          r.Uint32,
		"one home":     func() uint32 { return r.Uint32N(4) },
		"few":          func() uint32 { return r.Uint32N(8)<<29 | r.Uint32N(2) },
		"the last":     func() uint32 { return ^r.Uint32N(300) },
		"of one mark":  func() uint32 { return r.Uint32() | 0xff },
		"without mark": func() uint32 { return r.Uint32() &^ 0xff },
	} {
		t.Run(name, func(t *testing.T) {
			table, tags := newTable(), []uint32(nil)
			for step := range 6000 {
				// The table grows, shrinks and grows again.
				adds := 8
				if step/2000 == 1 {
					adds = 2
				}
				if len(tags) == 0 || r.IntN(10) < adds {
					tags = append(tags, tag())
					table.add(tags[len(tags)-1])
				} else {
					slot := r.IntN(len(tags))
					table.remove(uint32(slot))
					last := len(tags) - 1
					tags[slot] = tags[last]
					tags = tags[:last]
				}
				if step%50 == 0 {
					checkTable(t, &table, tags)
				}
			}
			checkTable(t, &table, tags)
		})
	}
}

// checkTable checks that every slot is in the table once, at its tag's home or after it without a gap in
// between, and that the table has no other entries.
func checkTable(t *testing.T, table *table, tags []uint32) {
	t.Helper()
	if !slices.Equal(table.tags, tags) {
		t.Fatal("other tags")
	}
	for slot, tag := range tags {
		found := 0
		_, _, ok := table.locate(tag, func(s uint32) bool {
			if s == uint32(slot) {
				found++
			}
			return false
		})
		if ok || found != 1 {
			t.Fatalf("slot %d of %d, tag %x, was found %d times", slot, len(tags), tag, found)
		}
	}
	entries := 0
	for _, b := range table.buckets {
		for i := range bucketSize {
			if b.marks>>(8*i)&0xff != 0 {
				entries++
			}
		}
	}
	if entries != len(tags) {
		t.Fatalf("%d entries for %d slots", entries, len(tags))
	}
	if size := len(table.buckets); size > max(1, len(tags)) || size*13 < len(tags)*2 {
		t.Fatalf("%d buckets for %d slots", size, len(tags))
	}
}
