//go:build linux

package judge_test

import (
	"math"
	"strings"
	"testing"
	"time"

	"github.com/kubewright/kubewright/internal/guarantee"
	"github.com/kubewright/kubewright/runtime/shard"
	"github.com/kubewright/kubewright/test/e2e/sharded/internal/judge"
	"github.com/kubewright/kubewright/test/e2e/sharded/internal/wire"
)

const (
	half   = math.MaxUint64/2 + 1
	second = wire.Time(time.Second)
)

var (
	limits = judge.Limits{RenewDeadline: 4 * time.Second, Slack: time.Second}
	lower  = shard.Ranges{{First: 0, Last: half - 1}}
	upper  = shard.Ranges{{First: half, Last: math.MaxUint64}}
)

// write is a write of n/low or n/up.
func write(member string, hash uint64, token int64, looked, arrived wire.Time) judge.Write {
	w := judge.Write{Member: member, Object: "n/low", Stamped: true, Hash: hash, Range: lower[0], Token: token,
		Looked: looked, Arrived: arrived}
	if hash >= half {
		w.Object, w.Range = "n/up", upper[0]
	}
	return w
}

// story is a round in which nothing is wrong: a has the lower half and b the upper one until b dies at 10 s.
// At 17 s a gets the upper half, lists it, and reconciles what has changed there.
func story() judge.Records {
	r := judge.Records{
		Tables: []judge.Table{
			{Began: 1 * second, Done: 1*second + 1, Entries: []judge.Entry{{0, "a", 3}, {half, "b", 4}}},
			{Began: 17 * second, Done: 17*second + 1, Entries: []judge.Entry{{0, "a", 5}}},
		},
		Lists: []judge.List{
			{Member: "a", Ranges: lower, Began: 2 * second, Ended: 2*second + 5},
			{Member: "b", Ranges: upper, Began: 2 * second, Ended: 2*second + 5},
			{Member: "a", Ranges: upper, Began: 18 * second, Ended: 19 * second},
		},
		Writes: []judge.Write{
			write("a", 7, 3, 9*second, 9*second+9),
			write("b", half, 4, 9*second, 9*second+9),
			write("a", half, 5, 20*second, 20*second+9),
		},
		Changes: []judge.Change{
			{UID: "low", Generation: 2, At: 8 * second},
			{UID: "up", Generation: 2, At: 11 * second},
			{UID: "old", Deleted: true, At: 9 * second},
		},
		Sights: []judge.Sight{
			{UID: "low", Observed: 2, At: 9 * second},
			{UID: "up", Observed: 1, At: 9 * second},
			{UID: "up", Observed: 2, At: 20 * second},
			{UID: "old", Gone: true, At: 21 * second},
		},
		Rounds: []judge.Round{{Kind: "kill", Began: 7 * second, Fault: 10 * second, Ended: 30 * second,
			Bound: 10 * time.Second, Filters: true}},
	}
	for t := range wire.Time(30) {
		r.Renewals = append(r.Renewals, judge.Renewal{Member: "a", Sent: t * second, Answered: t*second + 9})
		if t < 10 {
			r.Renewals = append(r.Renewals, judge.Renewal{Member: "b", Sent: t * second, Answered: t*second + 9})
		}
	}
	return r
}

// TestRight judges a story in which nothing is wrong.
func TestRight(t *testing.T) {
	v := judge.Judge(story(), limits)
	if len(v.Wrong) > 0 {
		t.Error(strings.Join(v.Wrong, "\n"))
	}
	want := judge.Kind{
		Rounds: 1, Changes: 3, Gap: 11 * time.Second, Bound: 10 * time.Second, List: time.Second, Lists: 1,
	}
	if len(v.Slow) > 0 || v.Writes != 3 || v.Late != 0 || *v.Kinds["kill"] != want {
		t.Errorf("%d writes, %d late, %+v, want %+v", v.Writes, v.Late, *v.Kinds["kill"], want)
	}
}

// TestLate: writes that arrive late after a look-up in time are counted, and aren't wrong.
func TestLate(t *testing.T) {
	for _, arrived := range []wire.Time{
		15 * second, // after the end of the Lease
		18 * second, // after a has got the range
	} {
		r := story()
		r.Writes = append(r.Writes, write("b", half, 4, 12*second, arrived))
		if v := judge.Judge(r, limits); len(v.Wrong) > 0 || v.Late != 1 {
			t.Errorf("%d late, wrong: %q", v.Late, v.Wrong)
		}
	}
}

