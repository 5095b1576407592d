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
	"sigs.k8s.io/controller-runtime/pkg/builder"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller"
	"sigs.k8s.io/controller-runtime/pkg/manager"
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

var pages = flag.String("pages", "", "a folder for what eyes print of each planted fault, and for the logs without them")

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
	text, _ := json.Marshal(err.ErrStatus)
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

// ill are the faults. before is called before the manager starts, after when it has synced.
var ill = map[string]struct {
	kind          string
	texts         []string
	before, after func(p *patient)
	wait          time.Duration
	options       informer.Options
	// ownWrites makes the controller wait for its own writes. silent keeps the server from sending bookmarks.
	ownWrites, silent bool
}{
	"01 permission removed": {kind: "cannot list", texts: []string{"forbidden", "configmaps"}, wait: time.Minute,
		before: func(p *patient) {
			p.refuse(apierrors.NewForbidden(corev1.Resource("configmaps"), "", errors.New(
				`User "baker" cannot list resource "configmaps" in API group "" at the cluster scope`)))
		}},
	"02 definition deleted": {kind: "cannot list", texts: []string{"not served"}, wait: time.Minute,
		after: func(p *patient) {
			p.refuse(apierrors.NewGenericServerResponse(http.StatusNotFound, "list", corev1.Resource("configmaps"),
				"", "404 page not found", 0, true))
			p.api.CloseWatches()
		}},
	"03 watch that is a black hole": {kind: "silent watch", wait: 5 * time.Minute, silent: true,
		after: func(p *patient) { p.api.Bookmark() }},
	"04 object that can't be decoded": {kind: "cannot list", texts: []string{`data["size"]`}, wait: time.Minute,
		before: func(p *patient) {
			p.change = func(line []byte) []byte { return bytes.ReplaceAll(line, []byte(`"size":"5"`), []byte(`"size":555`)) }
		}},
	"05 too many requests": {kind: "cannot list", texts: []string{"too many requests"}, wait: time.Minute,
		before: func(p *patient) { p.refuse(apierrors.NewTooManyRequestsError("slow down")) }},
	"06 handler that hangs": {kind: "handler hangs", texts: []string{"hasn't returned"}, wait: time.Minute,
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
			list := &corev1.ConfigMapList{}
			if err := p.manager.GetCache().List(p.Context(), list, client.UnsafeDisableDeepCopy); err != nil {
				p.Fatal(err)
			}
			list.Items[0].Data["size"] = "6"
			// The detector's lock, taken for another object, tells the race detector what came first.
			p.api.Create(&corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: "four"}})
		}},
	"10 watch that expires every second": {kind: "relists too often", texts: []string{"too old"}, wait: time.Second,
		after: func(p *patient) {
			for range 60 {
				bubble.Pass(time.Second)
				p.api.FailWatches(apierrors.NewResourceExpired("too old resource version: 1 (100)"))
			}
		}},
	"11 own write that the cache never shows": {kind: "stale after own writes", wait: 20 * time.Second, ownWrites: true,
		before: func(p *patient) {
			p.api.NoWatchList()
			p.api.Lag = time.Hour
			p.reconcile = func(ctx context.Context, r reconcile.Request) (reconcile.Result, error) {
				object := &corev1.ConfigMap{}
				if err := p.manager.GetClient().Get(ctx, r.NamespacedName, object); err != nil {
					return reconcile.Result{}, client.IgnoreNotFound(err)
				}
				patch := client.RawPatch("application/merge-patch+json", []byte(`{"data":{"size":"7"}}`))
				return reconcile.Result{RequeueAfter: time.Second}, p.manager.GetClient().Patch(ctx, object, patch)
			}
		}},
	"12 range that nobody owns": {kind: "no owner", wait: time.Minute,
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

// TestPlantedFaults plants faults in a running manager, one at a time, and checks that what eyes print has a
// finding of the right kind, first, and no other.
func TestPlantedFaults(t *testing.T) {
	for name, fault := range ill {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				p := &patient{T: t, api: configmaps.New(), eyes: eyes.New(eyes.Options{})}
				for _, name := range []string{"one", "two", "three"} {
					p.api.Create(&corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: name},
						Data: map[string]string{"size": "5"}})
				}
				p.reconcile = func(context.Context, reconcile.Request) (reconcile.Result, error) {
					return reconcile.Result{}, nil
				}
				if fault.before != nil {
					fault.before(p)
				}
				p.run(kwctrl.Options{Options: fault.options}, fault.ownWrites)
				bubble.Pass(30 * time.Second)
				if fault.after != nil {
					fault.after(p)
				}
				for range 4 { // as somebody looks who looks now and then
					p.eyes.Snapshot()
					bubble.Pass(fault.wait / 4)
					if !fault.silent {
						p.api.Bookmark()
						synctest.Wait()
					}
				}
				s := p.eyes.Snapshot()
				var kinds []string
				for _, f := range s.Findings {
					kinds = append(kinds, f.Kind)
				}
				var text bytes.Buffer
				if err := s.WriteText(&text); err != nil {
					t.Fatal(err)
				}
				if !slices.Equal(kinds, []string{fault.kind}) {
					t.Errorf("findings of %q, want %s\n%s", kinds, fault.kind, text.String())
				}
				for _, want := range fault.texts {
					if !strings.Contains(text.String(), want) {
						t.Errorf("%q isn't in\n%s", want, text.String())
					}
				}
				if *pages != "" {
					file := filepath.Join(*pages, name[:2]+".txt")
					if err := os.WriteFile(file, text.Bytes(), 0o666); err != nil {
						t.Fatal(err)
					}
				}
			})
		})
	}
}

// TestManagerThatEnds checks that the log of a manager which gives up because of a cache names the informer that
// fails, and why.
func TestManagerThatEnds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := &patient{T: t, api: configmaps.New(), eyes: eyes.New(eyes.Options{})}
		p.refuse(apierrors.NewForbidden(corev1.Resource("configmaps"), "", errors.New("no role")))
		p.run(kwctrl.Options{}, false)
		bubble.Pass(3 * time.Minute) // Two are the limit of controllers.
		p.mu.Lock()
		defer p.mu.Unlock()
		log := p.log.String()
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
	mgr, err := manager.New(config, options)
	if err != nil {
		p.Fatal(err)
	}
	p.manager = mgr
	p.eyes.AddCaches("manager", caches)
	controllerOptions := controller.Options{MaxConcurrentReconciles: 3,
		NewQueue: func(name string, l limiter[reconcile.Request]) limitingQueue {
			q := kwctrl.NewQueue(name, l)
			p.eyes.AddQueue(name, q.(eyes.StatusQueue))
			return q
		}}
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
		return logr.Discard()
	}).Complete(r); err != nil {
		p.Fatal(err)
	}
	ctx, cancel := context.WithCancel(logr.NewContext(p.Context(), options.Logger))
	ended := make(chan error)
	go func() { ended <- mgr.Start(ctx) }()
	p.Cleanup(func() {
		cancel()
		<-ended // An error of a cache that never synced is no surprise.
	})
}
