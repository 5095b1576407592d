package kwctrl_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/go-logr/logr"
	"github.com/go-logr/logr/funcr"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/rest"
	toolscache "k8s.io/client-go/tools/cache"
	"k8s.io/klog/v2"
	"sigs.k8s.io/controller-runtime/pkg/builder"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller"
	"sigs.k8s.io/controller-runtime/pkg/manager"
	"sigs.k8s.io/controller-runtime/pkg/metrics"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	kwctrl "github.com/kubewright/kubewright/contrib/controller-runtime"
	"github.com/kubewright/kubewright/contrib/controller-runtime/internal/configmaps"
	"github.com/kubewright/kubewright/eyes"
	"github.com/kubewright/kubewright/internal/bubble"
	"github.com/kubewright/kubewright/runtime/informer"
	"github.com/kubewright/kubewright/runtime/ownwrites"
	"github.com/kubewright/kubewright/runtime/shard"
	"github.com/kubewright/kubewright/sharding"
	"github.com/kubewright/kubewright/sharding/shardingeyes"
	"github.com/kubewright/kubewright/sharding/shardingtest"
)

var pages = flag.String("pages", "",
	"a folder for what eyes print of each planted fault, and for what a plain manager logs and measures of it")

// patient is a running manager in which a fault is planted.
type patient struct {
	*testing.T
	api     *configmaps.Server
	manager manager.Manager
	eyes    *eyes.Eyes
	// answer, if it returns a response, answers instead of the server. change changes a body line by line.
	mu     sync.Mutex
	answer func(r *http.Request) *http.Response
	change func(line []byte) []byte
	// reconcile is what the controller does.
	reconcile reconcile.Func
	// log is what the manager has logged.
	log bytes.Buffer
	// plain is set for a manager with client-go's informers and controller-runtime's queue.
	plain bool
}

func (p *patient) logged() string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.log.String()
}

// RoundTrip answers a request of the manager.
func (p *patient) RoundTrip(r *http.Request) (*http.Response, error) {
	p.mu.Lock()
	answer, change := p.answer, p.change
	p.mu.Unlock()
	if answer != nil {
		if response := answer(r); response != nil {
			return response, nil
		}
	}
	response, err := p.api.RoundTrip(r)
	if err == nil && change != nil {
		response.Body = changed{response.Body, change}
	}
	return response, err
}

func (p *patient) answers(answer func(r *http.Request) *http.Response) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.answer = answer
}

// refuse answers all requests with an error.
func (p *patient) refuse(err *apierrors.StatusError) {
	status := err.Status()
	status.TypeMeta = metav1.TypeMeta{APIVersion: "v1", Kind: "Status"}
	text, _ := json.Marshal(status)
	p.answers(func(*http.Request) *http.Response {
		return &http.Response{StatusCode: int(err.ErrStatus.Code), Body: io.NopCloser(bytes.NewReader(text)),
			Header: http.Header{"Content-Type": {"application/json"}}}
	})
}

// changed changes what is read. The test server writes each event at once.
type changed struct {
	io.ReadCloser
	change func([]byte) []byte
}

func (c changed) Read(p []byte) (int, error) {
	n, err := c.ReadCloser.Read(p)
	return copy(p, c.change(p[:n])), err
}

// fault is a fault, and the kind of its finding, whose text has texts. before is called before the manager
// starts, after when it has synced.
type fault struct {
	kind          string
	texts         []string
	before, after func(p *patient)
	wait          time.Duration
	options       informer.Options
	// ownWrites makes the controller wait for its own writes. silent keeps the server from sending bookmarks.
	ownWrites, silent bool
}

