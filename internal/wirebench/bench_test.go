package wirebench

import (
	"cmp"
	"encoding/json"
	"os"
	"os/exec"
	"slices"
	"strconv"
	"testing"
)

// rounds is how often everything is measured, in turn. Medians count.
var rounds = setting("WIREBENCH_ROUNDS", 5)

// run measures a mode in a process of its own.
func run(tb testing.TB, server, mode string, watchList bool) cost {
	cmd := exec.CommandContext(tb.Context(), os.Args[0])
	cmd.Env = append(os.Environ(), child+"="+mode, "WIREBENCH_SERVER="+server,
		"KUBE_FEATURE_WatchListClient="+strconv.FormatBool(watchList))
	cmd.Stderr = os.Stderr
	out, err := cmd.Output()
	if err != nil {
		tb.Fatal(mode, err)
	}
	var c cost
	if err := json.Unmarshal(out, &c); err != nil {
		tb.Fatalf("%s: %v in %q", mode, err, out)
	}
	return c
}

// pairs are what is set side by side: a name, and the way that our informer and
// client-go's get their list.
var pairs = []struct {
	name         string
	mode         string
	ours, theirs bool // by WatchList
}{
	{"list=LIST", "ours", false, false},
	{"list=WatchList", "ours", true, true},
	{"list=LIST/no-managed-fields", "drop", false, false},
	{"list=WatchList/no-managed-fields", "drop", true, true},
	{"list=LIST/no-managed-fields,shared-values", "share", false, false},
	{"list=WatchList/no-managed-fields,shared-values", "share", true, true},
}

type side struct {
	mode      string
	watchList bool
}

// BenchmarkSync is what it costs to fill an informer's cache with 20,000 custom
// resources of 4.7 KB.
func BenchmarkSync(b *testing.B) {
	server := replay(b)
	costs := map[side][]cost{}
	for range rounds {
		done := map[side]bool{}
		for _, p := range pairs {
			for _, s := range []side{{p.mode, p.ours}, {"client-go", p.theirs}} {
				if !done[s] {
					done[s] = true
					costs[s] = append(costs[s], run(b, server.URL, s.mode, s.watchList))
				}
			}
		}
	}
	for _, p := range pairs {
		for name, s := range map[string]side{"ours": {p.mode, p.ours}, "client-go": {"client-go", p.theirs}} {
			b.Run(p.name+"/"+name, func(b *testing.B) {
				for b.Loop() {
				}
				b.ReportMetric(0, "ns/op")
				b.ReportMetric(median(costs[s], func(c cost) float64 { return c.CPU.Seconds() }), "cpu-s")
				b.ReportMetric(median(costs[s], func(c cost) float64 { return float64(c.Peak) / (1 << 20) }), "peak-MB")
				b.ReportMetric(median(costs[s], func(c cost) float64 { return float64(c.Live) / (1 << 20) }), "live-MB")
				b.ReportMetric(median(costs[s], func(c cost) float64 { return float64(c.Mallocs) }), "mallocs")
			})
		}
	}
}

func median[T any, V cmp.Ordered](all []T, of func(T) V) V {
	var values []V
	for _, v := range all {
		values = append(values, of(v))
	}
	slices.Sort(values)
	return values[len(values)/2]
}

// TestObjectSize keeps the objects as large as the benchmark's name says.
func TestObjectSize(t *testing.T) {
	if n := len(object(12345)); n < 4600 || n > 4800 {
		t.Errorf("%d bytes", n)
	}
}
