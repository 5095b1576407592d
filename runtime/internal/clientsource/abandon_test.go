package clientsource_test

import (
	"context"
	"errors"
	"io"
	"runtime"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	k8sruntime "k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/cache"

	"github.com/kubewright/kubewright/runtime/internal/clientsource"
	"github.com/kubewright/kubewright/runtime/internal/sources"
)

// TestListIsLeftBehind checks that a list whose function ignores its context ends with the context, and that
// nothing is handed over after that, whether the client decodes the list or the source does.
func TestListIsLeftBehind(t *testing.T) {
	bodies := transport{}
	streaming := budgeted(configMapClient(t, nil, func(c *rest.Config) { c.Transport = bodies }), nil)
	synctest.Test(t, func(t *testing.T) {
		body, send := io.Pipe()
		bodies[""] = body
		gate := make(chan struct{})
		whole := clientsource.FromListerWatcher(&cache.ListWatch{
			ListFunc: func(metav1.ListOptions) (k8sruntime.Object, error) {
				<-gate
				return &corev1.ConfigMapList{Items: make([]corev1.ConfigMap, 2)}, nil
			},
		}, nil)
		for name, test := range map[string]struct {
			source sources.Source
			begin  func()
			finish func()
			items  int
		}{
			"whole": {source: whole, begin: func() {}, finish: func() { close(gate) }},
			"streamed": {source: streaming, items: 1,
				begin: func() { io.WriteString(send, listHead+configMap+",") },
				finish: func() {
					io.WriteString(send, configMap+"]}")
					send.Close()
				}},
		} {
			ctx, cancel := context.WithCancel(t.Context())
			items := 0
			ended := make(chan error)
			go func() {
				_, err := each(ctx, test.source, metav1.ListOptions{}, func(any) error { items++; return nil })
				ended <- err
			}()
			test.begin()
			synctest.Wait()
			cancel()
			if err := <-ended; !errors.Is(err, context.Canceled) || items != test.items {
				t.Errorf("%s: %v, %d items", name, err, items)
			}
			test.finish()
			synctest.Wait()
			if items != test.items {
				t.Errorf("%s: %d items after the end", name, items)
			}
		}
	})
}

// TestListEndsSoon checks that List waits for a list function that obeys its context, even if the function
// takes a while to return.
func TestListEndsSoon(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		returned := false
		source := clientsource.FromListerWatcher(&cache.ListWatch{
			ListWithContextFunc: func(ctx context.Context, _ metav1.ListOptions) (k8sruntime.Object, error) {
				<-ctx.Done()
				<-time.After(time.Second / 2)
				returned = true
				return nil, ctx.Err()
			},
		}, nil)
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		_, err := each(ctx, source, metav1.ListOptions{}, nil)
		if !errors.Is(err, context.Canceled) || !returned {
			t.Errorf("%v, the function has returned: %t", err, returned)
		}
	})
}

// TestListFuncEndsItsGoroutine checks that a list fails if its function ends its goroutine instead of
// returning, as one of a test that calls FailNow.
func TestListFuncEndsItsGoroutine(t *testing.T) {
	source := clientsource.FromListerWatcher(&cache.ListWatch{
		ListFunc: func(metav1.ListOptions) (k8sruntime.Object, error) {
			runtime.Goexit()
			return nil, nil
		},
	}, nil)
	_, err := each(t.Context(), source, metav1.ListOptions{}, nil)
	if err == nil || !strings.Contains(err.Error(), "ended its goroutine") {
		t.Error(err)
	}
}
