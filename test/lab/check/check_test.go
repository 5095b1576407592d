package check_test

import (
	"context"
	"flag"
	"fmt"
	"os"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/go-logr/logr"
	"go.uber.org/goleak"
	utilruntime "k8s.io/apimachinery/pkg/util/runtime"
	"k8s.io/klog/v2"

	"github.com/kubewright/kubewright/runtime/runtimetest"
	"github.com/kubewright/kubewright/test/lab/check"
	"github.com/kubewright/kubewright/test/lab/fault"
	"github.com/kubewright/kubewright/test/lab/results"
)

var (
	seeds  = flag.Int("lab.seeds", 25, "how many seeds each of our two implementations is checked with")
	first  = flag.Uint64("lab.first", 0, "the first of them")
	length = flag.Int("lab.length", 120, "how many random operations the script of a seed has")
	only   = flag.String("lab.only", "", "the implementation to check: ours, facade or client-go")
	script = flag.String("lab.script", "", "a file with the script that TestReplay plays")
	shrink = flag.Bool("lab.shrink", true, "shrink the script of a failure")
	table  = flag.String("lab.table", "", "the implementations that TestTable compares, separated by commas")
	file   = flag.String("lab.results", "", "the file to which to append results")
	trace  = flag.Bool("lab.trace", false, "show what was done, also if nothing failed")
)

// over is set when the remaining scripts needn't be played.
var over atomic.Bool

// unexpected has the panics that no handler was meant to make.
var unexpected sync.Map

func TestMain(m *testing.M) {
	runtimetest.WithoutErrorBackoff()
	klog.SetLogger(logr.Discard())
	// Handlers panic on purpose, and so that their informers go on.
	utilruntime.ReallyCrash = false
	utilruntime.PanicHandlers = []func(context.Context, any){func(_ context.Context, reason any) {
		if reason != any(check.Panics) {
			unexpected.Store(fmt.Sprint(reason), true)
		}
	}}
	goleak.VerifyTestMain(m)
}

// TestSimulated plays the scripts of many seeds with our informers. None may break a law.
func TestSimulated(t *testing.T) {
	for _, i := range check.Implementations {
		if i.Name == check.ClientGo.Name && *only == "" || *only != "" && *only != i.Name {
			continue
		}
		t.Run(i.Name, func(t *testing.T) {
			for n := range uint64(*seeds) {
				seed := *first + n
				t.Run(fmt.Sprint("seed ", seed), func(t *testing.T) {
					t.Parallel()
					play(t, i, check.Generate(seed, *length))
				})
			}
		})
	}
}

// write tells make lab of a result.
func write(t *testing.T, i check.Implementation, result check.Result) {
	t.Helper()
	r := results.Result{Half: "simulated", Test: "random scripts", Implementation: i.Name, Trials: 1,
		Faults: len(result.Faults)}
	if result.Violation != nil {
		r.Verdicts = map[results.Verdict]int{results.Broken: 1}
	}
	if err := results.Append(*file, r); err != nil {
		t.Error(err)
	}
}

// TestReplay plays the script that a failure has printed.
func TestReplay(t *testing.T) {
	if *script == "" {
		t.Skip("no script: set -lab.script")
	}
	text, err := os.ReadFile(*script)
	if err != nil {
		t.Fatal(err)
	}
	s, err := check.ParseScript(string(text))
	if err != nil {
		t.Fatal(err)
	}
	for _, i := range check.Implementations {
		if *only == "" || *only == i.Name {
			t.Run(i.Name, func(t *testing.T) { play(t, i, s) })
		}
	}
}

// play plays a script. If it fails, the shrinker cuts it, and the test fails with what is left.
func play(t *testing.T, i check.Implementation, s check.Script) {
	t.Helper()
	if over.Load() {
		t.Skip("a script failed, and -failfast is set")
	}
	start := time.Now()
	result := check.Play(t, i, s)
	unexpected.Range(func(reason, _ any) bool {
		t.Errorf("an unexpected panic: %v", reason)
		return true
	})
	t.Logf("%d informers, %d events, %d faults in %v", result.Informers, result.Calls, len(result.Faults),
		time.Since(start).Round(time.Millisecond))
	write(t, i, result)
	if *trace {
		t.Log("\n" + result.Text())
	}
	if result.Violation == nil {
		return
	}
	t.Errorf("%v", result.Violation)
	// The testing package starts no more tests then, but goes on with the parallel ones.
	over.Store(flag.Lookup("test.failfast").Value.String() == "true")
	if !*shrink {
		return
	}
	s.Faults = result.Faults
	s, result = smallest(t, i, s, result)
	t.Errorf("%d operations and %d faults are enough:\n%s\nto replay, with go test ./check -run TestReplay "+
		"-lab.only %q -lab.script FILE:\n%s", len(s.Ops), len(s.Faults.(fault.Script)), result.Text(), i.Name, s)
}

// The limits of shrinking. What fails depends on how goroutines are scheduled, too, so each shorter script has
// several chances.
const (
	chances    = 3
	longEnough = 5 * time.Minute
)

// smallest shrinks a script, as long as the same law is broken.
func smallest(t *testing.T, i check.Implementation, s check.Script, failed check.Result) (check.Script, check.Result) {
	start := time.Now()
	small := check.Shrink(s, func(s check.Script) bool {
		for range chances {
			if time.Since(start) > longEnough {
				return false
			}
			if r := check.Play(t, i, s); r.Violation != nil && r.Violation.Law == failed.Violation.Law {
				failed = r
				return true
			}
		}
		return false
	})
	return small, failed
}

// TestTable counts for each implementation in how many seeds which law is broken.
func TestTable(t *testing.T) {
	if *table == "" {
		t.Skip("a comparison, for make lab: set -lab.table")
	}
	for name := range strings.SplitSeq(*table, ",") {
		for _, i := range check.Implementations {
			if i.Name != name {
				continue
			}
			broken, faults := map[string]int{}, map[string]int{}
			for n := range uint64(*seeds) {
				result := check.Play(t, i, check.Generate(*first+n, *length))
				write(t, i, result)
				if v := result.Violation; v != nil {
					broken[v.Law]++
					t.Logf("%s, seed %d: %v", name, *first+n, v)
				}
				for _, step := range result.Faults {
					faults[step.Fault]++
				}
			}
			t.Logf("%s: %d seeds, %v, %d faults of %d types", name, *seeds, broken, sum(faults), len(faults))
		}
	}
}

func sum(counts map[string]int) (n int) {
	for _, count := range counts {
		n += count
	}
	return n
}
