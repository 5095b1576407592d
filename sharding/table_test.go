package sharding

import (
	"fmt"
	"math/rand/v2"
	"reflect"
	"strings"
	"testing"

	"github.com/kubewright/kubewright/runtime/shard"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/sharding"
)

// TestHashIsTheServers compares hashes with those of the API server's own code.
func TestHashIsTheServers(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 1))
	values := []string{"", "default", "kube-system", "aaaaaaaa-bbbb-cccc-dddd-eeeeeeeeeeee"}
	for range 1000 {
		values = append(values, fmt.Sprintf("%x", random.Uint64()))
	}
	for _, value := range values {
		if ours, theirs := fmt.Sprintf("%016x", shard.Hash(value)), sharding.HashField(value); ours != theirs {
			t.Errorf("%q: %s, the server's hash is %s", value, ours, theirs)
		}
	}
}

// TestRangeIsTheServers compares what ranges contain with what the API server's own code selects by them.
func TestRangeIsTheServers(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	for range 300 {
		namespace := fmt.Sprintf("team-%d", random.IntN(1000))
		object := &metav1.PartialObjectMetadata{ObjectMeta: metav1.ObjectMeta{Namespace: namespace}}
		hash := shard.Hash(namespace)
		for _, r := range []shard.Range{
			everything, {First: 0, Last: hash}, {First: hash, Last: hash}, {First: hash, Last: lastHash},
			{First: hash + 1, Last: lastHash}, {First: 0, Last: hash - 1}, {First: 0, Last: random.Uint64()},
		} {
			first, end, _ := strings.Cut(r.String(), "-")
			selector := sharding.NewSelector(sharding.ShardRangeRequirement{
				Key: string(shard.ByNamespace), Start: first, End: end,
			})
			if selected, err := selector.Matches(object); err != nil || selected != r.Contains(hash) {
				t.Errorf("%s contains %x: %t, the server says %t, %v", r, hash, r.Contains(hash), selected, err)
			}
		}
	}
}

const someTable = `protocol 1
field object.metadata.namespace
kinds bakeries.shop.example.com cakes.shop.example.com
generation 17
0000000000000000 baker-a-x7k2p token 16 objects 120
4000000000000000 baker-b-9wq4d token 17 objects 80 to baker-c-m2bnt part 30
8000000000000000 - token 3 objects 0
`

func TestTableIsText(t *testing.T) {
	table, err := parseTable(someTable)
	if err != nil {
		t.Fatal(err)
	}
	if text, err := table.text(); err != nil || text != someTable {
		t.Errorf("%v\n%s", err, text)
	}
	if want := (entry{1 << 62, "baker-b-9wq4d", 17, 80, "baker-c-m2bnt", 30}); table.Ranges[1] != want {
		t.Errorf("%+v, want %+v", table.Ranges[1], want)
	}
	if span := table.rangeAt(1); span != (shard.Range{First: 1 << 62, Last: 1<<63 - 1}) {
		t.Errorf("the second range is %s", span)
	}
}

// TestBadTables: the error for a table that can't be parsed has the place and the reason.
func TestBadTables(t *testing.T) {
	for _, c := range []struct{ old, new, want string }{
		{"protocol 1", "protocol 2", "protocol 2, this program knows 1"},
		{"protocol 1\n", "", `line 1: "field" stands where "protocol" should`},
		{someTable, "", `line 1: "protocol" is missing`},
		{"field object.metadata.namespace\n", "field\n", "line 2: a word is missing"},
		{"kinds bakeries.shop.example.com cakes", "kinds pods cakes", "line 3: the kinds aren't sorted"},
		{"generation 17", "generation many", `line 4: "many" is no number`},
		{"generation 17", "generation 17 18", `line 4: "18" is too much`},
		{"generation 17", "generation 15", "token 16 isn't between 0 and the generation, 15"},
		{"4000000000000000", "400000000000000", `line 6: "400000000000000" is no hash of 16 hexadecimal digits`},
		{"8000000000000000", "4000000000000000", "range 4000000000000000 isn't after the one before it"},
		{"0000000000000000", "0000000000000001", "the first range doesn't begin at 0"},
		{"token 3", "tokens 3", `line 7: "tokens" stands where "token" should`},
		{"objects 80", "objects -80", `line 6: "-80" is no number`},
		{"part 30", "part", "line 6: a word is missing"},
		{"part 30", "part 30 x", `line 6: "x" is too much`},
		{"to baker-c-m2bnt", "to baker-b-9wq4d", "can't be asked for"},
		{"- token 3", "baker-b-9wq4d token 0", "has an owner, but no token"},
		{" token 16 objects 120", "", "line 5: a word is missing"},
	} {
		text := strings.Replace(someTable, c.old, c.new, 1)
		if _, err := parseTable(text); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%q instead of %q: error %v, want %s", c.new, c.old, err, c.want)
		}
	}
}

func FuzzTable(f *testing.F) {
	f.Add(someTable)
	f.Add(strings.ReplaceAll(someTable, "protocol 1", "protocol +1"))
	f.Fuzz(func(t *testing.T, text string) {
		table, err := parseTable(text)
		if err != nil {
			return
		}
		again, err := table.text()
		if err != nil {
			if len(text) < maxTable/2 {
				t.Fatal(err)
			}
			return
		}
		if back, err := parseTable(again); err != nil || !reflect.DeepEqual(back, table) {
			t.Errorf("%v: %+v became %+v", err, table, back)
		}
		for i := range table.Ranges {
			span := table.rangeAt(i)
			if span.First > span.Last || table.indexOf(span.First) != i || table.indexOf(span.Last) != i {
				t.Errorf("range %d is %s", i, span)
			}
		}
	})
}

const someReport = `protocol 1
field object.metadata.namespace
kinds pods
table 5cc0bd3a
leaving
0000000000000000 -
4000000000000000 objects 12 places 3
5000000000000000 objects 0 places 0
8000000000000000 -
`

func TestReportIsText(t *testing.T) {
	r, err := parseReport(someReport)
	if err != nil {
		t.Fatal(err)
	}
	if text := r.text(); text != someReport {
		t.Errorf("%+v is\n%s", r, text)
	}
	for _, c := range []struct{ old, new, want string }{
		{"table 5cc0bd3a\n", "", `line 4: "leaving" stands where "table" should`},
		{"objects 12", "12", `line 7: "12" stands where "objects" should`},
		{"5000000000000000", "3000000000000000", "line 8: 3000000000000000 isn't after the piece before it"},
		{"leaving\n", "leaving now\n", `line 5: "now" is too much`},
	} {
		text := strings.Replace(someReport, c.old, c.new, 1)
		if _, err := parseReport(text); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%q instead of %q: error %v, want %s", c.new, c.old, err, c.want)
		}
	}
}

func FuzzReport(f *testing.F) {
	f.Add(someReport)
	f.Fuzz(func(t *testing.T, text string) {
		r, err := parseReport(text)
		if err != nil {
			return
		}
		if back, err := parseReport(r.text()); err != nil || !reflect.DeepEqual(back, r) {
			t.Errorf("%v: %+v became %+v", err, r, back)
		}
	})
}
