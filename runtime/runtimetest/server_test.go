package runtimetest_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/watch"

	"github.com/kubewright/kubewright/runtime/runtimetest"
)

type server = runtimetest.Server[*corev1.ConfigMap, *corev1.ConfigMapList]

func newServer() *server { return runtimetest.NewServer[corev1.ConfigMap, corev1.ConfigMapList]() }

func configMap(name string) *corev1.ConfigMap {
	return &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: name}}
}

func versionsOf(objects []corev1.ConfigMap) string {
	var all []string
	for _, o := range objects {
		all = append(all, o.Name+"@"+o.ResourceVersion)
	}
	slices.Sort(all)
	return fmt.Sprint(all)
}

// change makes one random write.
func change(s *server, r *rand.Rand) {
	name := string(rune('a' + r.IntN(6)))
	switch _, exists := s.Find("ns", name); {
	case !exists:
		s.Create(configMap(name))
	case r.IntN(3) == 0:
		s.Delete("ns", name)
	default:
		s.Update(configMap(name))
	}
}

// collect reads the events that have arrived on a watch and applies them to objects.
func collect(w watch.Interface, objects map[string]corev1.ConfigMap) (end bool) {
	for {
		synctest.Wait()
		select {
		case e, open := <-w.ResultChan():
			if !open || e.Type == watch.Error {
				return true
			}
			cm := *e.Object.(*corev1.ConfigMap)
			switch e.Type {
			case watch.Added, watch.Modified:
				objects[cm.Name] = cm
			case watch.Deleted:
				delete(objects, cm.Name)
			}
		default:
			return false
		}
	}
}

func values(objects map[string]corev1.ConfigMap) (all []corev1.ConfigMap) {
	for _, o := range objects {
		all = append(all, o)
	}
	return all
}

// TestListsAndWatchesAgree checks that a list, in pages of any size, with writes in between and with a
// history that begins just before it, has the server's state at the list's version, and that a list followed
// by the watch from its version results in the server's state.
func TestListsAndWatchesAgree(t *testing.T) {
	for seed := range uint64(50) {
		synctest.Test(t, func(t *testing.T) {
			r := rand.New(rand.NewPCG(seed, 0))
			s := newServer()
			for range 20 {
				change(s, r)
			}
			if seed%2 == 0 {
				s.Compact()
			}
			whole, err := s.List(t.Context(), metav1.ListOptions{})
			if err != nil {
				t.Fatal(err)
			}
			var paged []corev1.ConfigMap
			opts := metav1.ListOptions{Limit: 1 + r.Int64N(3), ResourceVersion: "0"}
			for {
				page, err := s.List(t.Context(), opts)
				if err != nil {
					t.Fatal(err)
				}
				if page.ResourceVersion != whole.ResourceVersion {
					t.Errorf("seed %d: a page at %s, the list at %s", seed, page.ResourceVersion,
						whole.ResourceVersion)
				}
				paged = append(paged, page.Items...)
				if page.Continue == "" {
					break
				}
				opts.Continue, opts.ResourceVersion = page.Continue, ""
				change(s, r)
			}
			if a, b := versionsOf(paged), versionsOf(whole.Items); a != b {
				t.Errorf("seed %d: pages %s, list %s", seed, a, b)
			}
			yes := true
			objects, streamed := map[string]corev1.ConfigMap{}, map[string]corev1.ConfigMap{}
			for _, o := range whole.Items {
				objects[o.Name] = o
			}
			ctx, cancel := context.WithCancel(t.Context())
			w, err := s.Watch(ctx, metav1.ListOptions{ResourceVersion: whole.ResourceVersion})
			if err != nil {
				t.Fatal(err)
			}
			w2, err := s.Watch(ctx, metav1.ListOptions{SendInitialEvents: &yes, AllowWatchBookmarks: true})
			if err != nil {
				t.Fatal(err)
			}
			for range 20 {
				change(s, r)
			}
			now, _ := s.List(ctx, metav1.ListOptions{})
			if collect(w, objects) || collect(w2, streamed) {
				t.Errorf("seed %d: a watch ended", seed)
			}
			for what, o := range map[string]map[string]corev1.ConfigMap{
				"watched": objects, "streamed": streamed,
			} {
				if a, b := versionsOf(values(o)), versionsOf(now.Items); a != b {
					t.Errorf("seed %d: %s %s, the server has %s", seed, what, a, b)
				}
			}
			cancel()
			synctest.Wait()
			if s.Watches() != 0 {
				t.Errorf("seed %d: %d watches are open", seed, s.Watches())
			}
		})
	}
}

