package live

import (
	"context"
	"errors"
	"fmt"
	"os"
	"sync"
	"testing"
	"time"

	"github.com/kubewright/kubewright/envtest/apiserver"
	"github.com/kubewright/kubewright/examples/crds"
	"github.com/kubewright/kubewright/internal/child"
	"github.com/kubewright/kubewright/test/lab/fault"
)

// embedded are the servers that tests share: one with a watch cache, the default, and one without. The first
// test that asks for one starts it.
var embedded = map[bool]*lazyServer{true: {}, false: {opts: apiserver.Options{DisableWatchCache: true}}}

type lazyServer struct {
	opts   apiserver.Options
	once   sync.Once
	server *apiserver.Server
	err    error
}

func (l *lazyServer) get(t *testing.T) *apiserver.Server {
	t.Helper()
	l.once.Do(func() {
		ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
		defer cancel()
		if l.server, l.err = apiserver.Start(ctx, l.opts); l.err == nil {
			l.err = l.server.InstallCRDs(ctx, crds.Files)
		}
	})
	if l.err != nil {
		t.Fatal(l.err)
	}
	return l.server
}

func TestMain(m *testing.M) {
	child.Main(variable, play)
	code := m.Run()
	for _, l := range embedded {
		if l.server == nil {
			continue
		}
		if err := l.server.Stop(); err != nil {
			fmt.Fprintln(os.Stderr, "stopping:", err)
			code = 1
		}
	}
	os.Exit(code)
}

func embeddedCluster(t *testing.T, watchCache bool) cluster {
	t.Helper()
	server := embedded[watchCache].get(t)
	return cluster{
		name: "embedded", config: server.Config(), resource: bakeries,
		enter: func(context.Context, string) error { return nil }, // namespaces are just names
	}
}

// TestEachFault makes each fault happen to each implementation.
func TestEachFault(t *testing.T) {
	t.Parallel()
	eachFault(t, embeddedCluster(t, true), fault.ServerOptions{})
}

// TestEachFaultOverHTTP1 does the same without HTTP/2, whose pings notice dead connections.
func TestEachFaultOverHTTP1(t *testing.T) {
	if !*full {
		t.Skip("make lab runs it")
	}
	t.Parallel()
	eachFault(t, embeddedCluster(t, true), fault.ServerOptions{HTTP1: true})
}

// TestExpiredToken is TestEachFault for the fault that only happens to further pages. A server without a
// watch cache sends pages.
func TestExpiredToken(t *testing.T) {
	if !*full {
		t.Skip("make lab runs it: it needs many objects")
	}
	t.Parallel()
	c := embeddedCluster(t, false)
	namespace := newNamespace()
	const writers, each = 8, 70 // together more than a page of 500
	var group sync.WaitGroup
	errs := make([]error, writers)
	for i := range writers {
		group.Go(func() {
			w, err := c.resource.writer(c.config, namespace)
			for n := 0; n < each && err == nil; n++ {
				err = w.put(t.Context(), fmt.Sprint("page-", i, "-", n), nil)
			}
			errs[i] = err
		})
	}
	if group.Wait(); errors.Join(errs...) != nil {
		t.Fatal(errors.Join(errs...))
	}
	f := fault.ByName("expired-token")
	for _, who := range []implementation{ours, facade, clientGo} {
		tr := trial{
			test: eachAlone, cluster: c, who: who, faults: []fault.Fault{f}, wanted: 1, namespace: namespace,
			plan: fault.Script{strike(f, fault.Page)},
		}
		t.Run(string(who), func(t *testing.T) { tr.check(t, f.Name, fault.Page.String()) })
	}
}
