//go:build linux

package ownwrites

import (
	"bytes"
	"context"
	"flag"
	"fmt"
	"net/http"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/rest"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	kwctrl "github.com/kubewright/kubewright/contrib/controller-runtime"
	"github.com/kubewright/kubewright/examples/generated/clientset/versioned"
	"github.com/kubewright/kubewright/runtime/ownwrites"
)

var table = flag.Bool("ownwrites.table", false, "print the table of docs/controller-runtime.md")

// TestTable runs a controller with 8 workers for 64 objects, which writes each object ten times, as soon as
// it can, with a kube-apiserver: on controller-runtime's caches, on those with its barrier for reads, and
// with kwctrl.OwnWrites. It prints what they take.
func TestTable(t *testing.T) {
	if !*table {
		t.Skip("prints a table, if -ownwrites.table is set")
	}
	server := startKube(t)
	var out bytes.Buffer
	out.WriteString("| | reconciles | stale | refused writes | requests | workers blocked | " +
		"seconds | CPU seconds |\n| --- | --: | --: | --: | --: | --: | --: | --: |\n")
	barrier := func(o *ctrl.Options) {
		o.Client.Cache = &client.CacheOptions{EnableReadYourWritesConsistency: new(true)}
	}
	for _, row := range []struct {
		name   string
		adjust func(*ctrl.Options)
		tracks bool
	}{
		{name: "controller-runtime"},
		{name: "`EnableReadYourWritesConsistency`", adjust: barrier},
		{name: "`kwctrl.OwnWrites`", tracks: true},
	} {
		config := lagging(t, server, lag)
		var requests atomic.Int64
		config.Wrap(func(next http.RoundTripper) http.RoundTripper {
			return counting{next, &requests}
		})
		tracker := ownwrites.New(ownwrites.Options{})
		var caches *kwctrl.Caches
		if row.tracks {
			config.Wrap(tracker.Transport)
			caches = kwctrl.NewCaches(kwctrl.Options{OwnWrites: tracker})
		}
		r := newRounds(t, 10*workers())
		s := setting{config, "kwctrl", tracker, row.tracks, 8}
		begin, before := time.Now(), cpu(t)
		run(t, r, func(ctx context.Context) error { return runController(ctx, r, s, caches, row.adjust) })
		took := time.Since(begin)
		r.mu.Lock()
		fmt.Fprintf(&out, "| %s | %d | %d | %d | %d | %.1f of 8 | %.0f | %.1f |\n", row.name, r.runs, len(r.stale),
			len(r.failures), requests.Load(), r.reading.Seconds()/took.Seconds(), took.Seconds(),
			(cpu(t) - before).Seconds())
		r.mu.Unlock()
		removeAll(t, server)
	}
	t.Log("\n" + out.String())
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
