package factory_test

import (
	"errors"
	"fmt"
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
)

// TestOnCreateMayCallTheFactory checks that a function of OnCreate gets the informer that it sets up, and
// others, from its factory, and that another caller gets the same informer meanwhile. A start takes effect
// when the function has returned.
func TestOnCreateMayCallTheFactory(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newGenerated(open())
		goOn := make(chan struct{})
		var given []cache.SharedIndexInformer
		err := factory.OnCreate(f, func(i cache.SharedIndexInformer) error {
			given = append(given, i)
			if again := f.informers.InformerFor(&corev1.Secret{}, secrets); again != given[0] {
				t.Error("another informer of the same type")
			}
			if len(given) == 1 {
				f.informers.InformerFor(&corev1.ConfigMap{}, configMaps)
				<-goOn
			}
			return nil
		})
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
		if err := factory.OnCreate(f, func(cache.SharedIndexInformer) error {
			<-goOn
			return nil
		}); err != nil {
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
	if err := factory.OnCreate(f, func(cache.SharedIndexInformer) error {
		if calls++; calls == 1 {
			panic("not yet")
		}
		return nil
	}); err != nil {
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

// TestHandlersMayAdd checks that a handler may add namespaces while one is removed, even the same one: Add
// returns, and the handler receives the new objects after the deletions of the old ones.
func TestHandlersMayAdd(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newNamespacedServer()
		s.put("a", "x")
		s.put("b", "x")
		n := s.namespaces()
		i := n.Informer(inNamespace.configMaps)
		var events []string
		note := func(what string, obj any) {
			key, _ := cache.DeletionHandlingMetaNamespaceKeyFunc(obj)
			events = append(events, what+" "+key)
		}
		begins := make(chan struct{})
		_, err := i.AddEventHandler(cache.ResourceEventHandlerFuncs{
			AddFunc: func(obj any) {
				if note("added", obj); len(events) > 1 {
					return
				}
				<-begins
				if err := errors.Join(n.Add("a"), n.Add("b")); err != nil {
					t.Error(err)
				}
			},
			DeleteFunc: func(obj any) { note("deleted", obj) },
		})
		if err != nil {
			t.Fatal(err)
		}
		if err := n.Add("a"); err != nil {
			t.Fatal(err)
		}
		n.StartWithContext(t.Context())
		synctest.Wait()
		var removing sync.WaitGroup
		removing.Go(func() { n.Remove("a") })
		synctest.Wait()
		close(begins)
		removing.Wait()
		synctest.Wait()
		if got := fmt.Sprint(events); !strings.HasPrefix(got, "[added a/x ") ||
			strings.Index(got, "deleted a/x") > strings.LastIndex(got, "added a/x") ||
			!strings.Contains(got, "added b/x") || len(events) != 4 {
			t.Error(events)
		}
		if names := fmt.Sprint(n.Names()); names != "[a b]" {
			t.Error(names)
		}
		n.Shutdown()
	})
}

// stuck is a handler that waits.
type stuck struct {
	cache.ResourceEventHandlerFuncs
	until chan struct{}
}

func (s stuck) OnAdd(any, bool) { <-s.until }

// TestWaitsNameTheHandler checks that what waits for a handler logs the handler's name, once, after 10 s.
func TestWaitsNameTheHandler(t *testing.T) {
	for name, wait := range map[string]func(*factory.Namespaces[inNamespace]){
		"Remove":               func(n *factory.Namespaces[inNamespace]) { n.Remove("a") },
		"Remove another":       func(n *factory.Namespaces[inNamespace]) { n.Remove("b") },
		"Namespaces' Shutdown": (*factory.Namespaces[inNamespace]).Shutdown,
		"Shutdown": func(n *factory.Namespaces[inNamespace]) {
			f, _ := n.Factory("a")
			f.Shutdown()
		},
	} {
		t.Run(name, func(t *testing.T) {
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
				s := newNamespacedServer()
				s.put("a", "x")
				n := s.namespaces()
				h := stuck{until: make(chan struct{})}
				if _, err := n.Informer(inNamespace.configMaps).AddEventHandler(h); err != nil {
					t.Fatal(err)
				}
				if err := errors.Join(n.Add("a"), n.Add("b")); err != nil {
					t.Fatal(err)
				}
				n.StartWithContext(t.Context())
				synctest.Wait()
				go wait(n)
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
				n.Shutdown()
			})
		})
	}
}
