package wirebench

import (
	"fmt"
	"os"
	"slices"
	"testing"
)

func TestMain(m *testing.M) {
	Child(nil)
	os.Exit(m.Run())
}

// moved are programs that moved from client-go by import path alone.
var moved = Pairs("workloads", []Option{{"import-path", facade, clientGo}})

// BenchmarkSync measures the cost of filling an informer's cache with 20,000 custom resources of
// 4.7 KB, in JSON.
func BenchmarkSync(b *testing.B) {
	Sync(b, Replay(b, RecordWorkloads(Objects)), slices.Concat(Pairs("workloads", Generated), moved))
}

// BenchmarkSyncPods does the same for 20,000 pods in protobuf, which has no mode that shares values.
func BenchmarkSyncPods(b *testing.B) {
	Sync(b, Replay(b, RecordPods(Objects)), Pairs("pods", Generated[:2]))
}

// BenchmarkSyncClientGo does the same with client-go's clients, for the informers of client-go and for ours.
func BenchmarkSyncClientGo(b *testing.B) {
	Sync(b, Replay(b, RecordPods(Objects)), Pairs(clientset, ClientGo))
	Sync(b, Replay(b, RecordWorkloads(Objects)), Pairs(unstructured, Dynamic))
	Sync(b, Replay(b, RecordMetadata(Objects)), slices.Concat(Pairs(partialMetadata, ClientGo),
		Pairs(generatedPartial, ClientGo[:1])))
}

// relists are the ways to list 20,000 unchanged objects again.
var relists = []Pair{
	{Name: "relist=LIST", Ours: "workloads/" + ours, Theirs: "workloads/" + clientGo},
	{Name: "relist=WatchList", Ours: "workloads/" + ours, Theirs: "workloads/" + clientGo, WatchList: true},
	{Name: "relist=LIST/keep-unchanged", Ours: "workloads/" + keeping, Theirs: "workloads/" + clientGo},
	{Name: "relist=WatchList/keep-unchanged", Ours: "workloads/" + keeping, Theirs: "workloads/" + clientGo,
		WatchList: true},
}

// BenchmarkRelist measures the cost of listing the custom resources once more.
func BenchmarkRelist(b *testing.B) {
	Sync(b, replay(b, RecordWorkloads(Objects), true), relists)
}

// BenchmarkFootprint measures the memory of a synced informer of few small objects, like most informers of a
// program.
func BenchmarkFootprint(b *testing.B) {
	for _, n := range []int{1, 20, 500} {
		Footprint(b, Replay(b, RecordConfigMaps(n)), []Pair{
			{Name: fmt.Sprintf("objects=%d", n), Ours: "configmaps/" + ours, Theirs: "configmaps/" + clientGo,
				WatchList: true, Informers: footprintInformers},
		})
	}
}

// TestObjectSize checks that objects have the size that the benchmarks' documentation states.
func TestObjectSize(t *testing.T) {
	if n := len(Object(12345)); n < 4600 || n > 4800 {
		t.Errorf("%d bytes", n)
	}
}

// TestCustomSize does the same for the objects of ReplayKinds.
func TestCustomSize(t *testing.T) {
	if n := len(custom("Workload", 1234)); n < 1950 || n > 2100 {
		t.Errorf("%d bytes", n)
	}
}

// TestReplay checks that each mode reads as it should, and that responses to POST and to lists end, as a
// measuring process needs.
func TestReplay(t *testing.T) {
	const objects = 10
	server := Replay(t, RecordWorkloads(objects))
	CheckPairs(t, server, slices.Concat(Pairs("workloads", Generated), moved, Pairs(unstructured, Dynamic)))
	CheckPairs(t, replay(t, RecordWorkloads(objects), true), relists)
	server = Replay(t, RecordPods(objects))
	CheckPairs(t, server, slices.Concat(Pairs("pods", Generated[:2]), Pairs(clientset, ClientGo)))
	CheckPairs(t, Replay(t, RecordMetadata(objects)), slices.Concat(Pairs(partialMetadata, ClientGo),
		Pairs(generatedPartial, ClientGo[:1])))
}

// TestSmallObjectSize does the same for the objects of BenchmarkPart.
func TestSmallObjectSize(t *testing.T) {
	if text, _, _ := smallObject(123456); len(text) < 1000 || len(text) > 1050 {
		t.Errorf("%d bytes", len(text))
	}
}
