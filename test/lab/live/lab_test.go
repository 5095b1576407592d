package live

import (
	"context"
	"fmt"
	"maps"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/tools/cache"

	"github.com/kubewright/kubewright/internal/guarantee"
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

// converged is the bound of most labs.
const converged = time.Minute

// lab is a proxy before a cluster, with informers of each implementation.
type lab struct {
	t        *testing.T
	cluster  cluster
	proxy    *fault.Proxy
	server   *fault.Server
	subjects []*subject
	// bound bounds how long informers may take to be right again.
	bound time.Duration
	// restored means that the server's versions have gone back, and so must those of the informers.
	restored bool
}

// enter returns a new namespace of a cluster, and its writer.
func enter(ctx context.Context, t *testing.T, c cluster) (namespace string, w writer) {
	t.Helper()
	namespace = newNamespace()
	if err := c.enter(ctx, namespace); err != nil {
		t.Fatal(err)
	}
	w, err := c.resource.writer(c.config, namespace)
	if err != nil {
		t.Fatal(err)
	}
	return namespace, w
}

// newLab starts an informer of each implementation. With both, it starts one that streams its lists, and one
// that doesn't.
func newLab(ctx context.Context, t *testing.T, c cluster, namespace string, watchList ...bool) *lab {
	t.Helper()
	l := emptyLab(t, c)
	for _, streams := range watchList {
		for _, who := range implementations {
			l.add(ctx, who, options{namespace: namespace, watchList: streams})
		}
	}
	return l
}

func emptyLab(t *testing.T, c cluster) *lab {
	t.Helper()
	backend, err := c.backend()
	if err != nil {
		t.Fatal(err)
	}
	l := &lab{t: t, cluster: c, proxy: fault.New(backend, nil), bound: converged}
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
	ctx, cancel := context.WithTimeoutCause(ctx, l.bound, fmt.Errorf("not within %v", l.bound))
	defer cancel()
	verdicts := map[*subject]results.Verdict{}
	for _, s := range l.subjects {
		want, err := l.cluster.resource.versions(ctx, l.cluster.config, s.options, "")
		if err != nil {
			l.t.Fatal(err)
		}
		if v, what := s.judge(ctx, want, l.restored); v != "" {
			verdicts[s] = v
			if l.t.Logf("%s; %s", what, s.who); s.who != clientGo {
				l.t.Fail()
			}
		}
	}
	return verdicts
}

// report writes a result for each informer.
func (l *lab) report(h hardship, verdicts map[*subject]results.Verdict, took time.Duration) {
	for _, s := range l.subjects {
		l.cluster.report(l.t, h, s.who, verdicts[s], took)
	}
}

// report writes the result of an informer in one trial.
func (c cluster) report(t *testing.T, h hardship, who implementation, v results.Verdict, took time.Duration) {
	r := results.Result{Half: c.name, Protocol: "HTTP/2", Test: h.name, Implementation: string(who),
		Trials: 1, Faults: 1, Took: took}
	if v != "" {
		r.Verdicts = map[results.Verdict]int{v: 1}
	}
	write(t, r)
}

// hear waits until each informer has received some changes more.
func (l *lab) hear(ctx context.Context) {
	l.t.Helper()
	if err := hear(ctx, l.subjects); err != nil {
		l.t.Fatal(err)
	}
}

func hear(ctx context.Context, subjects []*subject) error {
	ctx, cancel := context.WithTimeoutCause(ctx, converged, fmt.Errorf("not within %v", converged))
	defer cancel()
	for _, s := range subjects {
		seen := 0 // calls of the condition, which is one at first and then one after an event
		err := s.Wait(ctx, func(map[cache.ObjectName]metav1.Object) bool {
			seen++
			return seen > few
		})
		if err != nil {
			return fmt.Errorf("%s: %s receives nothing: %w", guarantee.Converging, s.who, err)
		}
	}
	return nil
}

// match checks that the cache of each informer with snapshots is exactly what the server had at its version.
func (l *lab) match(ctx context.Context) {
	l.t.Helper()
	for _, s := range l.subjects {
		version, got, ok := l.cluster.resource.snapshot(s.informer)
		if !ok || version == "" {
			continue
		}
		want, err := l.cluster.resource.versions(ctx, l.cluster.config, s.options, version)
		if err != nil {
			l.t.Fatal(err)
		}
		if !maps.Equal(got, want) {
			l.t.Errorf("%s: %s at version %s has %v, the server had %v", guarantee.Complete, s.who, version,
				got, want)
		}
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
