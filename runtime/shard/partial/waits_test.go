package partial_test

import (
	"context"
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/tools/cache"

	"github.com/kubewright/kubewright/runtime/gen/client"
	gen "github.com/kubewright/kubewright/runtime/gen/informer"
	"github.com/kubewright/kubewright/runtime/informer"
	"github.com/kubewright/kubewright/runtime/runtimetest"
	"github.com/kubewright/kubewright/runtime/shard"
	"github.com/kubewright/kubewright/runtime/shard/partial"
)

// TestWaitsEndWhenEmptied checks that a wait for a version ends when all ranges are removed, whether the
// cache has objects or not.
func TestWaitsEndWhenEmptied(t *testing.T) {
	for _, objects := range []bool{true, false} {
		t.Run(fmt.Sprint("objects=", objects), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w := newPartWorld(t, shard.ByNamespace, func(s *partServer) {
					if objects {
						paged(s)
					}
				})
				w.set(shard.All())
				w.start()
				defer w.stop()
				ctx, cancel := context.WithCancel(t.Context())
				defer cancel()
				ended := make(chan error, 1)
				go func() { ended <- informer.WaitForVersion(ctx, w.informer, "1000000") }()
				synctest.Wait()
				w.set(nil)
				select {
				case err := <-ended:
					if err != nil {
						t.Error(err)
					}
				default:
					t.Error("it waits, though nothing is selected")
				}
			})
		})
	}
}

// deleting is a client that has deleted an object.
type deleting struct{ *partServer }

func (deleting) Written(string, uint64) (client.Written, bool) {
	return client.Written{ResourceVersion: "5", Sequence: 2, Deletions: []client.Deletion{
		{Sequence: 2, Namespace: "a", Name: "x", UID: "u", After: "5"}}}, true
}

// TestOwnWritesOfNothing checks that an informer without ranges shows all own writes, deletions included.
func TestOwnWritesOfNothing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := &partWorld{t: t, by: shard.ByNamespace,
			server: runtimetest.NewServer[corev1.ConfigMap, corev1.ConfigMapList]()}
		w.informer = gen.NewShared[*corev1.ConfigMap](
			func() gen.ResourceClient[*corev1.ConfigMapList] { return deleting{w.server} },
			gen.Options{Client: w.server})
		var err error
		if w.part, err = partial.Shard(w.informer, shard.ByNamespace); err != nil {
			t.Fatal(err)
		}
		w.start()
		defer w.stop()
		ctx, cancel := context.WithTimeout(t.Context(), time.Hour)
		defer cancel()
		if err := informer.WaitForOwnWrites(ctx, w.informer); err != nil {
			t.Error(err)
		}
	})
}

// busy is a handler without OnRelease that waits for its gate in each call.
type busy struct {
	gate  chan struct{}
	calls map[string]int
}

func (b *busy) call(what string, obj any) {
	if gone, ok := obj.(cache.DeletedFinalStateUnknown); ok {
		obj = gone.Obj
	}
	b.calls[what+" "+obj.(*corev1.ConfigMap).Name]++
	if b.gate != nil {
		<-b.gate
	}
}

func (b *busy) OnAdd(obj any, _ bool) { b.call("add", obj) }
func (b *busy) OnUpdate(_, obj any)   { b.call("update", obj) }
func (b *busy) OnDelete(obj any)      { b.call("delete", obj) }

// TestDeletionAfterRelease checks that a handler receives the deletion of an object that was released and
// gained again while the handler was busy, with and without Coalesce.
func TestDeletionAfterRelease(t *testing.T) {
	for _, coalesce := range []bool{false, true} {
		t.Run(fmt.Sprint("coalesce=", coalesce), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w := newPartWorld(t, shard.ByNamespace, nil)
				y := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: "b", Name: "y"}}
				w.server.Create(&corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: "a", Name: "x"}})
				w.server.Create(y)
				h := &busy{calls: map[string]int{}}
				if _, err := informer.AddEventHandler(
					w.informer, h, informer.HandlerOptions{Coalesce: coalesce}); err != nil {
					t.Fatal(err)
				}
				w.set(shard.All())
				w.start()
				defer w.stop()
				w.settle()
				h.gate = make(chan struct{})
				w.server.Update(y)
				synctest.Wait() // the handler is busy with y
				ofX := shard.Join(shard.Range{First: shard.Hash("a"), Last: shard.Hash("a")})
				w.set(shard.All().Minus(ofX))
				w.set(shard.All())
				w.server.Delete("a", "x")
				synctest.Wait()
				close(h.gate)
				synctest.Wait()
				if h.calls["delete x"] != 1 {
					t.Errorf("calls %v", h.calls)
				}
			})
		})
	}
}
