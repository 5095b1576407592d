package factory_test

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/client-go/tools/cache"

	"github.com/kubewright/kubewright/runtime/factory"
	"github.com/kubewright/kubewright/runtime/informer"
)

// TestNotStarted checks that a wait fails if an informer was requested and isn't started. If it is started
// soon after, the wait includes it.
func TestNotStarted(t *testing.T) {
	late := time.Hour
	for name, test := range map[string]struct {
		// before is called first, after last. In between, the factory is started or, if start isn't 0, its
		// start is scheduled after that time.
		before, after []func(*generated)
		start         time.Duration
		// cut is when the context of the wait ends.
		cut  time.Duration
		want string
		took time.Duration
	}{
		"nothing": {},
		"started": {before: []func(*generated){askSecrets}},
		"forgotten": {before: []func(*generated){askSecrets}, start: late, want: "not all were started",
			took: time.Second},
		"asked late": {before: []func(*generated){askSecrets}, after: []func(*generated){askConfigMaps},
			want: "informer of *v1.ConfigMap: not started: call Start", took: time.Second},
		"soon": {before: []func(*generated){askSecrets, askConfigMaps}, start: time.Millisecond,
			took: time.Millisecond},
		"soon, refused": {before: []func(*generated){askForbidden}, start: time.Millisecond, cut: time.Minute,
			want: "context deadline exceeded", took: time.Minute},
		"cut short": {before: []func(*generated){askSecrets}, start: late, cut: time.Millisecond,
			want: "context deadline exceeded", took: time.Millisecond},
		"of others": {after: []func(*generated){askTheirs}},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				f := newGenerated(open())
				ctx, cancel := context.WithCancel(t.Context())
				defer f.informers.Shutdown()
				defer cancel()
				for _, ask := range test.before {
					ask(f)
				}
				if test.start == 0 {
					f.informers.StartWithContext(ctx)
				} else {
					defer time.AfterFunc(test.start, func() { f.informers.StartWithContext(ctx) }).Stop()
				}
				for _, ask := range test.after {
					ask(f)
				}
				waiting, over := context.WithTimeout(ctx, cmp.Or(test.cut, late))
				defer over()
				start := time.Now()
				err := factory.WaitForSync(waiting, f)
				if took := time.Since(start); took != test.took {
					t.Errorf("it took %v, want %v", took, test.took)
				}
				var all *informer.NotSyncedError
				if test.want == "" && err != nil ||
					test.want != "" && (!errors.As(err, &all) || !strings.Contains(err.Error(), test.want)) {
					t.Errorf("error %v, want %q", err, test.want)
				}
				ready := factory.HealthCheck(f, informer.HealthOptions{Synced: true})(nil)
				if (ready == nil) != (test.want == "") {
					t.Errorf("ready: %v", ready)
				}
				alive := factory.HealthCheck(f, informer.HealthOptions{FailingFor: late})(nil)
				if alive != nil {
					t.Errorf("alive: %v", alive)
				}
			})
		})
	}
}

func askSecrets(f *generated)    { f.informers.InformerFor(&corev1.Secret{}, secrets) }
func askConfigMaps(f *generated) { f.informers.InformerFor(&corev1.ConfigMap{}, configMaps) }
func askForbidden(f *generated)  { f.informers.InformerFor(&corev1.ConfigMap{}, forbidden) }

// askTheirs requests client-go's informer, which may have been started by other means.
func askTheirs(f *generated) {
	f.informers.InformerFor(&corev1.Pod{}, func(*clientset, time.Duration) cache.SharedIndexInformer {
		return cache.NewSharedIndexInformer(&cache.ListWatch{}, &corev1.Pod{}, 0, cache.Indexers{})
	})
}

// TestHealthIsToldInOrder checks the health of three informers that were not started, twenty times, and that
// the error always has them in the same order.
func TestHealthIsToldInOrder(t *testing.T) {
	f := newGenerated(open())
	f.informers.InformerFor(&corev1.Secret{}, secrets)
	f.informers.InformerFor(&corev1.ConfigMap{}, forbidden)
	f.informers.InformerFor(&corev1.Pod{}, forbidden)
	check := factory.HealthCheck(f, informer.HealthOptions{Synced: true})
	for range 20 {
		lines := strings.Split(check(nil).Error(), "\n")
		if len(lines) != 3 || !slices.IsSorted(lines) {
			t.Fatalf("%q", lines)
		}
	}
}
