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

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	toolscache "k8s.io/client-go/tools/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/metrics"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/kubewright/kubewright/contrib/controller-runtime/internal/configmaps"
	"github.com/kubewright/kubewright/eyes"
	"github.com/kubewright/kubewright/internal/bubble"
	"github.com/kubewright/kubewright/runtime/informer"
	"github.com/kubewright/kubewright/runtime/shard"
	"github.com/kubewright/kubewright/sharding"
	"github.com/kubewright/kubewright/sharding/shardingeyes"
	"github.com/kubewright/kubewright/sharding/shardingtest"
)

var pages = flag.String("pages", "",
	"a folder for what eyes print of each planted fault, and for what a plain manager logs and measures of it")

// patient is a running program in which a fault is planted.
type patient struct {
	*testing.T
	api     *configmaps.Server
	program program
	eyes    *eyes.Eyes
	// answer, if it returns a response, answers instead of the server. change changes a body line by line.
	mu     sync.Mutex
	answer func(r *http.Request) *http.Response
	change func(line []byte) []byte
	// reconcile is what the controller does.
	reconcile reconcile.Func
	// planted is when the fault was.
	planted time.Time
	// log is what the program has logged.
	log bytes.Buffer
}

// program is what a controller reads and writes config maps with.
type program interface {
	// handle adds a handler to the informer.
	handle(ctx context.Context, h toolscache.ResourceEventHandler) error
	// cached returns objects that share their maps with the cache, get returns one, which nobody may change.
	cached(ctx context.Context) ([]*corev1.ConfigMap, error)
	get(ctx context.Context, name types.NamespacedName) (*corev1.ConfigMap, error)
	// patch merges a text with an object on the server.
	patch(ctx context.Context, name types.NamespacedName, text string) error
}

func (p *patient) logged() string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.log.String()
}

// RoundTrip answers a request of the program.
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

// fault is a fault, and the kind of its finding, whose text has texts. before is called before the program
// starts, after when it has synced.
type fault struct {
	kind          string
	texts         []string
	before, after func(p *patient)
	wait          time.Duration
	options       informer.Options
	// ownWrites makes the controller wait for its own writes. silent keeps the server from sending bookmarks.
	// keys has eyes show the names of objects.
	ownWrites, silent, keys bool
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
	"03 watch that is a black hole": {kind: "silent watch", silent: true,
		wait:  4 * time.Minute, // A watch is open for five minutes or more.
		after: func(p *patient) { p.api.Bookmark() }},
	"04 object that can't be decoded": {kind: "cannot list", texts: []string{`data["size"]`}, wait: time.Minute,
		before: func(p *patient) {
			p.change = func(line []byte) []byte {
				return bytes.ReplaceAll(line, []byte(`"size":"5"`), []byte(`"size":555`))
			}
		}},
	"05 too many requests": {kind: "cannot list", texts: []string{"throttled"}, wait: time.Minute,
		before: func(p *patient) { p.refuse(apierrors.NewTooManyRequestsError("slow down")) }},
	"06 handler that hangs": {kind: "handler hangs", wait: 5 * time.Minute,
		texts: []string{"hasn't returned"},
		after: func(p *patient) {
			if err := p.program.handle(p.Context(), toolscache.ResourceEventHandlerFuncs{
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
	"08 key that fails for ever": {kind: "key fails", wait: 2 * time.Minute, keys: true,
		texts:     []string{"ns/one", "; its last error: no flour, object ns/one"},
		ownWrites: true, // else kwctrl doesn't know the error
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
			objects, err := p.program.cached(p.Context())
			if err != nil {
				p.Fatal(err)
			}
			for _, item := range objects { // in any order; the new object has no data
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
				if _, err := p.program.get(ctx, r.NamespacedName); err != nil {
					return reconcile.Result{}, client.IgnoreNotFound(err)
				}
				err := p.program.patch(ctx, r.NamespacedName, `{"data":{"size":"7"}}`)
				return reconcile.Result{RequeueAfter: time.Second}, err
			}
		}},
	"12 range that nobody owns": {kind: "no owner", wait: 5 * time.Minute,
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

// runner runs a program until the test ends.
type runner func(p *patient, o informer.Options, ownWrites bool)

// plant plants the fault in a program that run runs, and waits.
func (f fault) plant(t *testing.T, run runner) *patient {
	p := &patient{T: t, api: configmaps.New(), eyes: eyes.New(eyes.Options{Keys: f.keys})}
	for _, name := range []string{"one", "two", "three"} {
		p.api.Create(&corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: name},
			Data: map[string]string{"size": "5"}})
	}
	p.reconcile = func(context.Context, reconcile.Request) (reconcile.Result, error) {
		return reconcile.Result{}, nil
	}
	p.planted = time.Now()
	if f.before != nil {
		f.before(p)
	}
	run(p, f.options, f.ownWrites)
	bubble.Pass(30 * time.Second)
	if f.after != nil {
		p.planted = time.Now()
		f.after(p)
	}
	for range 4 { // Nobody looks meanwhile.
		bubble.Pass(f.wait / 4)
		if !f.silent {
			p.api.Bookmark()
			synctest.Wait()
		}
	}
	return p
}

// TestPlantedFaults plants faults in a running manager and in a controller with generated informers, one at
// a time. What eyes print has to have one finding, which is of the right kind, and tells to some two
// minutes when it was planted.
func TestPlantedFaults(t *testing.T) {
	for name, f := range faults {
		for program, run := range map[string]runner{
			"manager": (*patient).runManager, "generated": (*patient).runGenerated,
		} {
			t.Run(name+"/"+program, func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					text := f.check(t, f.plant(t, run))
					writePage(t, name[:2]+"."+program+".txt", text)
				})
			})
		}
		if *pages != "" {
			t.Run(name+"/plain manager", func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					p := f.plant(t, (*patient).runPlain)
					writePage(t, name[:2]+".control.txt", []byte(p.logged()+metricsNow(t)))
				})
			})
		}
	}
}

// check checks what eyes print, and returns it.
func (f fault) check(t *testing.T, p *patient) []byte {
	s := p.eyes.Snapshot()
	var kinds []string
	for _, finding := range s.Findings {
		kinds = append(kinds, finding.Kind)
	}
	var text bytes.Buffer
	if err := s.WriteText(&text); err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(kinds, []string{f.kind}) {
		t.Fatalf("findings of %q, want %s\n%s", kinds, f.kind, text.String())
	}
	if late := s.Findings[0].Since.Sub(p.planted); late < 0 || late > 130*time.Second {
		t.Errorf("found to be since %s after it was planted\n%s", late, text.String())
	}
	if !f.keys && strings.Contains(text.String(), "ns/") {
		t.Errorf("an object is named without Options.Keys in\n%s", text.String())
	}
	for _, want := range f.texts {
		if !strings.Contains(text.String(), want) {
			t.Errorf("%q isn't in\n%s", want, text.String())
		}
	}
	return text.Bytes()
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
		p.runManager(informer.Options{}, false)
		bubble.Pass(3 * time.Minute) // Two are the limit of controllers.
		log := p.logged()
		if strings.Count(log, "did not sync") != 1 || !strings.Contains(log, "because of this informer") ||
			!strings.Contains(log, `"informer"="informer of v1 ConfigMap (api/typed)"`) ||
			!strings.Contains(log, "no role") {
			t.Errorf("the manager has logged\n%s", log)
		}
	})
}
