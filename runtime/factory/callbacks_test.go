package factory_test

import (
	"context"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/go-logr/logr/funcr"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/client-go/tools/cache"
	"k8s.io/klog/v2"

	"github.com/kubewright/kubewright/internal/bubble"
	"github.com/kubewright/kubewright/runtime/factory"
	genfactory "github.com/kubewright/kubewright/runtime/gen/factory"
	"github.com/kubewright/kubewright/runtime/informer"
)

// TestOnCreateMayCallTheFactory checks that a function of OnCreate gets the informer that it sets up, and
// others, from its factory, and that another caller gets the same informer meanwhile. A start takes effect
// when the function has returned.
func TestOnCreateMayCallTheFactory(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newGenerated(open())
		goOn := make(chan struct{})
		var given []cache.SharedIndexInformer
		err := factory.Configure(f, informer.Options{OnCreate: func(i cache.SharedIndexInformer) error {
			given = append(given, i)
			if again := f.informers.InformerFor(&corev1.Secret{}, secrets); again != given[0] {
				t.Error("another informer of the same type")
			}
			if len(given) == 1 {
				f.informers.InformerFor(&corev1.ConfigMap{}, configMaps)
				<-goOn
			}
			return nil
		}})
		if err != nil {
			t.Fatal(err)
		}
		var first cache.SharedIndexInformer
		go func() { first = f.informers.InformerFor(&corev1.Secret{}, secrets) }()
		synctest.Wait()
		second := f.informers.InformerFor(&corev1.Secret{}, secrets)
		f.informers.StartWithContext(t.Context())
		synctest.Wait()
		if second != given[0] || second.HasSynced() || !given[1].HasSynced() {
			t.Errorf("it was started before it was set up, or another wasn't: %v", second.HasSynced())
		}
		close(goOn)
		synctest.Wait()
		if first != second || !second.HasSynced() {
			t.Error("it wasn't started once it was set up")
		}
	})
}

// TestShutdownDuringOnCreate checks that a wait for an informer ends if its factory is started and shut down
// while the function of OnCreate runs.
func TestShutdownDuringOnCreate(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newGenerated(open())
		goOn := make(chan struct{})
		if err := factory.Configure(f, informer.Options{OnCreate: func(cache.SharedIndexInformer) error {
			<-goOn
			return nil
		}}); err != nil {
			t.Fatal(err)
		}
		go f.informers.InformerFor(&corev1.Secret{}, secrets)
		synctest.Wait()
		f.informers.StartWithContext(t.Context())
		f.informers.Shutdown()
		ended := false
		go func() {
			f.informers.WaitForCacheSync(t.Context().Done())
			ended = true
		}()
		close(goOn)
		if synctest.Wait(); !ended {
			t.Error("WaitForCacheSync goes on, although the informer will never run")
		}
	})
}

// TestOnCreatePanics checks that an informer whose function of OnCreate panics is made again.
func TestOnCreatePanics(t *testing.T) {
	f := newGenerated(open())
	calls := 0
	if err := factory.Configure(f, informer.Options{OnCreate: func(cache.SharedIndexInformer) error {
		if calls++; calls == 1 {
			panic("not yet")
		}
		return nil
	}}); err != nil {
		t.Fatal(err)
	}
	func() {
		defer func() { _ = recover() }()
		f.informers.InformerFor(&corev1.Secret{}, secrets)
	}()
	if f.informers.InformerFor(&corev1.Secret{}, secrets); calls != 2 {
		t.Errorf("%d calls", calls)
	}
}

// stuck is a handler that waits.
type stuck struct {
	cache.ResourceEventHandlerFuncs
	until chan struct{}
}

func (s stuck) OnAdd(any, bool) { <-s.until }

// TestShutdownNamesTheHandler checks that a shutdown that waits for a handler logs the handler's name, once,
// after 10 s.
func TestShutdownNamesTheHandler(t *testing.T) {
	var mu sync.Mutex
	var lines []string
	klog.SetLogger(funcr.New(func(_, line string) {
		mu.Lock()
		defer mu.Unlock()
		if strings.Contains(line, "still waits") {
			lines = append(lines, line)
		}
	}, funcr.Options{}))
	defer klog.ClearLogger()
	synctest.Test(t, func(t *testing.T) {
		f := genfactory.New(open(), 0)
		h := stuck{until: make(chan struct{})}
		if _, err := f.InformerFor(&corev1.Secret{}, secrets).AddEventHandler(h); err != nil {
			t.Fatal(err)
		}
		ctx, cancel := context.WithCancel(t.Context())
		f.StartWithContext(ctx)
		synctest.Wait()
		cancel()
		go f.Shutdown()
		bubble.Advance(9 * time.Second)
		mu.Lock()
		if len(lines) > 0 {
			t.Errorf("too early: %q", lines)
		}
		mu.Unlock()
		bubble.Advance(time.Minute)
		mu.Lock()
		if len(lines) != 1 || !strings.Contains(lines[0], "factory_test.stuck") {
			t.Errorf("%q", lines)
		}
		mu.Unlock()
		close(h.until)
	})
}
