package shard

import (
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/sharding"
	"k8s.io/apimachinery/pkg/types"
)

// TestHash compares the hash with apimachinery's, over values of all lengths and bytes.
func TestHash(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 0))
	for length := range 200 {
		value := make([]byte, length)
		for i := range value {
			value[i] = byte(r.IntN(256))
		}
		got, want := fmt.Sprintf("%016x", Hash(string(value))), sharding.HashField(string(value))
		if got != want {
			t.Errorf("the hash of %q is %s, apimachinery's %s", value, got, want)
		}
	}
}

// TestRanges compares operations on ranges with those on sets of a few hashes, at which the ranges begin and
// end.
func TestRanges(t *testing.T) {
	points := []uint64{0, 1, 2, 7, 8, 9, 1 << 62, 1<<62 + 1, 1 << 63, 1<<63 + 1, math.MaxUint64 - 1,
		math.MaxUint64}
	r := rand.New(rand.NewPCG(2, 0))
	random := func() Ranges {
		var some []Range
		for range r.IntN(4) {
			some = append(some, Range{points[r.IntN(len(points))], points[r.IntN(len(points))]})
		}
		joined := Join(some...)
		for _, p := range points {
			want := false
			for _, one := range some {
				want = want || one.First <= p && p <= one.Last
			}
			if joined.Contains(p) != want {
				t.Fatalf("%v joined are %v: contains %x: %t", some, joined, p, !want)
			}
		}
		return joined
	}
	for range 20_000 {
		a, b := random(), random()
		covers := true
		for _, p := range points {
			inA, inB := a.Contains(p), b.Contains(p)
			covers = covers && (inA || !inB)
			for what, c := range map[string]struct{ got, want bool }{
				"plus":  {a.Plus(b).Contains(p), inA || inB},
				"minus": {a.Minus(b).Contains(p), inA && !inB},
				"and":   {a.And(b).Contains(p), inA && inB},
			} {
				if c.got != c.want {
					t.Fatalf("%v %s %v contains %x: %t", a, what, b, p, c.got)
				}
			}
		}
		// The points can miss a gap between two of them, so this holds only one way.
		if a.Covers(b) && !covers {
			t.Fatalf("%v covers %v", a, b)
		}
		if !a.Plus(b).Covers(b) || !a.Covers(a.And(b)) || len(b.Minus(a).And(a)) > 0 || !All().Covers(a) {
			t.Fatalf("%v, %v", a, b)
		}
		if parts := a.Minus(b).Plus(a.And(b)); !parts.Equal(a) {
			t.Fatalf("the parts of %v add up to %v", a, parts)
		}
		for i := range a {
			if i > 0 && a[i].First <= a[i-1].Last+1 {
				t.Fatalf("%v: ranges overlap or touch", a)
			}
		}
	}
}

// TestSelector checks that apimachinery selects by our text what our ranges contain, and that the text is
// read back.
func TestSelector(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 0))
	for i := range 500 {
		field := []Field{ByNamespace, ByUID}[i%2]
		var some []Range
		for range 1 + r.IntN(5) {
			a, b := r.Uint64(), r.Uint64()
			some = append(some, Range{min(a, b), max(a, b)})
		}
		if i%7 == 0 {
			some = append(some, Range{0, r.Uint64()}, Range{r.Uint64(), math.MaxUint64})
		}
		ranges := Join(some...)
		text, err := Selector(field, ranges)
		if err != nil {
			t.Fatal(err)
		}
		readField, read, err := ParseSelector(text)
		if err != nil || readField != field || !read.Equal(ranges) {
			t.Fatalf("%s is read as %s %v, %v", text, readField, read, err)
		}
		theirs := theirSelector(ranges, field)
		if theirs.String() != text {
			t.Fatalf("%s, apimachinery writes %s", text, theirs)
		}
		for n := range 20 {
			obj := &metav1.PartialObjectMetadata{ObjectMeta: metav1.ObjectMeta{
				Namespace: fmt.Sprint("namespace-", n), UID: types.UID(fmt.Sprint("uid-", i*n))}}
			matches, err := theirs.Matches(obj)
			if err != nil || matches != ranges.Contains(field.Hash(obj)) {
				t.Fatalf("%s of %v: ours %t, %v", text, obj, !matches, err)
			}
		}
	}
	if text, err := Selector(ByUID, nil); err == nil {
		t.Errorf("no ranges are selected by %q", text)
	}
	if text, err := Selector("object.metadata.name", All()); err == nil {
		t.Errorf("names are selected by %q", text)
	}
}

