package informer_test

import (
	"errors"
	"slices"
	"strings"
	"testing"
	"testing/synctest"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	gen "github.com/kubewright/kubewright/runtime/gen/informer"
	"github.com/kubewright/kubewright/runtime/informer"
	"github.com/kubewright/kubewright/runtime/runtimetest"
)

type configMapServer = runtimetest.Server[*corev1.ConfigMap, *corev1.ConfigMapList]

// TestTransformErrorsNameTheObject checks that the status has the error of a transform, with the namespace
// and name of the server's object, wherever the object came from, and that only a list in pages counts it as
// a failure.
func TestTransformErrorsNameTheObject(t *testing.T) {
	cause := errors.New("can't")
	for name, c := range map[string]struct {
		prepare func(*configMapServer)
		after   func(*configMapServer)
		failed  bool
	}{
		"a list in pages": {prepare: func(s *configMapServer) {
			s.NoWatchListClient()
			s.Create(configMapIn("ns", "bad"))
		}, failed: true},
		"a watch-list": {prepare: func(s *configMapServer) { s.Create(configMapIn("ns", "bad")) }},
		"a change in a watch-list": {
			prepare: func(s *configMapServer) { s.OmitEndBookmark(true) },
			after: func(s *configMapServer) {
				s.Create(configMapIn("ns", "bad"))
				s.Update(configMapIn("ns", "bad"))
			},
		},
		"a watch": {after: func(s *configMapServer) { s.Create(configMapIn("ns", "bad")) }},
		"a deletion": {after: func(s *configMapServer) {
			s.Create(configMapIn("ns", "bad"))
			s.Delete("ns", "bad")
		}},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := runtimetest.NewServer[corev1.ConfigMap, corev1.ConfigMapList]()
				if c.prepare != nil {
					c.prepare(s)
				}
				i := gen.NewShared[*corev1.ConfigMap](
					func() gen.ResourceClient[*corev1.ConfigMapList] { return s }, gen.Options{Client: s})
				if err := i.SetTransform(func(obj any) (any, error) {
					obj.(*corev1.ConfigMap).Name = "changed"
					return nil, cause
				}); err != nil {
					t.Fatal(err)
				}
				stop := run(i)
				defer stop()
				synctest.Wait()
				if c.after != nil {
					c.after(s)
					synctest.Wait()
				}
				status, _ := informer.StatusOf(i)
				if err := status.LastError; !errors.Is(err, cause) || !strings.Contains(err.Error(), "ns/bad") {
					t.Errorf("the last error is %v", err)
				}
				if failed := status.Failures > 0; failed != c.failed {
					t.Errorf("%d failures", status.Failures)
				}
			})
		})
	}
}

func configMapIn(namespace, name string) *corev1.ConfigMap {
	return &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name}}
}

// TestCoalescedMissedDeletion checks that a handler with a bounded backlog receives the deletion of an object
// for whose last state the transform fails.
func TestCoalescedMissedDeletion(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newServer()
		i := s.ours(gen.Options{})
		fails := false
		h := &recorder{}
		_, err := informer.AddEventHandler(i, h, informer.HandlerOptions{Coalesce: true})
		if err := errors.Join(err, i.SetTransform(func(obj any) (any, error) {
			if fails {
				return nil, errors.New("can't")
			}
			return obj, nil
		})); err != nil {
			t.Fatal(err)
		}
		stop := run(i)
		defer stop()
		s.put("a")
		synctest.Wait()
		fails = true
		s.remove("a")
		synctest.Wait()
		calls := h.take()
		if !slices.Equal(calls, []string{"initial ns1/a@1", "missed ns1/a ns1/a@1"}) {
			t.Errorf("calls %q", calls)
		}
	})
}
