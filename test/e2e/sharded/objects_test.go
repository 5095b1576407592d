//go:build linux

package sharded

import (
	"context"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/cache"

	shopv1 "github.com/kubewright/kubewright/examples/apis/shop/v1"
	"github.com/kubewright/kubewright/examples/generated/clientset/versioned"
	"github.com/kubewright/kubewright/runtime/shard"
	"github.com/kubewright/kubewright/test/e2e/sharded/internal/judge"
	"github.com/kubewright/kubewright/test/e2e/sharded/internal/wire"
)

// writer creates, changes and deletes bakeries. It records a change when the server has answered.
type writer struct {
	client  versioned.Interface
	records *records
	field   shard.Field
	spaces  []string
	want    int // the approximate number of bakeries
	every   time.Duration

	mu      sync.Mutex
	random  *rand.Rand
	present []*shopv1.Bakery
	created int
}

// fill creates namespaces and bakeries.
func (w *writer) fill(ctx context.Context, builtins kubernetes.Interface) error {
	for _, name := range w.spaces {
		namespace := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: name}}
		_, err := builtins.CoreV1().Namespaces().Create(ctx, namespace, metav1.CreateOptions{})
		if err != nil && !apierrors.IsAlreadyExists(err) {
			return err
		}
	}
	const at = 8 // concurrently
	errs := make(chan error, at)
	for range at {
		go func() {
			for range w.want / at {
				if err := w.create(ctx); err != nil {
					errs <- err
					return
				}
			}
			errs <- nil
		}()
	}
	for range at {
		if err := <-errs; err != nil {
			return err
		}
	}
	return nil
}

// run writes until ctx ends. It doesn't retry failed writes.
func (w *writer) run(ctx context.Context) {
	tick := time.NewTicker(w.every)
	defer tick.Stop()
	for {
		select {
		case <-tick.C:
			_ = w.step(ctx) // the server is being restarted
		case <-ctx.Done():
			return
		}
	}
}

// step makes one change, usually an update.
func (w *writer) step(ctx context.Context) error {
	w.mu.Lock()
	n, dice := len(w.present), w.random.IntN(100)
	w.mu.Unlock()
	switch {
	case dice < 20 && n < w.want || n == 0:
		return w.create(ctx)
	case dice < 20:
		return w.remove(ctx)
	}
	return w.update(ctx)
}

// create creates a bakery, every other one with a finalizer.
func (w *writer) create(ctx context.Context) error {
	w.mu.Lock()
	w.created++
	bakery := &shopv1.Bakery{
		ObjectMeta: metav1.ObjectMeta{
			Namespace: w.spaces[w.random.IntN(len(w.spaces))], Name: fmt.Sprintf("bakery-%d", w.created),
		},
		Spec: shopv1.BakerySpec{Bread: "rye", Market: "none"},
	}
	if w.created%2 == 0 {
		bakery.Finalizers = []string{wire.Finalizer}
	}
	w.mu.Unlock()
	created, err := w.client.ShopV1().Bakeries(bakery.Namespace).Create(ctx, bakery, metav1.CreateOptions{})
	if err != nil {
		return err
	}
	w.did(created, false)
	w.mu.Lock()
	defer w.mu.Unlock()
	w.present = append(w.present, created)
	return nil
}

func (w *writer) update(ctx context.Context) error {
	w.mu.Lock()
	bakery := w.present[w.random.IntN(len(w.present))]
	patch := fmt.Sprintf(`{"spec":{"bakers":%d}}`, w.random.IntN(1_000_000))
	w.mu.Unlock()
	updated, err := w.client.ShopV1().Bakeries(bakery.Namespace).Patch(
		ctx, bakery.Name, types.MergePatchType, []byte(patch), metav1.PatchOptions{})
	if err == nil {
		w.did(updated, false)
	}
	return err
}

func (w *writer) remove(ctx context.Context) error {
	w.mu.Lock()
	i := w.random.IntN(len(w.present))
	bakery := w.present[i]
	w.present = slices.Delete(w.present, i, i+1)
	w.mu.Unlock()
	err := w.client.ShopV1().Bakeries(bakery.Namespace).Delete(ctx, bakery.Name, metav1.DeleteOptions{})
	switch {
	case err != nil:
	case len(bakery.Finalizers) > 0:
		w.did(bakery, true)
	default: // It needn't be reconciled any more, and the watcher may never see it.
		gone := judge.Sight{UID: bakery.UID, Gone: true, At: wire.Now()}
		w.records.add(func(all *judge.Records) { all.Sights = append(all.Sights, gone) })
	}
	return err
}

func (w *writer) did(bakery *shopv1.Bakery, deleted bool) {
	change := judge.Change{
		UID: bakery.UID, Hash: w.field.Hash(bakery), Generation: bakery.Generation, Deleted: deleted,
		At: wire.Now(),
	}
	w.records.add(func(all *judge.Records) { all.Changes = append(all.Changes, change) })
}

// watcher is a handler that records the states of bakeries. It uses an informer of client-go, without the
// proxy.
type watcher struct {
	records *records

	mu sync.Mutex
	// pending are the bakeries that a replica must still handle, versions the last versions seen.
	pending, versions map[types.UID]string
}

func (w *watcher) OnAdd(obj any, _ bool) { w.see(obj.(*shopv1.Bakery), -1) }

func (w *watcher) OnUpdate(old, next any) {
	w.see(next.(*shopv1.Bakery), old.(*shopv1.Bakery).Status.ObservedGeneration)
}

func (w *watcher) OnDelete(obj any) {
	if unknown, ok := obj.(cache.DeletedFinalStateUnknown); ok {
		obj = unknown.Obj
	}
	bakery := obj.(*shopv1.Bakery)
	w.saw(judge.Sight{UID: bakery.UID, Gone: true, At: wire.Now()})
	w.mu.Lock()
	defer w.mu.Unlock()
	delete(w.pending, bakery.UID)
	delete(w.versions, bakery.UID)
}

// see notes a state. before is the generation that had been reconciled.
func (w *watcher) see(bakery *shopv1.Bakery, before int64) {
	if observed := bakery.Status.ObservedGeneration; observed != before {
		w.saw(judge.Sight{UID: bakery.UID, Observed: observed, At: wire.Now()})
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.versions[bakery.UID] = bakery.ResourceVersion
	if bakery.DeletionTimestamp != nil || bakery.Status.ObservedGeneration < bakery.Generation {
		w.pending[bakery.UID] = bakery.Namespace + "/" + bakery.Name
	} else {
		delete(w.pending, bakery.UID)
	}
}

func (w *watcher) saw(sight judge.Sight) {
	w.records.add(func(all *judge.Records) { all.Sights = append(all.Sights, sight) })
}

// left returns an error if bakeries are pending, or if the watcher has seen other bakeries than those of the
// list.
func (w *watcher) left(list *shopv1.BakeryList) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	if n := len(w.pending); n > 0 {
		names := slices.Sorted(maps.Values(w.pending))
		return fmt.Errorf("%d bakeries aren't reconciled: %v", n, names[:min(n, 5)])
	}
	listed := map[types.UID]string{}
	for i := range list.Items {
		listed[list.Items[i].UID] = list.Items[i].ResourceVersion
	}
	if !maps.Equal(listed, w.versions) {
		return fmt.Errorf("the watcher has seen %d bakeries, the server has %d, or they differ",
			len(w.versions), len(listed))
	}
	return nil
}