func theirSelector(ranges Ranges, field Field) sharding.Selector {
	var requirements []sharding.ShardRangeRequirement
	for _, r := range ranges {
		start, behind, _ := strings.Cut(r.String(), "-")
		requirements = append(requirements,
			sharding.ShardRangeRequirement{Key: string(field), Start: start, End: behind})
	}
	return sharding.NewSelector(requirements...)
}

// TestParseErrors checks that the parser follows the API server's rules, and its error for each mistake.
func TestParseErrors(t *testing.T) {
	const half = "'0x0000000000000000', '0x8000000000000000'"
	const uid = "shardRange(object.metadata.uid, "
	for text, want := range map[string]string{
		"":    "at byte 0: it is empty",
		" \n": "at byte 2: it is empty",
		"shardRange(object.metadata.name, " + half + ")": "at byte 11: " +
			"field \"object.metadata.name\" can't be",
		uid + "'0x0', '0x8000000000000000')":                  "at byte 32: bound \"0x0\" isn't 0x and 16",
		uid + "'0x000000000000000A', '0x8')":                  "isn't 0x and 16 lower-case",
		uid + "'0000000000000000', '0x8')":                    "isn't 0x and 16",
		uid + "'0x0000000000000000', '0x20000000000000000')":  "nor 0x10000000000000000",
		uid + "'0x10000000000000000', '0x10000000000000000')": "can't begin at",
		uid + "'0x0000000000000001', '0x0000000000000001')":   "at byte 53: the range begins",
		uid + "'0x0000000000000001)":                          "isn't closed",
		uid + "0, 1)":                                         "a bound in quotation marks",
		"shardRange(object.metadata.uid)":                     "\")\" stands where \",\" should",
		uid + half:                                            "it ends where \")\" should",
		uid + half + ") && true":                              "\"&& true\" stands where \"||\"",
		uid + half + ") ||":                                   "it ends where",
		uid + half + ") || " +
			"shardRange(object.metadata.namespace, " + half + ")": "one field",
	} {
		if _, _, err := ParseSelector(text); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, want %s", text, err, want)
		}
	}
	field, ranges, err := ParseSelector(
		"\tshardRange ( object . metadata.uid ,\"0x8000000000000000\", '0x10000000000000000')||" +
			"shardRange(object.metadata.uid, '0x7000000000000000', '0x8000000000000000') ")
	if err != nil || field != ByUID || ranges.String() != "0x7000000000000000-0x10000000000000000" {
		t.Error(field, ranges, err)
	}
}

// FuzzParseSelector checks that a parsed selector can be written, and is then parsed as the same one.
func FuzzParseSelector(f *testing.F) {
	f.Add("shardRange(object.metadata.uid, '0x0000000000000000', '0x8000000000000000')")
	f.Add(`shardRange(object . metadata.namespace,"0xfffffffffffffff0",'0x10000000000000000')||shardRange(`)
	f.Add("shardRange(object.metadata.uid, '0x0")
	f.Fuzz(func(t *testing.T, text string) {
		field, ranges, err := ParseSelector(text)
		if err != nil {
			return
		}
		written, err := Selector(field, ranges)
		if err != nil {
			t.Fatal(err)
		}
		again, same, err := ParseSelector(written)
		if err != nil || again != field || !same.Equal(ranges) {
			t.Errorf("%q is written as %q, which is %s %v, %v", text, written, again, same, err)
		}
	})
}
