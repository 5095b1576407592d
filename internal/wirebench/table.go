package wirebench

import (
	"cmp"
	"encoding/json"
	"os"
	"os/exec"
	"strconv"
	"testing"
)

// Pair is a measurement of ours beside client-go's.
type Pair struct {
	// Name is the name of the benchmarks.
	Name string
	// Mode is the collection and how our informer reads it.
	Mode string
	// WatchList is set if the list is streamed as a watch.
	WatchList bool
	// Informers is how many informers run at a time, zero for one.
	Informers int
}

// Pairs returns a collection's measurements, one for each option.
func Pairs(collection string) []Pair {
	var pairs []Pair
	for _, options := range []struct{ name, mode string }{
		{"", ours}, {"/no-managed-fields", dropping}, {"/no-managed-fields,shared-values", sharing},
	} {
		for _, list := range []struct {
			name string
			is   bool
		}{{"LIST", false}, {"WatchList", true}} {
			pairs = append(pairs,
				Pair{Name: collection + "/list=" + list.name + options.name,
					Mode: collection + "/" + options.mode, WatchList: list.is})
		}
	}
	return pairs
}

// column is one of the table's units.
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

// run measures a mode in a process of its own.
func run(tb testing.TB, server Server, p Pair) (c Cost) {
	text, err := json.Marshal(job{Mode: p.Mode, Server: server, Informers: p.Informers})
	if err != nil {
		tb.Fatal(err)
	}
	cmd := exec.CommandContext(tb.Context(), cmp.Or(server.Program, os.Args[0]))
	cmd.Env = append(os.Environ(), variable+"="+string(text),
		"KUBE_FEATURE_WatchListClient="+strconv.FormatBool(p.WatchList))
	cmd.Stderr = os.Stderr
	out, err := cmd.Output()
	if err != nil {
		tb.Fatal(p.Mode, err)
	}
	if err := json.Unmarshal(out, &c); err != nil {
		tb.Fatalf("%s: %v in %q", p.Mode, err, out)
	}
	return c
}

// Sync is a benchmark of filling an informer's cache, ours and client-go's, and of a relist if the
// server has one. It measures every mode once in each round.
func Sync(b *testing.B, server Server, collection string, pairs []Pair, rounds int) {
	columns := synced
	if server.Relist != "" {
		columns = relisted
	}
	compare(b, server, collection, pairs, rounds, columns)
}

// Footprint benchmarks the memory of synced informers, stacks included.
func Footprint(b *testing.B, server Server, collection string, pairs []Pair, rounds int) {
	compare(b, server, collection, pairs, rounds, []column{
		{"KB/informer", func(c Cost) float64 { return float64(c.Live+c.Stacks) / kilo / footprintInformers }},
		{"heap-KB/informer", func(c Cost) float64 { return float64(c.Live) / kilo / footprintInformers }},
	})
}

// footprintInformers is the number of informers that a footprint is averaged over.
const footprintInformers = 100

func compare(b *testing.B, server Server, collection string, pairs []Pair, rounds int, columns []column) {
	costs := map[Pair][]Cost{}
	for range rounds {
		done := map[Pair]bool{}
		for _, p := range pairs {
			for _, side := range []Pair{p.alone(), p.theirs(collection)} {
				if !done[side] {
					done[side] = true
					costs[side] = append(costs[side], run(b, server, side))
				}
			}
		}
	}
	for _, p := range pairs {
		for name, side := range map[string]Pair{"ours": p.alone(), "client-go": p.theirs(collection)} {
			for _, c := range costs[side] {
				// Those of the same name are measurements of the same thing.
				b.Run(p.Name+"/"+name, func(b *testing.B) {
					for b.Loop() {
					}
					b.ReportMetric(0, "ns/op")
					for _, col := range columns {
						b.ReportMetric(col.of(c), col.unit)
					}
				})
			}
		}
	}
}

// alone returns the pair's measurement of our side, theirs that of client-go's.
func (p Pair) alone() Pair {
	return Pair{Mode: p.Mode, WatchList: p.WatchList, Informers: p.Informers}
}

func (p Pair) theirs(collection string) Pair {
	return Pair{Mode: collection + "/" + clientGo, WatchList: p.WatchList, Informers: p.Informers}
}

// Setting returns a number from the environment.
func Setting(name string, otherwise int) int {
	if n, err := strconv.Atoi(os.Getenv(name)); err == nil {
		return n
	}
	return otherwise
}
