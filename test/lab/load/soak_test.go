package load

import (
	"context"
	"fmt"
	"maps"
	"net/http"
	"os"
	"runtime"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	utilnet "k8s.io/apimachinery/pkg/util/net"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/cache"

	shopv1 "github.com/kubewright/kubewright/examples/apis/shop/v1"
	"github.com/kubewright/kubewright/examples/generated/clientset/versioned"
	"github.com/kubewright/kubewright/examples/generated/informers/externalversions"
	"github.com/kubewright/kubewright/internal/guarantee"
	"github.com/kubewright/kubewright/runtime/informer"
	"github.com/kubewright/kubewright/test/lab/results"
)

// soak is an informer under load.
type soak struct {
	job
	handlers int
	// unbounded lets the blocked handler's backlog grow without bound.
	unbounded bool
	// For is how long the load lasts, every is the interval of samples.
	For, every time.Duration
}

// run runs the soak and stops everything. It checks what must hold whatever the bounds are.
func (s soak) run(t *testing.T) (r results.Soak) {
	t.Helper()
	server := s.start(t)
	r = results.Soak{Server: s.Server, Objects: s.Objects, Handlers: s.handlers,
		Writers: s.Writers, Machine: machine()}
	config := server.Config()
	transport, err := rest.TransportFor(config)
	if err != nil {
		t.Fatal(err)
	}
	client, err := versioned.NewForConfigAndClient(config, &http.Client{Transport: transport})
	if err != nil {
		t.Fatal(err)
	}
	r.Before = now()
	s.watch(t, server, client, &r)
	ticker := time.NewTicker(100 * time.Millisecond)
	defer ticker.Stop()
	// Connections and their goroutines take a moment to end.
	for range 100 {
		utilnet.CloseIdleConnectionsFor(transport)
		r.After = now()
		if r.After.Goroutines <= r.Before.Goroutines && r.After.Descriptors <= r.Before.Descriptors {
			break
		}
		<-ticker.C
	}
	return r
}

// watch runs the informer from start to stop.
func (s soak) watch(t *testing.T, server process, client versioned.Interface, r *results.Soak) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	factory := externalversions.NewSharedInformerFactory(client, 0)
	u := underLoad{informer: factory.Shop().V1().Bakeries().Informer(), blocked: newBlocked()}
	var registrations []cache.ResourceEventHandlerRegistration
	add := func(h cache.ResourceEventHandler, o informer.HandlerOptions) {
		registration, err := informer.AddEventHandler(u.informer, h, o)
		if err != nil {
			t.Fatal(err)
		}
		registrations = append(registrations, registration)
	}
	add(u.blocked, informer.HandlerOptions{Name: blockedName, Coalesce: !s.unbounded})
	for range s.handlers - 1 {
		q := newQuick()
		u.quick = append(u.quick, q)
		add(q, informer.HandlerOptions{})
	}
	factory.StartWithContext(ctx)
	defer factory.Shutdown()
	defer cancel()
	for _, registration := range registrations {
		<-registration.HasSyncedChecker().Done()
	}
	r.Synced = now()
	u.listed = u.status().Listed

	server.load(t)
	r.Samples = u.sample(s.For, s.every)
	done := server.rest(t)
	r.Changes, r.Took = done.Changes, done.Took
	for _, q := range u.quick {
		<-q.last
	}
	u.sum(r)
	if r.Lists == 0 && r.Calls != r.Changes+1 {
		t.Errorf("%s: handlers were told of %d changes, the server made %d and the marker", guarantee.Complete,
			r.Calls, r.Changes)
	}
	stored, err := u.check(ctx, client)
	if err != nil {
		t.Error(err)
	}
	close(u.blocked.released)
	<-u.blocked.last
	if !maps.Equal(u.blocked.versions, stored) {
		t.Errorf("%s: the blocked handler, once released, was told of %d objects, the store has %d",
			guarantee.Complete, len(u.blocked.versions), len(stored))
	}
}