var faults = map[string]fault{
	"01 permission removed": {kind: "cannot list", texts: []string{"forbidden", "configmaps"}, wait: time.Minute,
		before: func(p *patient) {
			p.refuse(apierrors.NewForbidden(corev1.Resource("configmaps"), "", errors.New(
				`User "baker" cannot list resource "configmaps" in API group "" at the cluster scope`)))
		}},
	"02 definition deleted": {kind: "cannot list", texts: []string{"not served"}, wait: time.Minute,
		after: func(p *patient) {
			p.answers(func(*http.Request) *http.Response {
				return &http.Response{StatusCode: http.StatusNotFound, Header: http.Header{},
					Body: io.NopCloser(strings.NewReader("404 page not found\n"))}
			})
			p.api.CloseWatches()
		}},
	"03 watch that is a black hole": {kind: "silent watch", wait: 5 * time.Minute, silent: true,
		after: func(p *patient) { p.api.Bookmark() }},
	"04 object that can't be decoded": {kind: "cannot list", texts: []string{`data["size"]`}, wait: time.Minute,
		before: func(p *patient) {
			p.change = func(line []byte) []byte {
				return bytes.ReplaceAll(line, []byte(`"size":"5"`), []byte(`"size":555`))
			}
		}},
	"05 too many requests": {kind: "cannot list", texts: []string{"throttled"}, wait: time.Minute,
		before: func(p *patient) { p.refuse(apierrors.NewTooManyRequestsError("slow down")) }},
	"06 handler that hangs": {kind: "handler hangs", wait: time.Minute,
		texts: []string{"hasn't returned", "since 2000-01-01T00:00:30Z"},
		after: func(p *patient) {
			i, err := p.manager.GetCache().GetInformer(p.Context(), &corev1.ConfigMap{})
			if err != nil {
				p.Fatal(err)
			}
			if _, err := i.AddEventHandler(toolscache.ResourceEventHandlerFuncs{
				AddFunc: func(any) { <-p.Context().Done() },
			}); err != nil {
				p.Fatal(err)
			}
		}},
	"07 reconcile that hangs": {kind: "reconcile hangs", wait: 12 * time.Minute,
		before: func(p *patient) {
			p.reconcile = func(ctx context.Context, _ reconcile.Request) (reconcile.Result, error) {
				<-ctx.Done()
				return reconcile.Result{}, nil
			}
		}},
	"08 key that fails for ever": {kind: "key fails", wait: 2 * time.Minute,
		before: func(p *patient) {
			p.reconcile = func(_ context.Context, r reconcile.Request) (reconcile.Result, error) {
				if r.Name == "one" {
					return reconcile.Result{}, errors.New("no flour")
				}
				return reconcile.Result{}, nil
			}
		}},
	"09 cached object that is modified": {kind: "cache mutated", wait: time.Minute,
		options: informer.Options{MutationSample: 1},
		after: func(p *patient) {
			// The detector's lock, taken for another object, tells the race detector what came first.
			p.api.Create(&corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: "four"}})
			synctest.Wait()
			list := &corev1.ConfigMapList{}
			if err := p.manager.GetCache().List(p.Context(), list, client.UnsafeDisableDeepCopy); err != nil {
				p.Fatal(err)
			}
			for _, item := range list.Items { // in any order; the new object has no data
				if item.Data != nil {
					item.Data["size"] = "6"
					break
				}
			}
			p.api.Create(&corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: "five"}})
		}},
	"10 watch that expires every second": {kind: "relists too often", texts: []string{"too old"},
		wait: time.Second,
		after: func(p *patient) {
			for range 60 {
				bubble.Pass(time.Second)
				p.api.FailWatches(apierrors.NewResourceExpired("too old resource version: 1 (100)"))
			}
		}},
	"11 own write that the cache never shows": {kind: "stale after own writes", wait: 20 * time.Second,
		ownWrites: true,
		before: func(p *patient) {
			p.api.NoWatchList()
			p.api.Lag = time.Hour
			p.reconcile = func(ctx context.Context, r reconcile.Request) (reconcile.Result, error) {
				object := &corev1.ConfigMap{}
				if err := p.manager.GetClient().Get(ctx, r.NamespacedName, object); err != nil {
					return reconcile.Result{}, client.IgnoreNotFound(err)
				}
				patch := client.RawPatch("application/merge-patch+json", []byte(`{"data":{"size":"7"}}`))
				err := p.manager.GetClient().Patch(ctx, object, patch)
				return reconcile.Result{RequeueAfter: time.Second}, err
			}
		}},
	"12 range that nobody owns": {kind: "no owner", wait: time.Minute,
		texts: []string{"since 2000-01-01T00:00:30Z"},
		after: func(p *patient) {
			group := shardingtest.NewGroup()
			var members []*sharding.Member
			for _, name := range []string{"anna", "bert"} {
				m, err := group.NewMember(sharding.Config{Identity: name, Kinds: []string{"configmaps"},
					Hashes: func(shard.Range) ([]uint64, bool) { return nil, true }})
				if err != nil {
					p.Fatal(err)
				}
				members = append(members, m)
			}
			shardingeyes.Add(p.eyes, "bakers", members[0])
			ctx, stop := context.WithCancel(p.Context())
			var running sync.WaitGroup
			for _, m := range members {
				running.Go(func() { _ = m.Run(ctx) })
			}
			p.Cleanup(func() { stop(); running.Wait() })
			if err := group.Move(ctx, members[0], shardingtest.Of("oslo")); err != nil {
				p.Fatal(err)
			}
		}},
}

// plant plants the fault in a running manager, and waits. A plain one has no informers and queues of ours.
func (f fault) plant(t *testing.T, plain bool) *patient {
	p := &patient{T: t, api: configmaps.New(), eyes: eyes.New(eyes.Options{}), plain: plain}
	for _, name := range []string{"one", "two", "three"} {
		p.api.Create(&corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: name},
			Data: map[string]string{"size": "5"}})
	}
	p.reconcile = func(context.Context, reconcile.Request) (reconcile.Result, error) {
		return reconcile.Result{}, nil
	}
	if f.before != nil {
		f.before(p)
	}
	p.run(kwctrl.Options{Options: f.options}, f.ownWrites && !plain)
	bubble.Pass(30 * time.Second)
	if f.after != nil {
		f.after(p)
		synctest.Wait() // so that the first look sees what it has caused
	}
	for range 4 { // as somebody looks who looks now and then
		p.eyes.Snapshot()
		bubble.Pass(f.wait / 4)
		if !f.silent {
			p.api.Bookmark()
			synctest.Wait()
		}
	}
	return p
}

