// Package ownwrites checks, with real API servers behind a proxy that delays watches, that no reconcile
// begins on a cache without what its key has written: with generated clients, dynamic ones and
// controller-runtime's.
package ownwrites

import (
	"context"
	"flag"
	"io"
	"os"
	"sync"
	"testing"
	"time"

	"github.com/go-logr/logr"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apiextensions-apiserver/pkg/client/clientset/clientset"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	ctrl "sigs.k8s.io/controller-runtime"

	"github.com/kubewright/kubewright/envtest/apiserver"
	"github.com/kubewright/kubewright/examples/crds"
	"github.com/kubewright/kubewright/examples/generated/clientset/versioned"
	"github.com/kubewright/kubewright/runtime/ownwrites"
	"github.com/kubewright/kubewright/runtime/queue"
	"github.com/kubewright/kubewright/test/e2e/kubeserver"
)

var count = flag.Int("ownwrites.rounds", 0, "writes of each kind of client; 0 stands for a few")

// lag is how much later watches send events.
const lag = 500 * time.Millisecond

func TestMain(m *testing.M) {
	ctrl.SetLogger(logr.Discard())
	os.Exit(m.Run())
}

// few returns the number of rounds: that of the flag if it is set, otherwise n, or less with -short.
func few(n int) int {
	switch {
	case *count > 0:
		return *count
	case testing.Short():
		return 6 * workers()
	}
	return n
}

// TestEmbedded uses the embedded server.
func TestEmbedded(t *testing.T) {
	config := lagging(t, startEmbedded(t), lag)
	for name := range sides {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			waits(t, name, config, few(1000))
		})
	}
	t.Run("without", func(t *testing.T) {
		t.Parallel()
		for name := range sides {
			doesNotWait(t, name, config)
		}
	})
}

// TestKube uses a kube-apiserver.
func TestKube(t *testing.T) {
	if testing.Short() {
		t.Skip("builds a kube-apiserver")
	}
	config := lagging(t, startKube(t), lag)
	for name := range sides {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			waits(t, name, config, few(1000))
		})
	}
}

// waits runs rounds of a side, and checks that each begins on a cache that shows the one before.
func waits(t *testing.T, name string, config *rest.Config, n int) {
	counts, r := &counts{}, newRounds(t, n)
	// The bound is one that slow machines don't reach.
	tracker := &ownwrites.Tracker{Bound: time.Minute}
	config = rest.CopyConfig(config)
	config.Wrap(tracker.Transport)
	begin := time.Now()
	s := setting{config, name, tracker, true, workers(), counts}
	run(t, r, func(ctx context.Context) error { return sides[name](ctx, r, s) })
	took := time.Since(begin)
	r.mu.Lock()
	defer r.mu.Unlock()
	counts.mu.Lock()
	defer counts.mu.Unlock()
	t.Logf("%s: %d writes and %d reconciles in %.1f s, %d waits of %.2f s on average, %d stale",
		name, n, r.runs, took.Seconds(), counts.waits, counts.waited/float64(max(counts.waits, 1)), len(r.stale))
	if len(r.stale) > 0 {
		t.Errorf("%d reconciles are stale, such as %s", len(r.stale), r.stale[0])
	}
	if len(r.failures) > 0 {
		t.Errorf("%d requests have failed, such as %v", len(r.failures), r.failures[0])
	}
	if counts.bound+counts.unknown > 0 || counts.waits == 0 {
		t.Errorf("%d waits, %d by the bound, %d unknown", counts.waits, counts.bound, counts.unknown)
	}
}

// doesNotWait checks that without the gate reconciles are stale: else waits would show nothing.
func doesNotWait(t *testing.T, name string, config *rest.Config) {
	r := newRounds(t, 2*workers())
	tracker := &ownwrites.Tracker{}
	config = rest.CopyConfig(config)
	config.Wrap(tracker.Transport)
	s := setting{config, name + "-without", tracker, false, workers(), nil}
	run(t, r, func(ctx context.Context) error { return sides[name](ctx, r, s) })
	r.mu.Lock()
	defer r.mu.Unlock()
	t.Logf("%s: %d of %d reconciles are stale, %d requests have failed",
		name, len(r.stale), r.runs, len(r.failures))
	if len(r.stale) == 0 {
		t.Errorf("%s: no reconcile is stale", name)
	}
}

// counts are the metrics of a queue.
type counts struct {
	mu                    sync.Mutex
	waits, bound, unknown int
	waited                float64
}

type metric func(float64)

func (f metric) Inc()              { f(1) }
func (f metric) Dec()              { f(-1) }
func (f metric) Set(v float64)     { f(v) }
func (f metric) Observe(v float64) { f(v) }

// metrics returns none if c is nil.
func (c *counts) metrics() *queue.Metrics {
	if c == nil {
		return nil
	}
	locked := func(do func(float64)) metric {
		return func(v float64) {
			c.mu.Lock()
			defer c.mu.Unlock()
			do(v)
		}
	}
	ignored := metric(func(float64) {})
	return &queue.Metrics{
		Depth: ignored, Adds: ignored, Latency: ignored, WorkDuration: ignored, UnfinishedWork: ignored,
		LongestRunning: ignored, Retries: ignored,
		ParkedDuration: locked(func(v float64) { c.waits++; c.waited += v }),
		Late:           locked(func(float64) { c.bound++ }),
		UnknownWrites:  locked(func(float64) { c.unknown++ }),
	}
}

// startEmbedded starts an embedded server, which ends with the test.
func startEmbedded(t *testing.T) *rest.Config {
	t.Helper()
	s, err := apiserver.Start(t.Context(), apiserver.Options{Logs: io.Discard})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Stop(); err != nil {
			t.Error(err)
		}
	})
	if err := s.InstallCRDs(t.Context(), crds.Files); err != nil {
		t.Fatal(err)
	}
	return s.Config()
}

// startKube starts a kube-apiserver with the definitions and namespaces, which ends with the test.
func startKube(t *testing.T) *rest.Config {
	t.Helper()
	binaries, err := kubeserver.Build(t.Context(), t.Output())
	if err != nil {
		t.Fatal(err)
	}
	s, err := kubeserver.Start(t.Context(), binaries, kubeserver.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Stop(); err != nil {
			t.Error(err)
		}
	})
	install(t, s.Config())
	return s.Config()
}

// install creates the definitions and the namespaces, and waits until bakeries are served.
func install(t *testing.T, config *rest.Config) {
	t.Helper()
	definitions, err := apiserver.ReadCRDs(crds.Files)
	if err != nil {
		t.Fatal(err)
	}
	client := clientset.NewForConfigOrDie(config).ApiextensionsV1().CustomResourceDefinitions()
	for _, definition := range definitions {
		if _, err := client.Create(t.Context(), definition, metav1.CreateOptions{}); err != nil {
			t.Fatal(err)
		}
	}
	for name := range sides {
		namespace := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: name}}
		if _, err := kubernetes.NewForConfigOrDie(config).CoreV1().Namespaces().Create(
			t.Context(), namespace, metav1.CreateOptions{}); err != nil {
			t.Fatal(err)
		}
	}
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	bakeries := versioned.NewForConfigOrDie(config).ShopV1().Bakeries("")
	err = wait.PollUntilContextCancel(ctx, 100*time.Millisecond, true, func(ctx context.Context) (bool, error) {
		_, err := bakeries.List(ctx, metav1.ListOptions{})
		return err == nil, nil
	})
	if err != nil {
		t.Fatal(err)
	}
}
