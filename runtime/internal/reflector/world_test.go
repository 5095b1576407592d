package reflector

import (
	"context"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/tools/cache"

	"github.com/kubewright/kubewright/internal/bubble"
	"github.com/kubewright/kubewright/runtime/internal/clientsource"
	"github.com/kubewright/kubewright/runtime/internal/sources"
	"github.com/kubewright/kubewright/runtime/runtimetest"
)

type (
	server = runtimetest.Server[*corev1.ConfigMap, *corev1.ConfigMapList]
	// transcript records the requests and the calls of the sink, in order.
	transcript struct {
		mu     sync.Mutex
		lines  []string
		refuse error // the error that the sink returns
		store  map[string]string
	}
	// options are the options of a scenario; both reflectors have them.
	options struct {
		pageSize         int64
		resync           time.Duration
		shouldResync     func() bool
		internalPatience time.Duration
		// Only our reflector has the last two.
		initialTimeout time.Duration
		silence        time.Duration
	}
	// world is a server, and a reflector that writes a transcript.
	world struct {
		*transcript
		t        *testing.T
		server   *server
		cancel   context.CancelFunc
		errs     []string
		ours     *Reflector // nil if client-go's runs
		lastSync func() string
	}
	// subject starts a reflector in w.
	subject func(
		ctx context.Context, w *world, opts options,
	) (run func(context.Context), lastSync func() string)
)

func newTranscript() *transcript { return &transcript{store: map[string]string{}} }

func (tr *transcript) add(format string, args ...any) {
	tr.mu.Lock()
	defer tr.mu.Unlock()
	tr.lines = append(tr.lines, fmt.Sprintf(format, args...))
}

// take returns the lines since the last take.
func (tr *transcript) take() []string {
	tr.mu.Lock()
	defer tr.mu.Unlock()
	lines := tr.lines
	tr.lines = nil
	return lines
}

// refusing makes the sink return err from all calls, or none if err is nil.
func (tr *transcript) refusing(err error) {
	tr.mu.Lock()
	defer tr.mu.Unlock()
	tr.refuse = err
}

// empty reports whether the store is empty.
func (tr *transcript) empty() bool {
	tr.mu.Lock()
	defer tr.mu.Unlock()
	return len(tr.store) == 0
}

// accept records a call and calls do, unless the sink refuses.
func (tr *transcript) accept(do func(), format string, args ...any) error {
	tr.mu.Lock()
	defer tr.mu.Unlock()
	if tr.refuse != nil {
		return tr.refuse
	}
	do()
	tr.lines = append(tr.lines, fmt.Sprintf(format, args...))
	return nil
}

func (tr *transcript) replaced(store map[string]string, version string) error {
	var items []string
	for _, key := range slices.Sorted(maps.Keys(store)) {
		items = append(items, key+"@"+store[key])
	}
	return tr.accept(func() { tr.store = store }, "replace [%s] at %s", strings.Join(items, " "), version)
}

func (tr *transcript) changed(verb string, obj metav1.Object) error {
	return tr.accept(func() {
		if verb == "delete" {
			delete(tr.store, obj.GetName())
		} else {
			tr.store[obj.GetName()] = obj.GetResourceVersion()
		}
	}, "%s %s@%s", verb, obj.GetName(), obj.GetResourceVersion())
}

func (tr *transcript) told(what string) error { return tr.accept(func() {}, "%s", what) }

// sink adapts a world to our reflector's sink.
type sink struct{ *world }

func (s sink) Begin() Staging {
	return &staged{world: s.world, items: map[string]string{}}
}
func (s sink) Added(obj any, _ string) error   { return s.changed("add", obj.(metav1.Object)) }
func (s sink) Updated(obj any, _ string) error { return s.changed("update", obj.(metav1.Object)) }
func (s sink) Deleted(obj any, _ string) error { return s.changed("delete", obj.(metav1.Object)) }
func (s sink) Bookmark(version string) error   { return s.told("bookmark " + version) }
func (s sink) Resync() error                   { return s.told("resync") }

type staged struct {
	*world
	items map[string]string
	ended bool
}

func (s *staged) Add(obj any, version string) error {
	o := obj.(metav1.Object)
	if s.items[o.GetName()] = version; version != o.GetResourceVersion() {
		s.t.Errorf("%s staged with version %s, has %s", o.GetName(), version, o.GetResourceVersion())
	}
	return nil
}
func (s *staged) Update(obj any, version string) error {
	return s.Add(obj, version)
}
func (s *staged) Remove(obj any) error        { delete(s.items, obj.(metav1.Object).GetName()); return nil }
func (s *staged) Commit(version string) error { s.end(); return s.replaced(s.items, version) }
func (s *staged) Discard()                    { s.end() }
func (s *staged) end() {
	if s.ended {
		s.t.Error("staging ended twice")
	}
	s.ended = true
}