// TestFrozen: the bound of a round doesn't grow by a list during which the member was frozen.
func TestFrozen(t *testing.T) {
	r := story()
	r.Rounds[0].Frozen = "a"
	if v := judge.Judge(r, limits); v.Kinds["kill"].List != 0 || len(v.Slow) != 1 {
		t.Errorf("lists took %v, slow were %v", v.Kinds["kill"].List, v.Slow)
	}
}

// TestWrong plants faults, each of which the judge must report.
func TestWrong(t *testing.T) {
	var up judge.Write
	tests := map[string]struct {
		plant func(*judge.Records)
		want  string
	}{
		"a look after the end of the lease": {func(r *judge.Records) {
			up.Looked = 14 * second
			r.Writes = append(r.Writes, up)
		}, "b wrote n/up: looked up 1s after the end of its lease"},
		"a renewal that wasn't answered before the look": {func(r *judge.Records) {
			up.Looked = 14 * second
			r.Writes = append(r.Writes, up)
			r.Renewals = append(r.Renewals, judge.Renewal{Member: "b", Sent: 12 * second, Answered: 15 * second})
		}, "looked up 1s after the end of its lease"},
		"a look after another has the range, by a lease that holds": {func(r *judge.Records) {
			up.Looked = 18 * second
			r.Writes = append(r.Writes, up)
			r.Renewals = append(r.Renewals, judge.Renewal{Member: "b", Sent: 16 * second, Answered: 16 * second})
		}, "after a got it by token 5"},
		"a stale token after the range came back": {func(r *judge.Records) {
			up.Looked = 25 * second
			r.Writes = append(r.Writes, up)
			r.Renewals = append(r.Renewals, judge.Renewal{Member: "b", Sent: 24 * second, Answered: 24 * second})
			r.Tables = append(r.Tables, judge.Table{Began: 23 * second, Done: 23 * second,
				Entries: []judge.Entry{{0, "a", 5}, {half, "b", 6}}})
		}, "after a got it by token 5"},
		"a range that is nobody's": {func(r *judge.Records) {
			up.Looked, up.Member, up.Token = 25*second, "a", 5
			r.Writes = append(r.Writes, up)
			r.Tables = append(r.Tables, judge.Table{Began: 23 * second, Done: 23 * second,
				Entries: []judge.Entry{{0, "", 6}}})
		}, "by token 5: looked up 2s after"},
		"a write that the member didn't allow": {func(r *judge.Records) {
			r.Writes = append(r.Writes, judge.Write{Member: "a", Object: "n/x", Arrived: 20 * second})
		}, "a wrote n/x, which its member didn't allow"},
		"a token that no table gave": {func(r *judge.Records) {
			up.Looked, up.Member, up.Token = 25*second, "a", 6
			r.Writes = append(r.Writes, up)
		}, "by token 6, which no table gave it"},
		"a range that the object isn't in": {func(r *judge.Records) {
			up.Looked, up.Range = 9*second, lower[0]
			r.Writes = append(r.Writes, up)
		}, "by token 4, which no table gave it"},
		"a change that nobody reconciled": {func(r *judge.Records) {
			r.Changes = append(r.Changes, judge.Change{UID: "up", Generation: 3, At: 20 * second})
		}, "generation 3 of up was never reconciled"},
		"a deleted bakery whose finalizer stays": {func(r *judge.Records) {
			r.Changes = append(r.Changes, judge.Change{UID: "low", Deleted: true, At: 20 * second})
		}, "of low was never reconciled"},
		"a change that was reconciled too late": {func(r *judge.Records) {
			r.Sights[2].At = 23*second + 1
		}, "generation 2 of up was reconciled after 12.000000001s, not after 10s + the list"},
		"a deletion that was reconciled too late": {func(r *judge.Records) {
			r.Sights[3].At = 23 * second
		}, "of old was reconciled after 13s"},
		"a list of everything on a hand-over": {func(r *judge.Records) {
			r.Lists[2].Ranges = shard.All()
		}, "a lists"},
		"a second list of what a member has": {func(r *judge.Records) {
			r.Lists = append(r.Lists, judge.List{Member: "a", Ranges: lower, Began: 25 * second, Ended: 26 * second})
		}, "a lists"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			r := story()
			up = write("b", half, 4, 0, 29*second)
			test.plant(&r)
			v := judge.Judge(r, limits)
			if slow := strings.Contains(name, "too late"); (len(v.Slow) > 0) != slow {
				t.Errorf("slow rounds: %v", v.Slow)
			}
			if len(v.Wrong) != 1 || !strings.Contains(v.Wrong[0], test.want) ||
				guarantee.Named(v.Wrong[0]) == "" {
				t.Errorf("wrong: %q, want one with a guarantee and %q", v.Wrong, test.want)
			}
		})
	}
}

