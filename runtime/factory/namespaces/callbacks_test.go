package namespaces_test

import (
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/go-logr/logr/funcr"
	"k8s.io/client-go/tools/cache"
	"k8s.io/klog/v2"

	"github.com/kubewright/kubewright/internal/bubble"
	"github.com/kubewright/kubewright/runtime/factory/namespaces"
)

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
	for name, wait := range map[string]func(*namespaces.Set[inNamespace]){
		"Remove":         func(n *namespaces.Set[inNamespace]) { n.Remove("a") },
		"Remove another": func(n *namespaces.Set[inNamespace]) { n.Remove("b") },
		"Shutdown":       (*namespaces.Set[inNamespace]).Shutdown,
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
				if len(lines) != 1 || !strings.Contains(lines[0], "namespaces_test.stuck") {
					t.Errorf("%q", lines)
				}
				mu.Unlock()
				close(h.until)
				n.Shutdown()
			})
		})
	}
}
