package wirebench

import (
	"cmp"
	"encoding/json"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"testing"
)

// Pair is a measurement of ours beside theirs.
type Pair struct {
	// Name is the name of the benchmarks.
	Name string
	// Ours and Theirs are the modes.
	Ours, Theirs string
	// WatchList is set if the list is streamed as a watch.
	WatchList bool
	// Informers is how many informers run at a time, zero for one.
	Informers int
	// part is what ours reads, theirPart what theirs reads.
	part, theirPart part
}

// side is one side of a pair.
type side struct {
	mode      string
	watchList bool
	informers int
	part      part
}

func (p Pair) ours() side   { return side{p.Ours, p.WatchList, p.Informers, p.part} }
func (p Pair) theirs() side { return side{p.Theirs, p.WatchList, p.Informers, p.theirPart} }

// Option is a way to read a collection, with two modes that do the same, ours and theirs.
type Option struct{ Name, Ours, Theirs string }

// Pairs returns a collection's measurements, two for each option.
func Pairs(collection string, options []Option) []Pair {
	var pairs []Pair
	for _, o := range options {
		for _, list := range []struct {
			name string
			is   bool
		}{{"LIST", false}, {"WatchList", true}} {
			p := Pair{Name: collection + "/list=" + list.name, Ours: collection + "/" + o.Ours,
				Theirs: collection + "/" + o.Theirs, WatchList: list.is}
			if o.Name != "" {
				p.Name += "/" + o.Name
			}
			pairs = append(pairs, p)
		}
	}
	return pairs
}

// column is a unit of the table, and how to get it from a Cost.
type column struct {
	unit string
	of   func(Cost) float64
}

const (
	kilo = 1 << 10
	mega = 1 << 20
)

// synced are the columns of the initial list, relisted those of a second one.
var (
	synced = []column{
		{"cpu-s", func(c Cost) float64 { return c.CPU.Seconds() }},
		{"peak-MB", func(c Cost) float64 { return float64(c.Peak) / mega }},
		{"live-MB", func(c Cost) float64 { return float64(c.Live) / mega }},
		{"mallocs", func(c Cost) float64 { return float64(c.Mallocs) }},
	}
	relisted = []column{
		{"cpu-s", func(c Cost) float64 { return c.Relist.CPU.Seconds() }},
		{"alloc-MB", func(c Cost) float64 { return float64(c.Relist.Allocated) / mega }},
		{"peak-MB", func(c Cost) float64 { return float64(c.Relist.Peak) / mega }},
		{"live-to-steady", func(c Cost) float64 { return float64(c.Relist.Live) / float64(c.Live) }},
	}
)

// run measures one side of a pair in a process of its own.
func run(tb testing.TB, server Server, s side) (c Cost) {
	if s.part != (part{}) {
		server.Host += s.part.path
		server.Objects = s.part.objects
	}
	text, err := json.Marshal(job{s.mode, server, s.part.selector, s.informers})
	if err != nil {
		tb.Fatal(err)
	}
	cmd := exec.CommandContext(tb.Context(), cmp.Or(server.Program, os.Args[0]))
	cmd.Env = append(os.Environ(), variable+"="+string(text),
		"KUBE_FEATURE_WatchListClient="+strconv.FormatBool(s.watchList))
	cmd.Stderr = os.Stderr
	out, err := cmd.Output()
	if err != nil {
		tb.Fatal(s.mode, err)
	}
	if err := json.Unmarshal(out, &c); err != nil {
		tb.Fatalf("%s: %v in %q", s.mode, err, out)
	}
	return c
}

// Measure measures one mode.
func Measure(tb testing.TB, server Server, mode string, watchList bool) Cost {
	tb.Helper()
	return run(tb, server, side{mode: mode, watchList: watchList})
}

// Sync is a benchmark of filling an informer's cache, ours and theirs, and of a relist if the server supports
// it. It measures every mode once in each round.
func Sync(b *testing.B, server Server, pairs []Pair) {
	columns := synced
	if server.Relist != "" {
		columns = relisted
	}
	compare(b, server, pairs, columns)
}

// Footprint benchmarks the memory of synced informers, stacks included.
func Footprint(b *testing.B, server Server, pairs []Pair) {
	compare(b, server, pairs, []column{
		{"KB/informer", func(c Cost) float64 { return float64(c.Live+c.Stacks) / kilo / footprintInformers }},
		{"heap-KB/informer", func(c Cost) float64 { return float64(c.Live) / kilo / footprintInformers }},
	})
}

// footprintInformers is the number of informers that a footprint is averaged over.
const footprintInformers = 100

func compare(b *testing.B, server Server, pairs []Pair, columns []column) {
	reportAll(b, pairs, measureAll(b, server, pairs), columns)
}

// reportAll reports what measureAll has measured.
func reportAll(b *testing.B, pairs []Pair, costs map[side][]Cost, columns []column) {
	for _, p := range pairs {
		for name, s := range map[string]side{"ours": p.ours(), "client-go": p.theirs()} {
			for _, c := range costs[s] {
				report(b, p.Name+"/"+name, columns, func(col column) float64 { return col.of(c) })
			}
		}
	}
}

// report makes the testing package print a measurement. Several with the same name are measurements of the
// same thing.
func report(b *testing.B, name string, columns []column, value func(column) float64) {
	b.Run(name, func(b *testing.B) {
		for b.Loop() {
		}
		b.ReportMetric(0, "ns/op")
		for _, col := range columns {
			b.ReportMetric(value(col), col.unit)
		}
	})
}

// measureAll measures every side of the pairs once in each round.
func measureAll(b *testing.B, server Server, pairs []Pair) map[side][]Cost {
	costs := map[side][]Cost{}
	for range Rounds * max(server.Repeat, 1) {
		done := map[side]bool{}
		for _, p := range pairs {
			for _, s := range []side{p.ours(), p.theirs()} {
				if !done[s] {
					done[s] = true
					costs[s] = append(costs[s], run(b, server, s))
				}
			}
		}
	}
	return costs
}

// CheckPairs measures each side of the pairs once, with a small server. It fails unless ours read streams,
// except for the facade, which must not. With -short, it measures the first pair only.
func CheckPairs(t *testing.T, server Server, pairs []Pair) {
	if testing.Short() {
		pairs = pairs[:1]
	}
	for _, p := range pairs {
		for _, s := range []side{p.ours(), p.theirs()} {
			c := run(t, server, s)
			streams := s == p.ours() && !strings.HasSuffix(s.mode, "/"+facade)
			if c.CPU == 0 || c.Mallocs == 0 || (c.Streamed > 0) != streams {
				t.Errorf("%s, %s: %+v", p.Name, s.mode, c)
			}
		}
	}
}

// Rounds is how often each mode is measured, in turn.
var Rounds = Setting("WIREBENCH_ROUNDS", 5)

// Objects is the number of objects that most benchmarks have.
var Objects = Setting("WIREBENCH_OBJECTS", 20000)

// Setting returns a number from the environment.
func Setting(name string, otherwise int) int {
	if n, err := strconv.Atoi(os.Getenv(name)); err == nil {
		return n
	}
	return otherwise
}
