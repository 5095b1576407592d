package informer_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	utilruntime "k8s.io/apimachinery/pkg/util/runtime"
	"k8s.io/client-go/tools/cache"

	gen "github.com/kubewright/kubewright/runtime/gen/informer"
	"github.com/kubewright/kubewright/runtime/informer"
	"github.com/kubewright/kubewright/runtime/internal/store"
)

// TestNilInformer checks that, for a nil informer, every function that returns an error returns one that
// gives the cause, and that no function panics.
func TestNilInformer(t *testing.T) {
	ours := newServer().ours(gen.Options{})
	for name, none := range map[string]cache.SharedIndexInformer{
		"nil": nil, "typed": gen.Typed[*configMap](nil),
	} {
		t.Run(name, func(t *testing.T) {
			_, adding := informer.AddEventHandler(none, &recorder{}, informer.HandlerOptions{})
			status, ok := informer.StatusOf(none)
			if ok || status.Synced || status.State != informer.Idle {
				t.Errorf("status %+v, %v", status, ok)
			}
			if _, ok := informer.Of[*configMap](none); ok {
				t.Error("it has a core")
			}
			for what, err := range map[string]error{
				"StatusOf":         status.LastError,
				"AddEventHandler":  adding,
				"WaitFor":          informer.WaitForVersion(t.Context(), none, "1"),
				"WaitForOwnWrites": informer.WaitForOwnWrites(t.Context(), none),
				"Configure":        informer.Configure(none, informer.Options{}),
				"IndexLabels":      informer.IndexLabels(none, "app"),
				"IndexField":       informer.IndexField(none, "f", func(*configMap) []string { return nil }),
				"WaitForSync":      informer.WaitForSync(t.Context(), none),
				"HealthCheck":      informer.HealthCheck(informer.HealthOptions{}, none)(nil),
			} {
				if err == nil || !strings.Contains(err.Error(), "the informer is nil") ||
					errors.Is(err, informer.ErrUnsupportedInformer) {
					t.Errorf("%s: error %v", what, err)
				}
			}
			// The error is returned at once, although the other informer never syncs.
			if err := informer.WaitForSync(t.Context(), ours, none); err == nil ||
				!strings.Contains(err.Error(), "informer 2 of 2: ") {
				t.Errorf("waiting for two: %v", err)
			}
		})
	}
	err := informer.HealthCheck(informer.HealthOptions{Synced: true}, nil, ours)(nil)
	if err == nil || !strings.Contains(err.Error(), "informer 1 of 2: ") ||
		!strings.Contains(err.Error(), "not started") {
		t.Errorf("health of two: %v", err)
	}
}

// TestNoGivingUp checks that a nil giveUp causes an error, even without a failure.
func TestNoGivingUp(t *testing.T) {
	err := informer.WaitForSyncOr(t.Context(), nil, newServer().ours(gen.Options{}))
	if err == nil || !strings.Contains(err.Error(), "the function is nil") {
		t.Errorf("error %v", err)
	}
}

// TestRefused checks that an invalid argument causes an error that describes what is wrong.
func TestRefused(t *testing.T) {
	i := newServer().ours(gen.Options{})
	for want, err := range map[string]error{
		"SilenceTimeout is -1ns": informer.Configure(
			i, informer.Options{SilenceTimeout: -1}),
		"InitialEventsTimeout is -1s": informer.Configure(
			i, informer.Options{InitialEventsTimeout: -time.Second}),
		"MutationSample is -5": informer.Configure(
			i, informer.Options{MutationSample: -5}),
		"the name of a label is empty": informer.IndexLabels(i, "app", ""),
		"its name is empty": informer.IndexField(
			i, "", func(*configMap) []string { return nil }),
		"the informer is of *v1.ConfigMap, not *v1.Secret": informer.IndexField(
			i, "f", func(*corev1.Secret) []string { return nil }),
	} {
		if err == nil || !strings.Contains(err.Error(), want) ||
			errors.Is(err, informer.ErrUnsupportedInformer) {
			t.Errorf("error %v, want one with %q", err, want)
		}
	}
	indexer := i.GetIndexer().(interface {
		Store() *store.Store[cache.ObjectName]
	})
	if indexer.Store().HasIndex(store.LabelIndex("app")) {
		t.Error("one of the refused labels is indexed")
	}
}

// TestNilHandler checks that each way to add a handler refuses a nil one.
func TestNilHandler(t *testing.T) {
	i := newServer().ours(gen.Options{})
	for name, add := range map[string]func() (cache.ResourceEventHandlerRegistration, error){
		"AddEventHandler": func() (cache.ResourceEventHandlerRegistration, error) { return i.AddEventHandler(nil) },
		"of the package": func() (cache.ResourceEventHandlerRegistration, error) {
			return informer.AddEventHandler(i, nil, informer.HandlerOptions{})
		},
		"with a resync period": func() (cache.ResourceEventHandlerRegistration, error) {
			return i.AddEventHandlerWithResyncPeriod(nil, time.Minute)
		},
		"with options": func() (cache.ResourceEventHandlerRegistration, error) {
			return i.AddEventHandlerWithOptions(nil, cache.HandlerOptions{})
		},
		"typed": func() (cache.ResourceEventHandlerRegistration, error) { return i.AddTypedEventHandler(nil) },
		"typed, to an informer of client-go's": func() (cache.ResourceEventHandlerRegistration, error) {
			return gen.Typed[*configMap](newServer().theirs(gen.Options{})).AddTypedEventHandler(nil)
		},
		"of the core": func() (cache.ResourceEventHandlerRegistration, error) {
			return i.Core().AddEventHandler(nil, informer.HandlerOptions{})
		},
	} {
		registration, err := add()
		if registration != nil || err == nil || !strings.Contains(err.Error(), "the handler is nil") {
			t.Errorf("%s: %v, error %v", name, registration, err)
		}
	}
	if n := len(i.Status().Handlers); n != 0 {
		t.Errorf("%d handlers were added", n)
	}
}

// TestNilClientset checks that running an informer without a clientset panics, as with client-go, with a text
// that explains why.
func TestNilClientset(t *testing.T) {
	for name, client := range map[string]any{"nil": nil, "typed": (*configMap)(nil)} {
		t.Run(name, func(t *testing.T) {
			defer func(really bool) { utilruntime.ReallyCrash = really }(utilruntime.ReallyCrash)
			utilruntime.ReallyCrash = false
			said := make(chan any, 1)
			defer func(handlers []func(context.Context, any)) {
				utilruntime.PanicHandlers = handlers
			}(utilruntime.PanicHandlers)
			utilruntime.PanicHandlers = []func(context.Context, any){func(_ context.Context, v any) {
				select {
				case said <- v:
				default:
				}
			}}
			var clientset interface {
				ConfigMaps() gen.ResourceClient[*corev1.ConfigMapList]
			}
			i := gen.NewShared[*configMap](func() gen.ResourceClient[*corev1.ConfigMapList] {
				return clientset.ConfigMaps()
			}, gen.Options{Client: client})
			stop := run(i)
			if v := fmt.Sprint(<-said); !strings.Contains(v,
				"the informer of *v1.ConfigMap, or its factory, was made with a nil clientset") {
				t.Errorf("panic %s", v)
			}
			stop()
		})
	}
}