// TestPlantedFaults plants faults in a running manager, one at a time. What eyes print has to have one
// finding, which is of the right kind.
func TestPlantedFaults(t *testing.T) {
	for name, f := range faults {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := f.plant(t, false).eyes.Snapshot()
				var kinds []string
				for _, f := range s.Findings {
					kinds = append(kinds, f.Kind)
				}
				var text bytes.Buffer
				if err := s.WriteText(&text); err != nil {
					t.Fatal(err)
				}
				if !slices.Equal(kinds, []string{f.kind}) {
					t.Errorf("findings of %q, want %s\n%s", kinds, f.kind, text.String())
				}
				for _, want := range f.texts {
					if !strings.Contains(text.String(), want) {
						t.Errorf("%q isn't in\n%s", want, text.String())
					}
				}
				writePage(t, name[:2]+".txt", text.Bytes())
			})
			if *pages != "" {
				synctest.Test(t, func(t *testing.T) {
					p := f.plant(t, true)
					writePage(t, name[:2]+".control.txt", []byte(p.logged()+metricsNow(t)))
				})
			}
		})
	}
}

// writePage writes a file for a reader.
func writePage(t *testing.T, name string, text []byte) {
	if *pages == "" {
		return
	}
	if err := os.WriteFile(filepath.Join(*pages, name), text, 0o666); err != nil {
		t.Fatal(err)
	}
}

// metricsNow are client-go's and controller-runtime's metrics.
func metricsNow(t *testing.T) string {
	families, err := metrics.Registry.Gather()
	if err != nil {
		t.Fatal(err)
	}
	var text strings.Builder
	for _, f := range families {
		text.WriteString(f.String() + "\n")
	}
	return text.String()
}

// TestManagerThatEnds checks that the log of a manager which gives up because of a cache names the informer
// that fails, and why.
func TestManagerThatEnds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := &patient{T: t, api: configmaps.New(), eyes: eyes.New(eyes.Options{})}
		p.refuse(apierrors.NewForbidden(corev1.Resource("configmaps"), "", errors.New("no role")))
		p.run(kwctrl.Options{}, false)
		bubble.Pass(3 * time.Minute) // Two are the limit of controllers.
		log := p.logged()
		if strings.Count(log, "did not sync") != 1 || !strings.Contains(log, "because of this informer") ||
			!strings.Contains(log, `"informer"="informer of v1 ConfigMap"`) || !strings.Contains(log, "no role") {
			t.Errorf("the manager has logged\n%s", log)
		}
	})
}

// run runs the manager until the test ends.
func (p *patient) run(o kwctrl.Options, ownWrites bool) {
	config := &rest.Config{Host: "http://api", QPS: -1, Transport: p}
	if ownWrites {
		o.OwnWrites = ownwrites.New(ownwrites.Options{})
		config.Wrap(o.OwnWrites.Transport)
	}
	caches := kwctrl.NewCaches(o)
	options := managerOptions(caches)
	options.Logger = funcr.New(func(prefix, line string) {
		p.mu.Lock()
		defer p.mu.Unlock()
		p.log.WriteString(prefix + " " + line + "\n")
	}, funcr.Options{})
	if p.plain {
		options.NewCache = nil
		klog.SetLogger(options.Logger)
		p.Cleanup(klog.ClearLogger)
	}
	options.BaseContext = func() context.Context { // as log.SetLogger does it for a whole program
		return logr.NewContext(p.Context(), options.Logger)
	}
	mgr, err := manager.New(config, options)
	if err != nil {
		p.Fatal(err)
	}
	p.manager = mgr
	if !p.plain {
		p.eyes.AddCaches("manager", caches)
	}
	controllerOptions := controller.Options{MaxConcurrentReconciles: 3,
		NewQueue: func(name string, l limiter[reconcile.Request]) limitingQueue {
			q := kwctrl.NewQueue(name, l)
			p.eyes.AddQueue(name, q.(eyes.StatusQueue))
			return q
		}}
	if p.plain {
		controllerOptions.NewQueue = nil
	}
	var r reconcile.Reconciler = reconcile.Func(func(
		ctx context.Context, request reconcile.Request,
	) (reconcile.Result, error) {
		return p.reconcile(ctx, request)
	})
	if ownWrites {
		if r, controllerOptions, err = kwctrl.OwnWrites(caches, r, controllerOptions); err != nil {
			p.Fatal(err)
		}
	}
	if err := builder.ControllerManagedBy(mgr).Named("baker").For(&corev1.ConfigMap{}).
		WithOptions(controllerOptions).WithLogConstructor(func(*reconcile.Request) logr.Logger {
		return options.Logger
	}).Complete(r); err != nil {
		p.Fatal(err)
	}
	ctx, cancel := context.WithCancel(p.Context())
	ended := make(chan error)
	go func() { ended <- mgr.Start(ctx) }()
	p.Cleanup(func() {
		cancel()
		<-ended // An error of a cache that never synced is no surprise.
	})
}
