package live

import (
	"context"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"k8s.io/client-go/rest"

	"github.com/kubewright/kubewright/envtest/tcpproxy"
	"github.com/kubewright/kubewright/test/e2e/kubeserver"
	"github.com/kubewright/kubewright/test/lab/fault"
)

// alternating sends each request to the next of several API servers, as a load balancer does.
type alternating struct {
	servers []http.RoundTripper
	next    atomic.Uint64
	// lists counts the lists that each server was asked for.
	lists []atomic.Int64
}

func alternate(t *testing.T, configs ...*rest.Config) *alternating {
	t.Helper()
	a := &alternating{lists: make([]atomic.Int64, len(configs))}
	for _, config := range configs {
		server, err := fault.Backend(config)
		if err != nil {
			t.Fatal(err)
		}
		a.servers = append(a.servers, server)
	}
	return a
}

func (a *alternating) RoundTrip(req *http.Request) (*http.Response, error) {
	i := a.next.Add(1) % uint64(len(a.servers))
	if q := req.URL.Query(); !q.Has("watch") || q.Has("sendInitialEvents") {
		a.lists[i].Add(1)
	}
	return a.servers[i].RoundTrip(req)
}

// startBeside starts a second kube-apiserver over the etcd of another, and a proxy between the two. Both end
// with the test.
func startBeside(
	ctx context.Context, t *testing.T, first *kubeserver.Server,
) (second *kubeserver.Server, etcd *tcpproxy.Proxy) {
	t.Helper()
	etcd, err := tcpproxy.Start(strings.TrimPrefix(first.EtcdURL(), "http://"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(etcd.Close)
	second, err = first.Beside(ctx, "http://"+etcd.Addr())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := second.Stop(); err != nil {
			t.Error(err)
		}
	})
	return second, etcd
}

// lags are how late etcd's messages reach the second server. A server waits for its cache for three seconds,
// and then reads from etcd, or refuses the version that was requested.
var lags = []time.Duration{500 * time.Millisecond, 5 * time.Second, 0, 2 * time.Second}

// TestTwoServers has two kube-apiservers over one etcd, one of which gets everything late from etcd, so that
// its watch caches are behind. A proxy sends each request of the informers to the other one. Their watches
// are cut, and expire, while objects change. No version goes back, at each version the caches are what etcd
// had, and in the end they are what it has.
func TestTwoServers(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Minute)
	defer cancel()
	server, c := launchKube(t)
	second, etcd := startBeside(ctx, t, server)
	both := alternate(t, server.Config(), second.Config())
	c.servers = both
	rounds := 2
	if *full {
		rounds = 2 * len(lags)
	}
	namespace, w := enter(ctx, t, c)
	for round := range rounds {
		etcd.Lag(lags[round%len(lags)])
		l := newLab(ctx, t, c, namespace, true, false)
		stop := churn(ctx, w, uint64(round))
		for range 2 {
			for _, disturb := range []func(){l.proxy.Cut, func() { l.proxy.Expire() }} {
				l.hear(ctx)
				l.match(ctx)
				disturb()
			}
		}
		l.hear(ctx)
		stop()
		begin := time.Now()
		verdicts := l.converge(ctx)
		l.report(twoServers, verdicts, time.Since(begin))
		t.Logf("round %d, lag %v: right again after %v", round, lags[round%len(lags)],
			time.Since(begin).Round(time.Millisecond))
		l.match(ctx)
		l.end()
	}
	for i := range both.lists {
		n := both.lists[i].Load()
		if t.Logf("server %d was asked for %d lists", i, n); n == 0 {
			t.Errorf("%s: nothing was tried: server %d was asked for no list", twoServers.guarantee, i)
		}
	}
}
