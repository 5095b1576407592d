package live

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/kubewright/kubewright/test/lab/fault"
	"github.com/kubewright/kubewright/test/lab/results"
)

// maxRequests is how many requests one of our informers sends at most from the beginning of an outage of up
// to ten seconds until it watches again, and maxLists how many of them are lists. It tries again after 0.8 s,
// doubled each time and up to doubled at random: at most five times in ten seconds. Then one more watch fails
// because its version has expired. A list follows, and another if the first can't be served at its version.
const (
	maxRequests = 8
	maxLists    = 2
)

// converged bounds how long informers may take to be right again after an outage.
const converged = time.Minute

// lab is a proxy before a cluster, with informers of each implementation.
type lab struct {
	t        *testing.T
	cluster  cluster
	proxy    *fault.Proxy
	server   *fault.Server
	subjects []*subject
}

// newLab starts an informer of each implementation.
func newLab(ctx context.Context, t *testing.T, c cluster, namespace string, watchList bool) *lab {
	t.Helper()
	l := emptyLab(t, c)
	for _, who := range []implementation{ours, facade, clientGo} {
		l.add(ctx, who, options{namespace: namespace, watchList: watchList})
	}
	return l
}

func emptyLab(t *testing.T, c cluster) *lab {
	t.Helper()
	backend, err := fault.Backend(c.config)
	if err != nil {
		t.Fatal(err)
	}
	l := &lab{t: t, cluster: c, proxy: fault.New(backend, nil)}
	t.Cleanup(l.proxy.Close)
	if l.server, err = l.proxy.Listen(fault.ServerOptions{}); err != nil {
		t.Fatal(err)
	}
	return l
}

func (l *lab) add(ctx context.Context, who implementation, o options) {
	l.t.Helper()
	s, err := newSubject(ctx, l.cluster.resource, who, l.server.Config(), o)
	if err != nil {
		l.t.Fatal(err)
	}
	l.subjects = append(l.subjects, s)
}

// converge waits until every informer has what the server has. Nothing may write meanwhile. Our informers
// must get there; client-go's are only reported.
func (l *lab) converge(ctx context.Context) map[*subject]results.Verdict {
	l.t.Helper()
	ctx, cancel := context.WithTimeoutCause(ctx, converged, fmt.Errorf("not within %v", converged))
	defer cancel()
	verdicts := map[*subject]results.Verdict{}
	for _, s := range l.subjects {
		want, err := l.cluster.resource.versions(ctx, l.cluster.config, s.options)
		if err != nil {
			l.t.Fatal(err)
		}
		verdict := func(v results.Verdict, what any) {
			verdicts[s] = v
			if l.t.Logf("%s: %v", s.who, what); s.who != clientGo {
				l.t.Fail()
			}
		}
		if err := s.reaches(ctx, want); err != nil {
			verdict(results.Late, err)
		}
		if problems := s.Problems(); len(problems) > 0 {
			verdict(results.Broken, problems)
		}
	}
	return verdicts
}

// report writes a result for each informer.
func (l *lab) report(test string, verdicts map[*subject]results.Verdict, took time.Duration) {
	for _, s := range l.subjects {
		r := results.Result{Half: l.cluster.name, Protocol: "HTTP/2", Test: test, Implementation: string(s.who),
			Trials: 1, Faults: 1, Took: took}
		if v := verdicts[s]; v != "" {
			r.Verdicts = map[results.Verdict]int{v: 1}
		}
		write(l.t, r)
	}
}

// counts calls tell with the number of requests that each informer has sent since before, and how many of
// them were lists.
func (l *lab) counts(before map[fault.Request]int, tell func(s *subject, requests, lists int)) {
	now := l.proxy.Counts()
	for _, s := range l.subjects {
		requests, lists := 0, 0
		for r, n := range now {
			if r.Client != string(s.who) || r.Selector != s.options.labels {
				continue
			}
			requests += n - before[r]
			if r.Kind&(fault.List|fault.WatchList) != 0 {
				lists += n - before[r]
			}
		}
		tell(s, requests, lists)
	}
}

// end stops the informers.
func (l *lab) end() {
	for _, s := range l.subjects {
		s.end()
	}
	l.proxy.Close()
}
