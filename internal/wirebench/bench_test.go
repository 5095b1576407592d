package wirebench

import (
	"fmt"
	"os"
	"slices"
	"testing"
)

func TestMain(m *testing.M) {
	Child()
	os.Exit(m.Run())
}

// rounds is how often each mode is measured, in turn.
var rounds = Setting("WIREBENCH_ROUNDS", 5)

// moved are programs that moved from client-go by import path alone.
var moved = []Pair{
	{Name: "workloads/list=LIST/import-path", Mode: "workloads/" + facade},
	{Name: "workloads/list=WatchList/import-path", Mode: "workloads/" + facade, WatchList: true},
}

// BenchmarkSync measures the cost of filling an informer's cache with 20,000 custom resources of
// 4.7 KB, in JSON.
func BenchmarkSync(b *testing.B) {
	Sync(b, replay(b, recordedWorkloads(), false), "workloads", slices.Concat(Pairs("workloads"), moved), rounds)
}

// BenchmarkSyncPods is the same for 20,000 pods in protobuf, which shares no values.
func BenchmarkSyncPods(b *testing.B) {
	Sync(b, replay(b, recordedPods(), false), "pods", Pairs("pods")[:4], rounds)
}

// relists are the ways to list 20,000 unchanged objects again.
var relists = []Pair{
	{Name: "relist=LIST", Mode: "workloads/" + ours},
	{Name: "relist=WatchList", Mode: "workloads/" + ours, WatchList: true},
	{Name: "relist=LIST/keep-unchanged", Mode: "workloads/" + keeping},
	{Name: "relist=WatchList/keep-unchanged", Mode: "workloads/" + keeping, WatchList: true},
}

// BenchmarkRelist measures the cost of listing the custom resources once more.
func BenchmarkRelist(b *testing.B) {
	Sync(b, replay(b, recordedWorkloads(), true), "workloads", relists, rounds)
}

// BenchmarkFootprint measures the memory of a synced informer of few small objects, as most
// informers of a program are.
func BenchmarkFootprint(b *testing.B) {
	for _, n := range []int{1, 20, 500} {
		Footprint(b, replay(b, recordedConfigMaps(n), false), "configmaps", []Pair{
			{Name: fmt.Sprintf("objects=%d", n), Mode: "configmaps/" + ours, WatchList: true,
				Informers: footprintInformers},
		}, rounds)
	}
}

// TestObjectSize keeps the objects as large as the benchmarks' names say.
func TestObjectSize(t *testing.T) {
	if n := len(Object(12345)); n < 4600 || n > 4800 {
		t.Errorf("%d bytes", n)
	}
}