func TestFaults(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newServer()
		s.Create(configMap("a"))
		old := s.Version()
		s.Create(configMap("b"))
		page, _ := s.List(t.Context(), metav1.ListOptions{Limit: 1})
		s.Skip(5)
		s.Compact()
		if _, err := s.List(
			t.Context(), metav1.ListOptions{Limit: 1, Continue: page.Continue},
		); !apierrors.IsResourceExpired(err) {
			t.Errorf("an old page: %v", err)
		}
		if _, err := s.List(t.Context(),
			metav1.ListOptions{ResourceVersion: "1000"}); !apierrors.IsTimeout(err) ||
			!apierrors.HasStatusCause(err, metav1.CauseTypeResourceVersionTooLarge) {
			t.Errorf("a version to come: %v", err)
		}
		if _, err := s.List(
			t.Context(), metav1.ListOptions{ResourceVersion: old, Continue: page.Continue},
		); !apierrors.IsBadRequest(err) {
			t.Errorf("a token and a version: %v", err)
		}
		if _, err := s.List(
			t.Context(), metav1.ListOptions{Continue: "nonsense"},
		); !apierrors.IsBadRequest(err) {
			t.Errorf("a token of nobody's: %v", err)
		}
		w, err := s.Watch(t.Context(), metav1.ListOptions{ResourceVersion: old})
		if err != nil {
			t.Fatal(err)
		}
		e := <-w.ResultChan()
		if e.Type != watch.Error || !apierrors.IsResourceExpired(apierrors.FromObject(e.Object)) {
			t.Errorf("an old watch: %v", e)
		}
		if _, open := <-w.ResultChan(); open {
			t.Error("an old watch goes on")
		}

		broken := errors.New("broken")
		s.Fail("WATCH", broken)
		if _, err := s.List(t.Context(), metav1.ListOptions{}); err != nil {
			t.Error(err)
		}
		if _, err := s.Watch(t.Context(), metav1.ListOptions{}); !errors.Is(err, broken) {
			t.Error(err)
		}
		s.WatchCache(true)
		if list, _ := s.List(
			t.Context(), metav1.ListOptions{Limit: 1, ResourceVersion: "0"},
		); len(list.Items) != 2 {
			t.Errorf("%d items from the watch cache", len(list.Items))
		}
		seconds := int64(30)
		w, _ = s.Watch(t.Context(),
			metav1.ListOptions{ResourceVersion: s.Version(), TimeoutSeconds: &seconds})
		start := time.Now()
		if _, open := <-w.ResultChan(); open || time.Since(start) != 30*time.Second {
			t.Errorf("a watch of 30 s lasted %v", time.Since(start))
		}
		no := newServer()
		no.NoWatchList()
		yes := true
		if _, err := no.Watch(
			t.Context(), metav1.ListOptions{SendInitialEvents: &yes},
		); !apierrors.IsInvalid(err) {
			t.Error(err)
		}
	})
}

// TestObjectsAreCopies checks that the server shares no object with its clients, and that it finds an object
// by its name only.
func TestObjectsAreCopies(t *testing.T) {
	s := newServer()
	mine := configMap("a")
	s.Create(mine)
	mine.Name = "changed"
	list, _ := s.List(t.Context(), metav1.ListOptions{})
	list.Items[0].Name = "changed"
	found, ok := s.Find("ns", "a")
	if !ok || found.Name != "a" || found.ResourceVersion != s.Version() {
		t.Fatal(found, ok)
	}
	found.Name = "changed"
	if got := s.Objects()[0].Name; got != "a" {
		t.Error(got)
	}
	for _, other := range [][2]string{{"ns", "changed"}, {"", "a"}, {"a", "ns"}} {
		if found, ok := s.Find(other[0], other[1]); ok || found != nil {
			t.Errorf("%q: %v", other, found)
		}
	}
}