// store adapts a world to the store of client-go's reflector.
type store struct{ *world }

func (s store) Add(obj any) error             { return s.changed("add", obj.(metav1.Object)) }
func (s store) Update(obj any) error          { return s.changed("update", obj.(metav1.Object)) }
func (s store) Delete(obj any) error          { return s.changed("delete", obj.(metav1.Object)) }
func (s store) Bookmark(version string) error { return s.told("bookmark " + version) }
func (s store) Resync() error                 { return s.told("resync") }
func (s store) Replace(objs []any, version string) error {
	items := map[string]string{}
	for _, obj := range objs {
		items[obj.(metav1.Object).GetName()] = obj.(metav1.Object).GetResourceVersion()
	}
	return s.replaced(items, version)
}

func (w *world) failed(_ context.Context, err error) { w.errs = append(w.errs, err.Error()) }

// ours and upstream are the two subjects.
func ours(_ context.Context, w *world, opts options) (func(context.Context), func() string) {
	source := clientsource.FromClient(reflect.TypeFor[*corev1.ConfigMap](),
		func() sources.Client[*corev1.ConfigMapList] { return w.server },
		clientsource.Options{Client: w.server})
	w.ours = New(source, sink{w}, Options{
		Name: "test", TypeDescription: "*v1.ConfigMap", PageSize: opts.pageSize, ResyncPeriod: opts.resync,
		ShouldResync:                  opts.shouldResync,
		MaxInternalErrorRetryDuration: opts.internalPatience, InitialEventsTimeout: opts.initialTimeout,
		SilenceTimeout: opts.silence,
		ErrorHandler:   w.failed,
	})
	return w.ours.Run, w.ours.LastSyncResourceVersion
}

func upstream(_ context.Context, w *world, opts options) (func(context.Context), func() string) {
	r := cache.NewReflectorWithOptions(w.server.ListerWatcher(), &corev1.ConfigMap{}, store{w},
		cache.ReflectorOptions{Name: "test", ResyncPeriod: opts.resync})
	r.WatchListPageSize = opts.pageSize
	r.ShouldResync = opts.shouldResync
	r.MaxInternalErrorRetryDuration = opts.internalPatience
	return r.RunWithContext, r.LastSyncResourceVersion
}

// scenario is a sequence of events that a reflector goes through.
type scenario struct {
	name string
	opts options
	// before prepares the server before the reflector starts.
	before func(*world)
	// then is what happens once all goroutines block.
	then func(*world)
	// want is the transcript, without the lines that take removed.
	want string
	// differs is the reason why client-go's transcript differs, if it does.
	differs string
}

func (s scenario) play(t *testing.T, subject subject) (lines []string) {
	synctest.Test(t, func(t *testing.T) {
		w := &world{t: t, transcript: newTranscript(),
			server: runtimetest.NewServer[corev1.ConfigMap, corev1.ConfigMapList]()}
		w.server.Observe(func(r runtimetest.Request) { w.add("%s", r) })
		if s.before != nil {
			s.before(w)
		}
		ctx, cancel := context.WithCancel(t.Context())
		w.cancel = cancel
		run, lastSync := subject(ctx, w, s.opts)
		w.lastSync = lastSync
		var running sync.WaitGroup
		running.Go(func() { run(ctx) })
		synctest.Wait()
		if s.then != nil {
			s.then(w)
			synctest.Wait()
		}
		lines = w.take()
		cancel()
		running.Wait()
		synctest.Wait()
		if n := w.server.Watches(); n != 0 {
			t.Errorf("%d watches are open after the end", n)
		}
	})
	return lines
}

// settle waits until all other goroutines block.
func (w *world) settle() { synctest.Wait() }

// backoff is longer than any back-off.
const backoff = 61 * time.Second

func (w *world) create(names ...string) {
	for _, name := range names {
		w.server.Create(configMap(name))
	}
	w.settleIfRunning()
}

func (w *world) settleIfRunning() {
	if w.cancel != nil {
		w.settle()
	}
}

func configMap(name string) *corev1.ConfigMap {
	return &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: name}}
}

// advanceUntil advances the clock by a millisecond until done returns true.
func (w *world) advanceUntil(done func() bool) {
	for !done() {
		bubble.Advance(time.Millisecond)
	}
}
