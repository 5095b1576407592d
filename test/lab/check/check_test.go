package check_test

import (
	"context"
	"flag"
	"fmt"
	"os"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/go-logr/logr"
	"go.uber.org/goleak"
	utilruntime "k8s.io/apimachinery/pkg/util/runtime"
	"k8s.io/klog/v2"

	"github.com/kubewright/kubewright/internal/guarantee"
	"github.com/kubewright/kubewright/runtime/runtimetest"
	"github.com/kubewright/kubewright/test/lab/check"
	"github.com/kubewright/kubewright/test/lab/fault"
	"github.com/kubewright/kubewright/test/lab/results"
)

var (
	full    = flag.Bool("lab.full", false, "check 500 seeds, client-go too")
	file    = flag.String("lab.results", "", "the file to which to append results")
	seeds   = flag.Int("lab.seeds", 0, "how many seeds each implementation is checked with, if not 25 or 500")
	first   = flag.Uint64("lab.first", 0, "the first seed")
	length  = flag.Int("lab.length", 120, "how many random operations the script of a seed has")
	only    = flag.String("lab.only", "", "the only implementation to check: ours, facade or client-go")
	replay  = flag.String("lab.script", "", "a file with the script that TestReplay plays")
	shrinks = flag.Bool("lab.shrink", true, "shrink the script of a failure")
	trace   = flag.Bool("lab.trace", false, "log what was done, even if nothing failed")
)

// over is set when the remaining scripts needn't be played.
var over atomic.Bool

// unexpected collects the panics that weren't caused by a handler on purpose.
var unexpected sync.Map

func TestMain(m *testing.M) {
	runtimetest.WithoutErrorBackoff()
	klog.SetLogger(logr.Discard())
	// Handlers panic on purpose. Their informers must go on.
	utilruntime.ReallyCrash = false
	utilruntime.PanicHandlers = []func(context.Context, any){func(_ context.Context, reason any) {
		if reason != any(check.Panics) {
			unexpected.Store(fmt.Sprint(reason), true)
		}
	}}
	// client-go leaves some responses open, which counts as left. With a timeout of the client, this waits for
	// their end.
	goleak.VerifyTestMain(m, goleak.IgnoreTopFunction("net/http.setRequestCancel.func4"))
}

// checked returns the implementations to check. client-go's violations are only counted, unless it is the
// only one.
func checked() []check.Implementation {
	return slices.DeleteFunc(slices.Clone(check.Implementations), func(i check.Implementation) bool {
		return *only != "" && *only != i.Name || *only == "" && !*full && i.Name == check.ClientGo.Name
	})
}

// TestSimulated plays the scripts of many seeds. Our informers may not break any law.
func TestSimulated(t *testing.T) {
	n := *seeds
	switch {
	case n == 0 && *full:
		n = 500
	case n == 0:
		n = 25
	}
	for _, i := range checked() {
		total := &total{Result: results.Result{Half: "simulated", Protocol: "in memory",
			Test: "random scripts and mixtures of faults", Implementation: i.Name}}
		t.Run(i.Name, func(t *testing.T) {
			for n := range uint64(n) {
				seed := *first + n
				t.Run(fmt.Sprint("seed ", seed), func(t *testing.T) {
					t.Parallel()
					total.add(play(t, i, check.Generate(seed, *length)))
				})
			}
		})
		total.write(t)
	}
}

// TestEachFault plays scripts with one kind of fault only, for each of them.
func TestEachFault(t *testing.T) {
	scripts := uint64(1)
	if *full {
		scripts = 5
	}
	for _, i := range checked() {
		total := &total{Result: results.Result{Half: "simulated", Protocol: "in memory",
			Test: "each fault alone", Implementation: i.Name}}
		t.Run(i.Name, func(t *testing.T) {
			for _, f := range fault.All() {
				t.Run(f.Name, func(t *testing.T) {
					t.Parallel()
					for seed := range scripts {
						s := check.Generate(1000+seed, 60)
						s.Faults = fault.Random{Seed: seed, Rate: 0.3, Faults: []fault.Fault{f}}
						s.Wrong = f.Class == fault.Wrong
						total.add(play(t, i, s))
					}
				})
			}
		})
		total.write(t)
	}
}

// total sums up the results of an implementation.
type total struct {
	mu sync.Mutex
	results.Result
}

func (o *total) add(r check.Result) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.Trials++
	o.Faults += len(r.Faults)
	if r.Violation == nil {
		return
	}
	if o.Verdicts == nil {
		o.Verdicts = map[results.Verdict]int{}
	}
	switch r.Violation.Law {
	case check.Converges, check.Hangs:
		o.Verdicts[results.Late]++
	case check.Left:
		o.Verdicts[results.Left]++
	default:
		o.Verdicts[results.Broken]++
	}
}

func (o *total) write(t *testing.T) {
	t.Logf("%s, %s: %d scripts, %d faults, %v", o.Implementation, o.Test, o.Trials, o.Faults, o.Verdicts)
	if err := results.Append(*file, o.Result); err != nil {
		t.Error(err)
	}
}

// TestReplay plays the script that a failed test has printed.
func TestReplay(t *testing.T) {
	if *replay == "" {
		t.Skip("no script: set -lab.script")
	}
	text, err := os.ReadFile(*replay)
	if err != nil {
		t.Fatal(err)
	}
	s, err := check.ParseScript(string(text))
	if err != nil {
		t.Fatal(err)
	}
	for _, i := range checked() {
		t.Run(i.Name, func(t *testing.T) { play(t, i, s) })
	}
}

// play plays a script. If a law is broken, it shrinks the script, and the test fails with the rest.
func play(t *testing.T, i check.Implementation, s check.Script) check.Result {
	t.Helper()
	if over.Load() {
		t.Skip("a script failed, and -failfast is set")
	}
	start := time.Now()
	result := check.Play(t, i, s)
	unexpected.Range(func(reason, _ any) bool {
		t.Errorf("%s: an unexpected panic: %v", guarantee.NoRace, reason)
		return true
	})
	played := fmt.Sprintf("%d informers, %d events, %d faults in %v", result.Informers, result.Calls,
		len(result.Faults), time.Since(start).Round(time.Millisecond))
	if *trace {
		defer func() { t.Log("\n" + result.Text()) }()
	}
	switch {
	case result.Violation == nil:
		t.Log(played)
		return result
	case i.Name == check.ClientGo.Name && *only == "":
		t.Logf("%v\n%s", result.Violation, played)
		return result
	}
	t.Errorf("%v\n%s", result.Violation, played)
	// The testing package starts no more tests then, but parallel ones that have begun go on.
	over.Store(flag.Lookup("test.failfast").Value.String() == "true")
	if *shrinks {
		s.Faults = result.Faults
		s, small := smallest(t, i, s, result)
		t.Errorf("%d operations and %d faults are enough:\n%s\nto replay, with go test ./check "+
			"-run TestReplay -lab.only %s -lab.script FILE:\n%s", len(s.Ops), len(s.Faults.(fault.Script)),
			small.Text(), i.Name, s)
	}
	return result
}

// The limits of shrinking. Whether a script fails also depends on how goroutines are scheduled, so each
// shorter script is tried several times.
const (
	chances    = 3
	longEnough = 5 * time.Minute
)

// smallest shrinks a script as long as it breaks the same law.
func smallest(
	t *testing.T, i check.Implementation, s check.Script, failed check.Result,
) (check.Script, check.Result) {
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
