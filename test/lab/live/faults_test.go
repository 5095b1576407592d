package live

import (
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/kubewright/kubewright/test/lab/fault"
)

var (
	full    = flag.Bool("lab.full", false, "run everything, as make lab does: it takes ten minutes")
	results = flag.String("lab.results", "", "the file to which to append results, one JSON a line")
)

// result is a line of the results.
type result struct {
	Test           string
	Server         string
	Protocol       string
	Implementation implementation
	Fault          string // of a trial of one
	Kind           string
	Seed           uint64        // of a mixture
	Took           time.Duration // from the calm until all was right again
	Verdict        string        // empty if all was right
}

var resultsMu sync.Mutex

func (r result) write(t *testing.T) {
	t.Helper()
	if *results == "" {
		return
	}
	resultsMu.Lock()
	defer resultsMu.Unlock()
	file, err := os.OpenFile(*results, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o644)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	if err := json.NewEncoder(file).Encode(r); err != nil {
		t.Fatal(err)
	}
}

// atOnce is how many trials run at the same time. They mostly wait.
const atOnce = 12

// together runs the functions at the same time, some at once.
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

// strike is when a fault of a trial happens, so that most happen soon: For is short, and After are few events.
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

// eachFault makes each fault happen once to each kind of request and each implementation.
func eachFault(t *testing.T, c cluster, opts fault.ServerOptions) {
	implementations := []implementation{ours}
	if *full {
		implementations = append(implementations, facade, clientGo)
	}
	var trials []func()
	for _, f := range fault.All() {
		for _, kind := range []fault.Kind{fault.List, fault.Watch, fault.WatchList} {
			if f.On&kind == 0 {
				continue
			}
			for _, who := range implementations {
				name := strings.Join([]string{f.Name, kind.String(), string(who)}, " ")
				tr := trial{
					cluster: c, who: who, faults: []fault.Fault{f}, plan: fault.Script{strike(f, kind)}, wanted: 1,
					watchList: kind == fault.WatchList, server: opts, namespace: newNamespace(),
				}
				if f.Name == "stale-list" {
					tr.plan, tr.wanted = staleList(kind), 2
				}
				trials = append(trials, func() {
					t.Run(name, func(t *testing.T) { tr.test(t, f.Name, kind.String()) })
				})
			}
		}
	}
	together(trials)
}

// staleList needs a list before the one that is stale. Watches end by 410, so that the informer lists again.
func staleList(kind fault.Kind) fault.Script {
	return fault.Script{
		{Request: fault.Request{Kind: kind, Nth: 2}, Fault: "stale-list"},
		{Request: fault.Request{Kind: fault.Watches, Nth: 1}, Fault: "410-event", For: 500 * time.Millisecond},
	}
}

// test runs the trial and writes its result. Our informers must be right; client-go's are for comparison.
func (tr trial) test(t *testing.T, faultName, kind string) {
	ctx, cancel := context.WithTimeout(t.Context(), 4*time.Minute)
	defer cancel()
	o, err := tr.run(ctx)
	if err != nil {
		t.Fatal(err)
	}
	verdict := o.verdict()
	protocol := "HTTP/2"
	if tr.server.HTTP1 {
		protocol = "HTTP/1.1"
	}
	parent, _, _ := strings.Cut(t.Name(), "/")
	result{Test: parent, Server: tr.cluster.name, Protocol: protocol, Implementation: tr.who,
		Fault: faultName, Kind: kind, Seed: tr.seed, Took: o.Took, Verdict: verdict}.write(t)
	t.Logf("%d requests, right again after %v; %s", o.Requests, o.Took.Round(time.Millisecond), verdict)
	if tr.who == clientGo {
		return
	}
	if verdict != "" {
		t.Errorf("%s\nthe trace:\n%v", verdict, o.Trace)
	}
	for _, f := range tr.faults {
		if len(tr.faults) == 1 && f.Class == fault.Unusable && o.LastError == nil {
			t.Error("the status tells of no error")
		}
	}
}

// verdict says what is wrong, nothing if all is right.
func (o outcome) verdict() string {
	var wrong []string
	if o.Err != nil {
		wrong = append(wrong, o.Err.Error())
	}
	if len(o.Problems) > 0 {
		wrong = append(wrong, "the handler: "+strings.Join(o.Problems, "; "))
	}
	if len(o.Left) > 0 {
		wrong = append(wrong, fmt.Sprintf("left open: %v", o.Left))
	}
	return strings.Join(wrong, "\n")
}

var namespaces atomic.Int64

// newNamespace returns the name of a namespace that nobody else uses.
func newNamespace() string { return fmt.Sprint("lab-", namespaces.Add(1)) }
