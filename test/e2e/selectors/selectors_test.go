// Package selectors compares our parser of shard selectors with the API server's.
package selectors

import (
	"math/rand/v2"
	"strings"
	"testing"

	"k8s.io/apiserver/pkg/sharding"

	"github.com/kubewright/kubewright/runtime/shard"
)

// pieces are the parts of random selectors. Other parts of the API server's language are left out on purpose,
// see [shard.ParseSelector].
var pieces = []string{
	"shardRange", "(", ")", ",", " ", "\t", "||", "&&", "object.metadata.uid", "object.metadata.namespace",
	"object", ".", "metadata", "uid", "'0x0000000000000000'", "'0x7000000000000000'",
	`"0x8000000000000000"`, "'0x10000000000000000'", "'0x20000000000000000'", "'0x1'",
	"'0xF000000000000000'", "'8000000000000000'", "'0x",
}

// right returns a valid selector in pieces.
func right(r *rand.Rand) (text []string) {
	field := []string{"object.metadata.uid", "object.metadata.namespace"}[r.IntN(2)]
	for i := range 1 + r.IntN(3) {
		if i > 0 {
			text = append(text, "||")
		}
		first := []string{"'0x0000000000000000'", `"0x4000000000000000"`}[r.IntN(2)]
		behind := []string{"'0x8000000000000000'", `"0x10000000000000000"`}[r.IntN(2)]
		text = append(text, "shardRange", "(", field, ",", first, ",", behind, ")")
	}
	return text
}

// TestParser changes valid selectors in a few places, and compares the results of the two parsers.
func TestParser(t *testing.T) {
	r := rand.New(rand.NewPCG(4, 0))
	selectors, accepted, refused := 20_000, 0, 0
	if testing.Short() {
		selectors = 5000
	}
	for range selectors {
		text := right(r)
		for range r.IntN(3) {
			at := r.IntN(len(text))
			switch r.IntN(3) {
			case 0:
				text[at] = pieces[r.IntN(len(pieces))]
			case 1:
				text[at] += pieces[r.IntN(len(pieces))]
			default:
				text[at] = ""
			}
		}
		joined := strings.Join(text, "")
		field, ranges, err := shard.ParseSelector(joined)
		theirs, theirErr := sharding.Parse(joined)
		if err != nil {
			refused++
			// Our parser accepts parentheses only in calls of shardRange, and no method calls. The server's parser
			// ignores the receiver of a method call.
			other := strings.Count(joined, "(") != strings.Count(joined, "shardRange") ||
				strings.Contains(joined, ").shardRange")
			if theirErr == nil && !other {
				t.Errorf("%s: ours says %v", joined, err)
			}
			continue
		}
		accepted++
		if theirErr != nil {
			t.Fatalf("%s: theirs says %v", joined, theirErr)
		}
		var same []shard.Range
		for _, requirement := range theirs.Requirements() {
			if requirement.Key != string(field) {
				t.Errorf("%s: field %s, theirs %s", joined, field, requirement.Key)
			}
			one := "shardRange(" + requirement.Key + ", '" + requirement.Start + "', '" + requirement.End + "')"
			_, range1, err := shard.ParseSelector(one)
			if err != nil {
				t.Fatal(err)
			}
			same = append(same, range1...)
		}
		if !ranges.Equal(shard.Join(same...)) {
			t.Errorf("%s: %v, theirs %v", joined, ranges, same)
		}
		written, err := shard.Selector(field, ranges)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := sharding.Parse(written); err != nil {
			t.Errorf("%s, written by us: %v", written, err)
		}
	}
	if accepted < 1000 || refused < 1000 {
		t.Errorf("%d selectors were accepted, %d refused", accepted, refused)
	}
}
