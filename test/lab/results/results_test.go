package results_test

import (
	"os"
	"path/filepath"
	"reflect"
	"testing"
	"time"

	"github.com/kubewright/kubewright/test/lab/results"
)

func TestFile(t *testing.T) {
	name := filepath.Join(t.TempDir(), "results")
	want := []results.Result{
		{Half: "simulated", Test: "seeds", Implementation: "ours", Trials: 500, Faults: 7},
		{Half: "embedded", Protocol: "HTTP/2", Test: "each", Fault: "cut", Kind: "list",
			Implementation: "client-go", Trials: 1, Took: time.Second,
			Verdicts: map[results.Verdict]int{results.Late: 1}},
	}
	for _, r := range want {
		if err := results.Append(name, r); err != nil {
			t.Fatal(err)
		}
		if err := results.Append("", r); err != nil {
			t.Fatal(err)
		}
	}
	if got, err := results.Read(name); err != nil || !reflect.DeepEqual(got, want) {
		t.Errorf("%v\n%v\ninstead of\n%v", err, got, want)
	}
	if err := os.WriteFile(name, []byte("{"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := results.Read(name); err == nil {
		t.Error("no error")
	}
}
