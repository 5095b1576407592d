package facades

import (
	"path/filepath"
	"strings"
	"testing"
)

const (
	queuePath = `"` + clientGo + `util/workqueue"`
	ourQueue  = `"` + kubewright + `runtime/workqueue"`
)

// TestProgram compiles client-go's example of a work queue with only an import path changed.
func TestProgram(t *testing.T) {
	s := newSandbox(t)
	s.add("program", "examples/workqueue/main.go", queuePath, ourQueue)
	s.run("vet", "./program")
	s.run("build", "-o", filepath.Join(t.TempDir(), "program"), "./program")
}

// TestUpstreamsTests runs client-go's own tests of its package on ours.
func TestUpstreamsTests(t *testing.T) {
	s := newSandbox(t)
	s.add("tests", "util/workqueue/queue_test.go", queuePath, ourQueue)
	// These files are in the package that they test. The two others, metrics_test.go and
	// rate_limiting_queue_test.go, build queues from unexported parts.
	for _, name := range []string{
		"default_rate_limiters_test.go", "delaying_queue_test.go", "parallelizer_test.go",
	} {
		edits := []string{"package workqueue\n", "package workqueue_test\n\nimport . " + ourQueue + "\n"}
		if name == "delaying_queue_test.go" {
			// The test waits until the queue has seen what was added. Our queue has seen it when AddAfter
			// returns.
			edits = append(edits, "len(q.(*delayingType[any]).waitingForAddCh) == 0", "true")
		}
		s.add("tests", "util/workqueue/"+name, edits...)
	}
	tests := strings.Count("\n"+s.run("test", "-count=1", "-v", "./tests"), "\n--- PASS: ")
	t.Logf("%d of client-go's tests pass", tests)
	if tests < 21 {
		t.Error("there are 21 in client-go v0.37.2")
	}
}
