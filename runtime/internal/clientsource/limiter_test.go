package clientsource_test

import (
	"context"
	"errors"
	"reflect"
	"testing"
	"testing/synctest"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/watch"

	"github.com/kubewright/kubewright/runtime/internal/clientsource"
	"github.com/kubewright/kubewright/runtime/internal/sources"
	"github.com/kubewright/kubewright/runtime/listwatch"
)

// gated is a client whose lists wait until they are released.
type gated struct {
	listing chan struct{}
	release chan error
	events  *watch.FakeWatcher
}

func (g *gated) List(ctx context.Context, opts metav1.ListOptions) (*corev1.ConfigMapList, error) {
	g.listing <- struct{}{}
	return &corev1.ConfigMapList{}, <-g.release
}

func (g *gated) Watch(ctx context.Context, opts metav1.ListOptions) (watch.Interface, error) {
	return g.events, nil
}

// TestLimiter checks that no more lists than the limit are read at a time, streamed as a watch or not, that
// each releases its place however it ends, and that other watches need no place.
func TestLimiter(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := &gated{listing: make(chan struct{}, 9), release: make(chan error), events: watch.NewFake()}
		limiter := listwatch.NewLimiter(2)
		source := func() sources.Source {
			return clientsource.FromClient(reflect.TypeFor[*corev1.ConfigMap](),
				func() sources.Client[*corev1.ConfigMapList] { return g },
				clientsource.Options{Limiter: limiter})
		}
		ended := make(chan error, 9)
		list := func(ctx context.Context) {
			go func() {
				_, err := each(ctx, source(), metav1.ListOptions{}, func(any) error { return nil })
				ended <- err
			}()
			synctest.Wait()
		}
		expect := func(listing int) {
			t.Helper()
			synctest.Wait()
			if len(g.listing) != listing {
				t.Fatalf("%d lists have begun, expected %d", len(g.listing), listing)
			}
		}
		ctx, cancel := context.WithCancel(t.Context())
		list(t.Context())
		list(t.Context())
		list(ctx)
		expect(2)
		cancel()
		if err := <-ended; err != context.Canceled {
			t.Errorf("a list that waited: %v", err)
		}
		list(t.Context())
		expect(2)
		g.release <- errors.New("failed")
		expect(3)

		// Both places are taken: a watch has to wait only if it begins with a list.
		if w, err := source().Watch(t.Context(), metav1.ListOptions{}); err != nil {
			t.Error(err)
		} else {
			w.Stop()
		}
		g.events = watch.NewFake()
		g.release <- nil
		initial := true
		streamed, err := source().Watch(t.Context(), metav1.ListOptions{SendInitialEvents: &initial})
		if err != nil {
			t.Fatal(err)
		}
		list(t.Context())
		expect(3)
		go g.events.Action(watch.Bookmark, &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{
			ResourceVersion: "1", Annotations: map[string]string{metav1.InitialEventsAnnotationKey: "true"},
		}})
		if e, err := streamed.Next(t.Context()); err != nil || !e.InitialEventsEnd {
			t.Errorf("%v, %v", e, err)
		}
		expect(4)
		streamed.Stop()
		list(t.Context())
		expect(4)
		for range 3 {
			g.release <- nil
		}
		expect(5)
	})
}
