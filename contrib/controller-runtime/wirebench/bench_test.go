package wirebench

import (
	"os"
	"slices"
	"testing"

	"github.com/go-logr/logr"
	"sigs.k8s.io/controller-runtime/pkg/log"

	"github.com/kubewright/kubewright/internal/wirebench"
)

func TestMain(m *testing.M) {
	log.SetLogger(logr.Discard())
	wirebench.Child(modes())
	os.Exit(m.Run())
}

// The ways to set up a manager. Those that drop managedFields have a budget for lists, too.
var (
	plain   = wirebench.Option{Name: "", Ours: "ours", Theirs: "theirs"}
	dropped = wirebench.Option{Name: "no-managed-fields,budget", Ours: "ours-drop", Theirs: "theirs-strip"}
	both    = wirebench.Option{Name: "no-managed-fields,budget,shared-values", Ours: "ours-drop-share",
		Theirs: "theirs-strip"}
	shared = wirebench.Option{Name: "shared-values", Ours: "ours-share", Theirs: "theirs"}
)

// Those of each form. Protobuf shares no values.
var (
	typed    = wirebench.Pairs("typed", []wirebench.Option{plain, dropped, both})
	untyped  = wirebench.Pairs("unstructured", []wirebench.Option{plain, shared, dropped, both})
	pods     = wirebench.Pairs("pods", []wirebench.Option{plain, dropped})
	metadata = wirebench.Pairs("metadata", []wirebench.Option{plain, dropped})
	mixed    = wirebench.Pairs("mixed", []wirebench.Option{plain, dropped, shared})
)

// BenchmarkManager measures a manager that caches 20,000 objects: custom resources of 4.7 KB in JSON,
// typed and unstructured, their metadata in protobuf, and pods in protobuf.
func BenchmarkManager(b *testing.B) {
	workloads := wirebench.Replay(b, wirebench.RecordWorkloads(wirebench.Objects))
	wirebench.Sync(b, workloads, typed)
	wirebench.Sync(b, workloads, untyped)
	wirebench.Sync(b, wirebench.Replay(b, wirebench.RecordPods(wirebench.Objects)), pods)
	// Of 24 rounds of metadata, client-go's took .29 to .69 s: medians of 5 differ by a factor of two.
	server := wirebench.Replay(b, wirebench.RecordMetadata(wirebench.Objects))
	server.Repeat = 4
	wirebench.Sync(b, server, metadata)
}

// BenchmarkMixed measures a manager that caches 5,000 objects of each of six kinds, of 2 KB each: two typed,
// of two the metadata, two unstructured.
func BenchmarkMixed(b *testing.B) {
	wirebench.Sync(b, wirebench.ReplayKinds(b, wirebench.Objects/4), mixed)
}

// TestModes checks that each mode reads objects as its name says.
func TestModes(t *testing.T) {
	const objects = 10
	workloads := wirebench.Replay(t, wirebench.RecordWorkloads(objects))
	wirebench.CheckPairs(t, workloads, slices.Concat(typed, untyped))
	wirebench.CheckPairs(t, wirebench.Replay(t, wirebench.RecordPods(objects)), pods)
	wirebench.CheckPairs(t, wirebench.Replay(t, wirebench.RecordMetadata(objects)), metadata)
	wirebench.CheckPairs(t, wirebench.ReplayKinds(t, objects), mixed)
}
