package live

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"time"

	"k8s.io/client-go/rest"

	"github.com/kubewright/kubewright/runtime/informer"
	"github.com/kubewright/kubewright/test/lab/fault"
)

// cluster is a real API server with objects of one type.
type cluster struct {
	name     string
	config   *rest.Config
	resource resource
	// servers are the API servers behind the proxy, if they aren't just that of config.
	servers http.RoundTripper
	// enter prepares a namespace for use.
	enter func(ctx context.Context, namespace string) error
}

// backend returns what is behind the proxy.
func (c cluster) backend() (http.RoundTripper, error) {
	if c.servers != nil {
		return c.servers, nil
	}
	return fault.Backend(c.config)
}

// tuning is the tuning of our informers in all trials.
var tuning = informer.Options{SilenceTimeout: 5 * time.Second, InitialEventsTimeout: 5 * time.Second}

// trial is an informer behind a proxy with a plan, while objects change.
type trial struct {
	test      string
	cluster   cluster
	who       implementation
	namespace string
	plan      fault.Plan
	faults    []fault.Fault // that may happen
	wanted    int           // the number that must happen before the calm
	// mixture means that the calm comes after a while even if fewer happen. All connections are cut now and
	// then, so that more happen.
	mixture bool
	// relists makes informers list again now and then.
	relists   bool
	watchList bool
	server    fault.ServerOptions
	seed      uint64
}

// outcome is the outcome of a trial.
type outcome struct {
	Took     time.Duration // from the calm until the informer had what the server has
	Bound    time.Duration
	Trace    fault.Script
	Requests int
	// Err is why the informer didn't get there. Problems are the mistakes in its handler's calls.
	Err      error
	Problems []string
	// LastError is that of the status of our informers.
	LastError error
	// Left are requests that the informer left open.
	Left []fault.Request
}

// pace is the pause between two writes, patience how long the faults of a trial may take to happen, aWhile
// how long a mixture waits for them, and between the time between two cuts.
const (
	pace     = 100 * time.Millisecond
	patience = time.Minute
	aWhile   = 30 * time.Second
	between  = 3 * time.Second
)

func (tr trial) run(ctx context.Context) (o outcome, err error) {
	backend, err := tr.cluster.backend()
	if err != nil {
		return o, err
	}
	proxy := fault.New(backend, tr.plan)
	defer proxy.Close()
	server, err := proxy.Listen(tr.server)
	if err != nil {
		return o, err
	}
	if err := tr.cluster.enter(ctx, tr.namespace); err != nil {
		return o, err
	}
	w, err := tr.cluster.resource.writer(tr.cluster.config, tr.namespace)
	if err != nil {
		return o, err
	}
	opts := options{namespace: tr.namespace, watchList: tr.watchList, tuning: tuning}
	s, err := newSubject(ctx, tr.cluster.resource, tr.who, server.Config(), opts)
	if err != nil {
		return o, err
	}
	stop := churn(ctx, w, tr.seed)
	happened := tr.await(ctx, proxy)
	stop()
	if !happened {
		s.end()
		return o, fmt.Errorf("only %d faults happened: %v", len(proxy.Trace()), proxy.Trace())
	}

	proxy.Calm()
	begun := time.Now()
	o = tr.judge(ctx, s, proxy)
	o.Took = time.Since(begun)
	if status, ok := informer.StatusOf(s.informer); ok {
		o.LastError = status.LastError
	}
	s.end()
	o.Left = leftOpen(proxy)
	o.Trace = proxy.Trace()
	o.Requests = proxy.Count(fault.Request{Kind: fault.Reads})
	return o, nil
}

// await waits until enough faults have happened, and reports whether they did.
func (tr trial) await(ctx context.Context, p *fault.Proxy) bool {
	deadline := time.NewTimer(patience)
	defer deadline.Stop()
	ticker := time.NewTicker(pace)
	defer ticker.Stop()
	cuts := time.NewTicker(between)
	defer cuts.Stop()
	begun := time.Now()
	// After the last fault, objects go on changing for a moment, since many faults happen at an event.
	more := 15
	for {
		select {
		case <-ctx.Done():
			return false
		case <-deadline.C:
			return false
		case <-cuts.C:
			if tr.mixture {
				p.Cut()
			}
			if tr.relists {
				p.Expire()
			}
			continue
		case <-ticker.C:
		}
		if n := len(p.Trace()); n >= tr.wanted || tr.mixture && n > 0 && time.Since(begun) > aWhile {
			if more--; more == 0 {
				return true
			}
		}
	}
}

// judge waits until the informer has what the server has, for as long as the worst fault allows.
func (tr trial) judge(ctx context.Context, s *subject, p *fault.Proxy) (o outcome) {
	wrong := false
	for _, f := range tr.faults {
		o.Bound = max(o.Bound, f.Bound(s.options.tuning))
		wrong = wrong || f.Class == fault.Wrong
	}
	if tr.who == clientGo {
		// client-go has no tuning, and waits for minutes where our informers have a timeout.
		o.Bound = min(o.Bound, time.Minute)
	}
	ctx, cancel := context.WithTimeoutCause(ctx, o.Bound, fmt.Errorf("not within %v", o.Bound))
	defer cancel()
	if wrong && !expire(ctx, p) {
		o.Err = errors.New("the informer never watches")
		return o
	}
	want, err := tr.cluster.resource.versions(ctx, tr.cluster.config, s.options, "")
	if err != nil {
		o.Err = err
		return o
	}
	o.Err = s.reaches(ctx, want)
	if !wrong {
		o.Problems = s.Problems()
	}
	return o
}

// expire makes the informer list again as soon as it watches.
func expire(ctx context.Context, p *fault.Proxy) bool {
	ticker := time.NewTicker(pace)
	defer ticker.Stop()
	for p.Expire() == 0 {
		select {
		case <-ctx.Done():
			return false
		case <-ticker.C:
		}
	}
	return true
}

// leftOpen returns the requests that are open. The proxy notices only after a moment that a client is gone.
func leftOpen(p *fault.Proxy) (open []fault.Request) {
	ticker := time.NewTicker(pace)
	defer ticker.Stop()
	for range 100 {
		if open = p.Open(); len(open) == 0 {
			break
		}
		<-ticker.C
	}
	return open
}