// blockedName is the name of the blocked handler.
const blockedName = "blocked"

// underLoad is an informer with its handlers.
type underLoad struct {
	informer cache.SharedIndexInformer
	quick    []*quick
	blocked  *blocked

	listed time.Time // when the last list was received
	lists  int
	before counts // of the last sample
}

func (u *underLoad) status() informer.Status {
	status, _ := informer.StatusOf(u.informer)
	return status
}

// sample takes samples, at the given interval.
func (u *underLoad) sample(during, every time.Duration) (samples []results.Sample) {
	begun := time.Now()
	ticker := time.NewTicker(every)
	defer ticker.Stop()
	for time.Since(begun) < during {
		<-ticker.C
		s := now()
		s.At = time.Since(begun)
		status := u.status()
		if !status.Listed.Equal(u.listed) {
			u.listed = status.Listed
			u.lists++
		}
		for _, h := range status.Handlers {
			if h.Name == blockedName {
				s.Backlog = h.Backlog
			} else {
				s.Others = max(s.Others, h.Backlog)
			}
		}
		total := u.lags()
		recent := total.minus(u.before)
		u.before = total
		s.Lag50, s.Lag99 = recent.percentile(50), recent.percentile(99)
		samples = append(samples, s)
	}
	return samples
}

// lags returns the counts of all handlers that keep up.
func (u *underLoad) lags() (all counts) {
	for _, q := range u.quick {
		all = all.plus(q.read())
	}
	return all
}

// sum adds up what the handlers received.
func (u *underLoad) sum(r *results.Soak) {
	all := u.lags()
	r.Lag50, r.Lag99 = all.percentile(50), all.percentile(99)
	for _, q := range u.quick {
		r.Slowest99 = max(r.Slowest99, q.read().percentile(99))
		r.Calls = max(r.Calls, int(q.calls.Load()))
	}
	r.Lists = u.lists
}

// check compares the handlers with each other, and the store with the server. It returns the versions in the
// store.
func (u *underLoad) check(ctx context.Context, client versioned.Interface) (map[string]string, error) {
	for _, q := range u.quick {
		if q.calls.Load() != u.quick[0].calls.Load() {
			return nil, fmt.Errorf("%s: one handler was told of %d changes, another of %d", guarantee.Complete,
				q.calls.Load(), u.quick[0].calls.Load())
		}
	}
	stored, served := map[string]string{}, map[string]string{}
	for _, obj := range u.informer.GetStore().List() {
		b := obj.(*shopv1.Bakery)
		stored[b.Name] = b.ResourceVersion
	}
	list, err := client.ShopV1().Bakeries(metav1.NamespaceAll).List(ctx, metav1.ListOptions{})
	if err != nil {
		return nil, err
	}
	for _, b := range list.Items {
		served[b.Name] = b.ResourceVersion
	}
	if !maps.Equal(stored, served) {
		return stored, fmt.Errorf(
			"%s: the store has %d objects, the server %d, or they differ", guarantee.Converging, len(stored),
			len(served))
	}
	return stored, nil
}

// now takes a sample of the process.
func now() (s results.Sample) {
	var stats runtime.MemStats
	runtime.ReadMemStats(&stats)
	s.Heap = stats.HeapAlloc
	runtime.GC()
	runtime.ReadMemStats(&stats)
	s.Live = stats.HeapAlloc
	s.Goroutines = runtime.NumGoroutine()
	if open, err := os.ReadDir("/proc/self/fd"); err == nil {
		s.Descriptors = len(open) - 1 // one is that of the folder
	}
	if load, err := os.ReadFile("/proc/loadavg"); err == nil {
		fmt.Sscan(string(load), &s.Load)
	}
	return s
}

func machine() string {
	return fmt.Sprintf("%d cores, %s/%s, %s", runtime.NumCPU(), runtime.GOOS, runtime.GOARCH, runtime.Version())
}
