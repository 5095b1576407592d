package wirebench

import (
	"os"
	"testing"
)

func TestMain(m *testing.M) {
	Child()
	os.Exit(m.Run())
}

// rounds is how often everything is measured, in turn. Medians count.
var rounds = Setting("WIREBENCH_ROUNDS", 5)

// BenchmarkSync is what it costs to fill an informer's cache with 20,000 custom
// resources of 4.7 KB, in JSON.
func BenchmarkSync(b *testing.B) {
	Sync(b, replay(b, recordedWorkloads(), false), "workloads", Pairs("workloads"), rounds)
}

// BenchmarkSyncPods is the same for 20,000 pods in protobuf, which shares no values.
func BenchmarkSyncPods(b *testing.B) {
	Sync(b, replay(b, recordedPods(), false), "pods", Pairs("pods")[:4], rounds)
}

// relists are the ways to list 20,000 objects again of which none has changed.
var relists = []Pair{
	{"relist=LIST", "workloads/" + ours, false},
	{"relist=WatchList", "workloads/" + ours, true},
	{"relist=LIST/keep-unchanged", "workloads/" + keeping, false},
	{"relist=WatchList/keep-unchanged", "workloads/" + keeping, true},
}

// BenchmarkRelist is what it costs to list the custom resources once more.
func BenchmarkRelist(b *testing.B) {
	Sync(b, replay(b, recordedWorkloads(), true), "workloads", relists, rounds)
}

// TestObjectSize keeps the objects as large as the benchmarks' names say.
func TestObjectSize(t *testing.T) {
	if n := len(Object(12345)); n < 4600 || n > 4800 {
		t.Errorf("%d bytes", n)
	}
}
