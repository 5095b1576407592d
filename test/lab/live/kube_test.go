package live

import (
	"context"
	"fmt"
	"sync"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes/scheme"

	"github.com/kubewright/kubewright/internal/guarantee"
	"github.com/kubewright/kubewright/runtime/client"
	"github.com/kubewright/kubewright/test/e2e/kubeserver"
	"github.com/kubewright/kubewright/test/lab/fault"
)

// startKube starts a whole kube-apiserver for a test that takes minutes.
func startKube(t *testing.T, flags ...string) (*kubeserver.Server, cluster) {
	t.Helper()
	if !*full {
		t.Skip("make lab runs it: it takes minutes")
	}
	return launchKube(t, flags...)
}

// launchKube starts a whole kube-apiserver, which ends with the test.
func launchKube(t *testing.T, flags ...string) (*kubeserver.Server, cluster) {
	t.Helper()
	if !long() {
		t.Skip("builds a kube-apiserver, which takes minutes the first time")
	}
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Minute)
	defer cancel()
	binaries, err := kubeserver.Build(ctx, t.Output())
	if err != nil {
		t.Fatal(err)
	}
	server, err := kubeserver.Start(ctx, binaries, kubeserver.Options{Flags: flags})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := server.Stop(); err != nil {
			t.Error(err)
		}
	})
	namespaces, err := client.For[*corev1.Namespace, *corev1.NamespaceList](server.Config(), scheme.Scheme)
	if err != nil {
		t.Fatal(err)
	}
	return server, cluster{
		name: "kube-apiserver", config: server.Config(), resource: configMaps,
		enter: func(ctx context.Context, name string) error {
			_, err := namespaces.Create(ctx, &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: name}},
				metav1.CreateOptions{})
			return err
		},
	}
}

// TestKubeEachFault and TestKubeMixtures are TestEachFault and TestMixtures with built-in types, in protobuf.
func TestKubeEachFault(t *testing.T) {
	t.Parallel()
	_, c := startKube(t)
	eachFault(t, c, fault.ServerOptions{})
}

func TestKubeMixtures(t *testing.T) {
	t.Parallel()
	_, c := startKube(t)
	mixtures(t, c, 20)
}

// TestOutages kills the kube-apiserver again and again, and shuts it down again and again, while objects
// change. There are informers made for each outage, and some that live through all of them. Each time all
// have what the server has, and none sends more requests than documented.
func TestOutages(t *testing.T) {
	t.Parallel()
	const outages = 30
	var group sync.WaitGroup
	for h, end := range map[hardship]func(context.Context, *kubeserver.Server) error{
		kills:     func(_ context.Context, s *kubeserver.Server) error { return s.Kill() },
		shutdowns: func(ctx context.Context, s *kubeserver.Server) error { return s.Shutdown(ctx) },
	} {
		group.Go(func() {
			t.Run(h.name, func(t *testing.T) {
				// A shutdown waits for the connections of watches, as long as a request may take.
				server, c := startKube(t, "--request-timeout=2s")
				ctx, cancel := context.WithTimeout(t.Context(), 20*time.Minute)
				defer cancel()
				namespace := newNamespace()
				if err := c.enter(ctx, namespace); err != nil {
					t.Fatal(err)
				}
				w, err := c.resource.writer(c.config, namespace)
				if err != nil {
					t.Fatal(err)
				}
				old := newLab(ctx, t, c, namespace, true)
				for round := range outages {
					outage(ctx, t, c, server, h, end, w, namespace, round)
				}
				old.converge(ctx)
				old.end()
			})
		})
	}
	group.Wait()
}

// loaded is how long objects change before an outage.
const loaded = 1500 * time.Millisecond

func outage(
	ctx context.Context, t *testing.T, c cluster, server *kubeserver.Server, h hardship,
	end func(context.Context, *kubeserver.Server) error, w writer, namespace string, round int,
) {
	t.Helper()
	l := newLab(ctx, t, c, namespace, round%2 == 0)
	l.converge(ctx)
	stop := churn(ctx, w, uint64(round))
	// A watch that ends within a second of its start is followed by a list in any case.
	<-time.After(loaded)
	before := l.proxy.Counts()
	begin := time.Now()
	if err := end(ctx, server); err != nil {
		t.Fatal(err)
	}
	if err := server.Restart(ctx); err != nil {
		t.Fatal(err)
	}
	took := time.Since(begin)
	stop()
	back := time.Now()
	verdicts := l.converge(ctx)
	l.report(h, verdicts, time.Since(back))
	l.counts(before, func(s *subject, requests, lists int) {
		t.Logf("round %d, %v away, %v later: %s sent %d requests, %d of them lists", round,
			took.Round(time.Millisecond), time.Since(begin).Round(time.Millisecond), s.who, requests, lists)
		if s.who != clientGo && (requests > maxRequests || lists > maxLists) {
			t.Errorf("%s: round %d: %s sent %d requests, %d of them lists", guarantee.BoundedLoad, round,
				s.who, requests, lists)
		}
	})
	l.end()
}

// TestNoStorm kills a kube-apiserver that many informers watch. None of them sends more requests than
// documented.
func TestNoStorm(t *testing.T) {
	t.Parallel()
	server, c := startKube(t)
	ctx, cancel := context.WithTimeout(t.Context(), 5*time.Minute)
	defer cancel()
	namespace := newNamespace()
	if err := c.enter(ctx, namespace); err != nil {
		t.Fatal(err)
	}
	w, err := c.resource.writer(c.config, namespace)
	if err != nil {
		t.Fatal(err)
	}
	const informers = 200
	l := emptyLab(t, c)
	label := func(i int) map[string]string { return map[string]string{"informer": fmt.Sprint(i)} }
	for i := range informers {
		if err := w.put(ctx, fmt.Sprint("object-", i), label(i)); err != nil {
			t.Fatal(err)
		}
		l.add(ctx, ours, options{namespace: namespace, labels: fmt.Sprint("informer=", i), watchList: true})
	}
	l.converge(ctx)
	before := l.proxy.Counts()
	if err := server.Kill(); err != nil {
		t.Fatal(err)
	}
	if err := server.Restart(ctx); err != nil {
		t.Fatal(err)
	}
	for i := range informers {
		if err := w.put(ctx, fmt.Sprint("object-", i), label(i)); err != nil {
			t.Fatal(err)
		}
	}
	begin := time.Now()
	verdicts := l.converge(ctx)
	l.report(storm, verdicts, time.Since(begin))
	all, allLists, most := 0, 0, 0
	l.counts(before, func(s *subject, requests, lists int) {
		all, allLists, most = all+requests, allLists+lists, max(most, requests)
		if requests > maxRequests || lists > maxLists {
			t.Errorf("%s: the informer of %s: %d requests, %d of them lists", storm.guarantee,
				s.options.labels, requests, lists)
		}
	})
	t.Logf("%d informers sent %d requests, %d of them lists, %d each at most", informers, all, allLists,
		most)
	l.end()
}