// TestAllowed plants what looks wrong and is allowed.
func TestAllowed(t *testing.T) {
	for name, plant := range map[string]func(*judge.Records){
		"a range that was another's in between is listed anew": func(r *judge.Records) {
			r.Tables = append(r.Tables,
				judge.Table{Began: 22 * second, Done: 22 * second, Entries: []judge.Entry{{0, "a", 5}, {half, "c", 6}}},
				judge.Table{Began: 23 * second, Done: 23 * second, Entries: []judge.Entry{{0, "a", 7}}})
			r.Lists = append(r.Lists, judge.List{Member: "a", Ranges: upper, Began: 24 * second, Ended: 25 * second})
		},
		"a list that failed is repeated": func(r *judge.Records) {
			r.Lists = append(r.Lists, judge.List{Member: "a", Ranges: upper, Began: 18*second - 1})
		},
		"a member's token grows when its ranges are joined": func(r *judge.Records) {
			r.Writes = append(r.Writes, write("a", 7, 3, 18*second, 18*second))
		},
		"what was reconciled before the fault counts from the change": func(r *judge.Records) {
			r.Changes = append(r.Changes, judge.Change{UID: "low", Generation: 1, At: 7 * second})
		},
		"what was changed between rounds isn't judged": func(r *judge.Records) {
			r.Changes = append(r.Changes, judge.Change{UID: "none", Generation: 1, At: 40 * second})
		},
	} {
		t.Run(name, func(t *testing.T) {
			r := story()
			plant(&r)
			if v := judge.Judge(r, limits); len(v.Wrong) > 0 {
				t.Errorf("wrong: %q", v.Wrong)
			}
		})
	}
}

// TestParseTable reads the text that package sharding writes.
func TestParseTable(t *testing.T) {
	entries, err := judge.ParseTable("protocol 1\nfield object.metadata.uid\n" +
		"kinds bakeries.shop\ngeneration 17\n" +
		"0000000000000000 baker-a token 16 objects 120\n" +
		"4000000000000000 baker-b token 17 objects 80 to baker-a part 30\n" +
		"8000000000000000 - token 3 objects 0\n")
	if err != nil {
		t.Fatal(err)
	}
	table := judge.Table{Entries: entries}
	for owner, want := range map[string]string{
		"baker-a": "0x0000000000000000-0x4000000000000000", "baker-b": "0x4000000000000000-0x8000000000000000",
		"": "0x8000000000000000-0x10000000000000000",
	} {
		if got := table.Of(owner).String(); got != want {
			t.Errorf("%q has %s, want %s", owner, got, want)
		}
	}
	for _, text := range []string{"", "0000000000000000 a token x\n", "000000000000000g a token 1\n",
		"0000000000000001 a token 1\n"} {
		if _, err := judge.ParseTable(text); err == nil {
			t.Errorf("%q is read as a table", text)
		}
	}
}

// TestHistory prints the history of a change that was reconciled too late.
func TestHistory(t *testing.T) {
	r := story()
	for i := range r.Changes {
		if r.Changes[i].UID == "up" {
			r.Changes[i].Hash = half
		}
	}
	r.Sights[2].At = 24 * second
	v := judge.Judge(r, limits)
	want := strings.TrimLeft(`
  1.00 s the object up is changed
  7.00 s ranges: map[a:1]
  7.00 s the object is "a"'s
  8.00 s a lists 0x8000000000000000-0x10000000000000000 for 1.00 s
 10.00 s a writes n/up
 14.00 s it is reconciled
`, "\n")
	if got := judge.History(r, 0, v.Slow[r.Rounds[0].Began]); got != want {
		t.Errorf("got\n%s, want\n%s", got, want)
	}
}
