package live

import (
	"context"
	"flag"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/kubewright/kubewright/internal/guarantee"
	"github.com/kubewright/kubewright/test/lab/fault"
	"github.com/kubewright/kubewright/test/lab/results"
)

var (
	full = flag.Bool("lab.full", false, "run everything, as make lab does: it takes ten minutes")
	file = flag.String("lab.results", "", "the file to which to append results")
)

func write(t *testing.T, r results.Result) {
	t.Helper()
	if err := results.Append(*file, r); err != nil {
		t.Error(err)
	}
}

// atOnce is how many trials run at the same time. They spend most of it waiting.
const atOnce = 24

// together runs the functions concurrently, at most atOnce at a time.
func together(functions []func()) {
	var group sync.WaitGroup
	free := make(chan struct{}, atOnce)
	for _, f := range functions {
		free <- struct{}{}
		group.Go(func() {
			defer func() { <-free }()
			f()
		})
	}
	group.Wait()
}

// strike makes a fault happen to the first request of a kind, soon: after a second or two events at most.
func strike(f fault.Fault, kind fault.Kind) fault.Step {
	step := fault.Step{Request: fault.Request{Kind: kind, Nth: 1}, Fault: f.Name}
	if f.For[1] > 0 {
		step.For = min(f.For[1], time.Second)
	}
	if f.After[1] > 0 {
		step.After = 2
	}
	return step
}

// The tests of the faults of package fault, as results call them.
const (
	eachAlone  = "each fault alone"
	inMixtures = "mixtures"
)

// eachFault makes each fault happen once to each kind of request and each implementation.
func eachFault(t *testing.T, c cluster, opts fault.ServerOptions) {
	implementations := []implementation{ours}
	if *full {
		implementations = append(implementations, facade, clientGo)
	}
	var trials []func()
	for _, f := range fault.All() {
		for _, kind := range kinds(f) {
			for _, who := range implementations {
				name := strings.Join([]string{f.Name, kind.String(), string(who)}, " ")
				tr := trial{
					cluster: c, who: who, faults: []fault.Fault{f}, plan: fault.Script{strike(f, kind)}, wanted: 1,
					watchList: kind == fault.WatchList, server: opts, namespace: newNamespace(), test: eachAlone,
				}
				if f.Name == "stale-list" {
					// The proxy replays the first answer to the same question. The initial list has a limit, later
					// ones have none. So the third list is the first that can be stale.
					tr.plan = fault.Script{{Request: fault.Request{Kind: kind}, Fault: f.Name}}
					tr.wanted, tr.relists = 3, true
				}
				trials = append(trials, func() {
					t.Run(name, func(t *testing.T) { tr.check(t, f.Name, kind.String()) })
				})
			}
		}
	}
	together(trials)
}

// kinds returns the kinds of requests that a fault happens to. A short run takes only one, and leaves out the
// fault that takes the pings of HTTP/2 to notice.
func kinds(f fault.Fault) (kinds []fault.Kind) {
	for _, kind := range []fault.Kind{fault.List, fault.Watch, fault.WatchList} {
		if f.On&kind != 0 {
			kinds = append(kinds, kind)
		}
	}
	switch {
	case *full || len(kinds) == 0:
		return kinds
	case f.Name == "half-open":
		return nil
	}
	return kinds[len(kinds)-1:]
}

// check runs the trial and writes its result. Our informers must be right; client-go's are for comparison.
func (tr trial) check(t *testing.T, faultName, kind string) {
	ctx, cancel := context.WithTimeout(t.Context(), 4*time.Minute)
	defer cancel()
	o, err := tr.run(ctx)
	if err != nil {
		t.Fatal(err)
	}
	verdict, count := o.verdict()
	protocol := "HTTP/2"
	if tr.server.HTTP1 {
		protocol = "HTTP/1.1"
	}
	write(t, results.Result{
		Half: tr.cluster.name, Protocol: protocol, Test: tr.test, Fault: faultName, Kind: kind,
		Implementation: string(tr.who), Trials: 1, Faults: len(o.Trace), Took: o.Took, Verdicts: count,
	})
	took := fmt.Sprintf("%d requests, right again after %v", o.Requests, o.Took.Round(time.Millisecond))
	switch {
	case tr.who == clientGo:
		t.Logf("%s; %s", took, verdict)
		return
	case verdict != "":
		t.Errorf("%s\n%s\nthe trace:\n%v", verdict, took, o.Trace)
	default:
		t.Log(took)
	}
	for _, f := range tr.faults {
		if len(tr.faults) == 1 && f.Class == fault.Unusable && o.LastError == nil {
			t.Errorf("%s: the status tells of no error", f.Guarantee)
		}
	}
}

// verdict describes what is wrong. It is empty if nothing is.
func (o outcome) verdict() (string, map[results.Verdict]int) {
	var wrong []string
	count := map[results.Verdict]int{}
	if o.Err != nil {
		wrong = append(wrong, fmt.Sprintf("%s: %v", guarantee.Converging, o.Err))
		count[results.Late] = 1
	}
	if len(o.Problems) > 0 {
		wrong = append(wrong, o.Problems...)
		count[results.Broken] = 1
	}
	if len(o.Left) > 0 {
		wrong = append(wrong, fmt.Sprintf("%s: left open: %v", guarantee.NoLeak, o.Left))
		count[results.Left] = 1
	}
	return strings.Join(wrong, "\n"), count
}

var namespaces atomic.Int64

// newNamespace returns a namespace's name that no other caller gets.
func newNamespace() string { return fmt.Sprint("lab-", namespaces.Add(1)) }
