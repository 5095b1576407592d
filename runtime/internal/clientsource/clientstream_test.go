package clientsource_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/tools/cache"

	"github.com/kubewright/kubewright/runtime/internal/clientsource"
	"github.com/kubewright/kubewright/runtime/internal/sources"
)

// watched returns a stream of the events that are sent on the fake.
func watched(t *testing.T, example any) (sources.Stream, *watch.FakeWatcher) {
	fake := watch.NewFakeWithOptions(watch.FakeOptions{ChannelSize: 10})
	s, err := clientsource.FromListerWatcher(&cache.ListWatch{
		WatchFuncWithContext: func(context.Context, metav1.ListOptions) (watch.Interface, error) {
			return fake, nil
		},
	}, example).Watch(t.Context(), metav1.ListOptions{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.Stop)
	return s, fake
}

func named(name, version string) metav1.ObjectMeta {
	return metav1.ObjectMeta{Name: name, ResourceVersion: version}
}

func TestEvents(t *testing.T) {
	s, fake := watched(t, &corev1.ConfigMap{})
	end := &corev1.ConfigMap{ObjectMeta: named("", "5")}
	end.Annotations = map[string]string{metav1.InitialEventsAnnotationKey: "true"}
	fake.Add(&corev1.ConfigMap{ObjectMeta: named("a", "1")})
	fake.Modify(&corev1.ConfigMap{ObjectMeta: named("a", "2")})
	fake.Delete(&corev1.ConfigMap{ObjectMeta: named("a", "3")})
	fake.Action(watch.Bookmark, &corev1.ConfigMap{ObjectMeta: named("", "4")})
	fake.Action(watch.Bookmark, end)
	fake.Error(&metav1.Status{Status: metav1.StatusFailure, Reason: metav1.StatusReasonExpired, Code: 410})
	for i, want := range []string{
		"ADDED a@1", "MODIFIED a@2", "DELETED a@3", "BOOKMARK @4", "BOOKMARK @5 end",
	} {
		e, err := s.Next(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		got := fmt.Sprintf("%s @%s", e.Type, e.ResourceVersion)
		if e.Object != nil {
			got = fmt.Sprintf("%s %s@%s", e.Type, nameOf(e.Object), e.ResourceVersion)
		}
		if e.InitialEventsEnd {
			got += " end"
		}
		if got != want {
			t.Errorf("event %d is %s, want %s", i, got, want)
		}
	}
	if _, err := s.Next(t.Context()); !apierrors.IsResourceExpired(err) {
		t.Errorf("%v for an expired status", err)
	}
	fake.Stop()
	if _, err := s.Next(t.Context()); !errors.Is(err, io.EOF) {
		t.Errorf("%v for a closed stream", err)
	}
}

// TestStrayObjects checks that objects of other types are skipped.
func TestStrayObjects(t *testing.T) {
	kind := func(kind string) *unstructured.Unstructured {
		u := &unstructured.Unstructured{}
		u.SetAPIVersion("example.com/v1")
		u.SetKind(kind)
		return u
	}
	table := &unstructured.Unstructured{Object: map[string]any{"apiVersion": "meta.k8s.io/v1",
		"kind": "Table"}}
	good := &corev1.ConfigMap{ObjectMeta: named("good", "")}
	for name, test := range map[string]struct {
		example     any
		stray, want runtime.Object
	}{
		"type":              {&corev1.ConfigMap{}, &corev1.Secret{}, good},
		"kind":              {kind("Widget"), kind("Gadget"), kind("Widget")},
		"table":             {nil, table, good},
		"no kind expected":  {&unstructured.Unstructured{}, good, kind("Gadget")},
		"no object's meta":  {nil, &corev1.ConfigMapList{}, good},
		"nothing expected":  {nil, &metav1.Status{}, &corev1.Secret{}},
		"another interface": {nil, &corev1.PodProxyOptions{}, good},
	} {
		t.Run(strings.ReplaceAll(name, " ", "-"), func(t *testing.T) {
			s, fake := watched(t, test.example)
			fake.Add(test.stray)
			fake.Add(test.want)
			if e, err := s.Next(t.Context()); err != nil || e.Object != test.want {
				t.Errorf("%+v, %v", e, err)
			}
		})
	}
}

// TestStreamEnds checks that a stream ends with the reader's context and with Stop, even during a read.
func TestStreamEnds(t *testing.T) {
	s, _ := watched(t, nil)
	ends := func(ctx context.Context, end func(), want error) {
		t.Helper()
		var readers sync.WaitGroup
		readers.Go(func() {
			if _, err := s.Next(ctx); !errors.Is(err, want) {
				t.Errorf("%v, want %v", err, want)
			}
		})
		end()
		readers.Wait()
	}
	ctx, cancel := context.WithCancel(t.Context())
	ends(ctx, cancel, context.Canceled)
	ends(t.Context(), func() { s.Stop(); s.Stop() }, io.EOF)
}

// TestStopDrains checks that a watcher that is blocked in a send ends when its stream is stopped: the bubble
// fails if the goroutine of the filter is left. A watcher that never closes its channel delays Stop only
// briefly.
func TestStopDrains(t *testing.T) {
	for name, test := range map[string]struct {
		watcher func() watch.Interface
		closes  bool
	}{
		"filter": {closes: true, watcher: func() watch.Interface {
			fake := watch.NewFake()
			filtered := watch.Filter(fake, func(e watch.Event) (watch.Event, bool) { return e, true })
			fake.Add(&corev1.ConfigMap{})
			return filtered
		}},
		"never closed": {watcher: func() watch.Interface {
			return watch.NewProxyWatcher(make(chan watch.Event))
		}},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				source := clientsource.FromListerWatcher(&cache.ListWatch{
					WatchFunc: func(metav1.ListOptions) (watch.Interface, error) { return test.watcher(), nil },
				}, nil)
				stream, err := source.Watch(t.Context(), metav1.ListOptions{})
				if err != nil {
					t.Fatal(err)
				}
				synctest.Wait()
				begun := time.Now()
				stream.Stop()
				if waited := time.Since(begun) > 0; waited == test.closes {
					t.Errorf("waited: %t", waited)
				}
			})
		})
	}
}
