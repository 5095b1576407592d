//go:build linux

package ownwrites

import (
	"context"
	"flag"
	"net/http"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/rest"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/kubewright/kubewright/examples/generated/clientset/versioned"
	"github.com/kubewright/kubewright/runtime/ownwrites"
)

var table = flag.Bool("ownwrites.table", false, "print the table of docs/controller-runtime.md")

// rows are those of the table. A row gets a configuration for each run; tracker is the setting's.
var rows = []row{
	{"controller-runtime", func(ctx context.Context, r *rounds, s setting) error {
		return runController(ctx, r, s, nil, nil)
	}},
	{"`EnableReadYourWritesConsistency`", func(ctx context.Context, r *rounds, s setting) error {
		return runController(ctx, r, s, nil, func(o *ctrl.Options) {
			o.Client.Cache = &client.CacheOptions{EnableReadYourWritesConsistency: new(true)}
		})
	}},
	{"`kwctrl.OwnWrites`", func(ctx context.Context, r *rounds, s setting) error {
		s.tracks = true
		s.config.Wrap(s.tracker.Transport)
		return runManager(ctx, r, s)
	}},
}

type row struct {
	name string
	run  side
}

// TestTable runs a controller with 8 workers for 64 objects, which writes each object ten times, as soon as
// it can, with a kube-apiserver: on controller-runtime's caches, on those with its barrier for reads, and
// with kwctrl.OwnWrites; in make upstream also with client-go's store of written versions. It prints what
// they take.
func TestTable(t *testing.T) {
	if !*table {
		t.Skip("prints a table, if -ownwrites.table is set")
	}
	server := startKube(t)
	t.Log("| | reconciles | stale | refused writes | requests | workers blocked | CPU seconds |")
	t.Log("| --- | --: | --: | --: | --: | --: | --: |")
	for _, row := range rows {
		config := lagging(t, server, lag)
		var requests atomic.Int64
		config.Wrap(func(next http.RoundTripper) http.RoundTripper {
			return counting{next, &requests}
		})
		r := newRounds(t, 10*workers())
		s := setting{config, "kwctrl", &ownwrites.Tracker{}, false, 8, nil}
		begin, before := time.Now(), cpu(t)
		run(t, r, func(ctx context.Context) error { return row.run(ctx, r, s) })
		took := time.Since(begin)
		r.mu.Lock()
		t.Logf("| %s | %d | %d | %d | %d | %.1f of 8 | %.1f |", row.name, r.runs, len(r.stale),
			len(r.failures), requests.Load(), r.reading.Seconds()/took.Seconds(), (cpu(t) - before).Seconds())
		r.mu.Unlock()
		removeAll(t, server)
	}
}

// counting counts requests.
type counting struct {
	next http.RoundTripper
	n    *atomic.Int64
}

func (c counting) RoundTrip(r *http.Request) (*http.Response, error) {
	c.n.Add(1)
	return c.next.RoundTrip(r)
}

// cpu returns the time that this process has used: the controller's, and that of the proxy.
func cpu(t *testing.T) time.Duration {
	var usage syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &usage); err != nil {
		t.Fatal(err)
	}
	return time.Duration(usage.Utime.Nano() + usage.Stime.Nano())
}

// removeAll removes the bakeries of a run.
func removeAll(t *testing.T, config *rest.Config) {
	t.Helper()
	err := versioned.NewForConfigOrDie(config).ShopV1().Bakeries("kwctrl").DeleteCollection(
		t.Context(), metav1.DeleteOptions{}, metav1.ListOptions{})
	if err != nil {
		t.Fatal(err)
	}
}
