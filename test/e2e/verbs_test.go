package e2e

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"testing"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/watch"

	"github.com/kubewright/kubewright/envtest/record"
)

// TestVerbs calls every method of each type's client.
func TestVerbs(t *testing.T) {
	for name, r := range everything {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r.testVerbs(t)
		})
	}
}

func (r resource[T, L]) testVerbs(t *testing.T) {
	ctx, scope := within(t, time.Minute), scope(t)
	c := clientset(t, cached.get(t).Config())
	read, write := r.reader(c, scope), r.writer(c, scope)
	inScope := metav1.ListOptions{LabelSelector: scopeLabel + "=" + scope}

	before, err := read.List(ctx, inScope)
	if err != nil {
		t.Fatal(err)
	}
	since := inScope
	since.ResourceVersion = resourceVersion(t, before)
	w, err := read.Watch(ctx, since)
	if err != nil {
		t.Fatal(err)
	}
	defer w.Stop()
	watched := follower[T]{ctx: ctx, events: w.ResultChan()}

	var objects []T
	for _, name := range []string{"a", "b", "c"} {
		obj, err := write.Create(ctx, r.named(scope, name), metav1.CreateOptions{})
		if err != nil {
			t.Fatal(err)
		}
		watched.expect(t, watch.Added, obj)
		objects = append(objects, obj)
	}
	if _, err := write.Create(
		ctx, r.named(scope, "a"), metav1.CreateOptions{},
	); !apierrors.IsAlreadyExists(err) {
		t.Errorf("creating what is there: %v", err)
	}
	a := objects[0]
	got, err := read.Get(ctx, a.GetName(), metav1.GetOptions{})
	if err != nil {
		t.Fatal(err)
	}
	equal(t, "Get", []T{got}, []T{a})
	equal(t, "List", r.fresh(ctx, t, c, scope), objects)

	a = r.testChanges(ctx, t, write, &watched, a)
	if r.status != nil {
		a = r.testStatus(ctx, t, r.status.update(c, scope), &watched, a)
	}

	if err := write.Delete(
		ctx, a.GetName(), metav1.DeleteOptions{Preconditions: metav1.NewUIDPreconditions("other")},
	); !apierrors.IsConflict(err) {
		t.Errorf("deleting another object of that name: %v", err)
	}
	if err := write.Delete(ctx, a.GetName(), metav1.DeleteOptions{}); err != nil {
		t.Fatal(err)
	}
	watched.expect(t, watch.Deleted, a)
	if _, err := read.Get(ctx, a.GetName(), metav1.GetOptions{}); !apierrors.IsNotFound(err) {
		t.Errorf("getting what was deleted: %v", err)
	}
	equal(t, "List without the deleted", r.fresh(ctx, t, c, scope), objects[1:])

	// Deleting this scope's objects leaves one of another scope.
	other, err := r.writer(c, scope+"-other").Create(ctx, r.named(scope+"-other", "d"),
		metav1.CreateOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if err := write.DeleteCollection(ctx, metav1.DeleteOptions{}, inScope); err != nil {
		t.Fatal(err)
	}
	watched.expectAnyOrder(t, watch.Deleted, objects[1:])
	equal(t, "List of nothing", r.fresh(ctx, t, c, scope), nil)
	equal(t, "List of the others", r.fresh(ctx, t, c, scope+"-other"), []T{other})
}

// testChanges updates and patches an object and returns the result.
func (r resource[T, L]) testChanges(
	ctx context.Context, t *testing.T, write writer[T, L], watched *follower[T], obj T,
) T {
	t.Helper()
	changed := obj.DeepCopyObject().(T)
	r.change(changed, 7)
	updated, err := write.Update(ctx, changed, metav1.UpdateOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if r.number != nil && *r.number(updated) != 7 {
		t.Errorf("updated the number to %d, want 7", *r.number(updated))
	}
	watched.expect(t, watch.Modified, updated)
	if _, err := write.Update(ctx, changed, metav1.UpdateOptions{}); !apierrors.IsConflict(err) {
		t.Errorf("updating an old version: %v", err)
	}

	patch := `{"metadata":{"annotations":{"patched":"yes"}}}`
	if r.number != nil {
		patch = fmt.Sprintf(`{"metadata":{"annotations":{"patched":"yes"}},"spec":{%q:8}}`, r.field)
	}
	patched, err := write.Patch(ctx, obj.GetName(), types.MergePatchType, []byte(patch),
		metav1.PatchOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if patched.GetAnnotations()["patched"] != "yes" || r.number != nil && *r.number(patched) != 8 {
		t.Errorf("patched to %s", record.Text(patched))
	}
	watched.expect(t, watch.Modified, patched)
	return patched
}

// testStatus updates the status, and checks that updates of the object and of its status don't
// affect each other.
func (r resource[T, L]) testStatus(
	ctx context.Context, t *testing.T, update updateFunc[T], watched *follower[T], obj T,
) T {
	t.Helper()
	changed := obj.DeepCopyObject().(T)
	r.status.set(changed)
	*r.number(changed) = 99
	updated, err := update(ctx, changed, metav1.UpdateOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if !r.status.isSet(updated) || *r.number(updated) != *r.number(obj) {
		t.Errorf("updated the status to %s", record.Text(updated))
	}
	watched.expect(t, watch.Modified, updated)
	return updated
}

// TestScale changes the number of bakers through the scale subresource.
func TestScale(t *testing.T) {
	t.Parallel()
	ctx, scope := within(t, time.Minute), scope(t)
	client := clientset(t, cached.get(t).Config()).ShopV1().Bakeries(scope)
	bakery := bakeries.named(scope, "a")
	bakery.Spec.Bakers = 2
	bakery, err := client.Create(ctx, bakery, metav1.CreateOptions{})
	if err != nil {
		t.Fatal(err)
	}
	bakery.Status.Bakers = 1
	if bakery, err = client.UpdateStatus(ctx, bakery, metav1.UpdateOptions{}); err != nil {
		t.Fatal(err)
	}
	scale, err := client.GetScale(ctx, bakery.Name, metav1.GetOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if scale.Name != bakery.Name || scale.Spec.Replicas != 2 || scale.Status.Replicas != 1 {
		t.Errorf("the scale is %s", record.Text(scale))
	}
	scale.Spec.Replicas = 5
	if scale, err = client.UpdateScale(ctx, bakery.Name, scale, metav1.UpdateOptions{}); err != nil {
		t.Fatal(err)
	}
	if bakery, err = client.Get(ctx, bakery.Name, metav1.GetOptions{}); err != nil {
		t.Fatal(err)
	}
	if scale.Spec.Replicas != 5 || bakery.Spec.Bakers != 5 || bakery.Spec.Bread == "" ||
		bakery.Status.Bakers != 1 {
		t.Errorf("the scale is %s\nof %s", record.Text(scale), record.Text(bakery))
	}
}

// TestTwoVersions writes in one API version and reads in the other.
func TestTwoVersions(t *testing.T) {
	t.Parallel()
	ctx, scope := within(t, time.Minute), scope(t)
	c := clientset(t, cached.get(t).Config())
	bakery := bakeries.named(scope, "a")
	bakery.Spec.Bakers, bakery.Spec.Market = 3, "harbour"
	if _, err := c.ShopV1().Bakeries(scope).Create(ctx, bakery, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	old, err := c.ShopV1beta1().Bakeries(scope).Get(ctx, bakery.Name, metav1.GetOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if old.Spec.Bakers != 3 || old.Spec.Bread != bakery.Spec.Bread {
		t.Errorf("as v1beta1 it is %s", record.Text(old))
	}
}

// TestRefused checks that the server's errors arrive with their reasons.
func TestRefused(t *testing.T) {
	t.Parallel()
	ctx, scope := within(t, time.Minute), scope(t)
	client := clientset(t, cached.get(t).Config()).ShopV1().Bakeries(scope)
	bakery := bakeries.named(scope, "a")
	bakery.Spec.Bakers = -1
	_, err := client.Create(ctx, bakery, metav1.CreateOptions{})
	var refused *apierrors.StatusError
	if !apierrors.IsInvalid(err) || !errors.As(err, &refused) {
		t.Fatalf("creating what the schema forbids: %v", err)
	}
	if causes := refused.ErrStatus.Details.Causes; len(causes) == 0 || causes[0].Field != "spec.bakers" {
		t.Errorf("the causes are %v, want spec.bakers", causes)
	}
}

func resourceVersion(t *testing.T, list any) string {
	t.Helper()
	return list.(metav1.ListInterface).GetResourceVersion()
}

// follower reads a watch and expects one event after the other.
type follower[T object] struct {
	ctx    context.Context
	events <-chan watch.Event
}

func (f *follower[T]) next(t *testing.T) (watch.EventType, T) {
	t.Helper()
	select {
	case event, open := <-f.events:
		if obj, ok := event.Object.(T); open && ok {
			return event.Type, obj
		}
		t.Fatalf("the watch gave %v", event)
	case <-f.ctx.Done():
		t.Fatal(context.Cause(f.ctx))
	}
	panic("unreachable")
}

func (f *follower[T]) expect(t *testing.T, what watch.EventType, obj T) {
	t.Helper()
	f.expectAnyOrder(t, what, []T{obj})
}

// expectAnyOrder expects one event of the type for each of these objects, in any order. A deleted object
// arrives in a version that was never seen before.
func (f *follower[T]) expectAnyOrder(t *testing.T, what watch.EventType, objects []T) {
	t.Helper()
	var got, want []string
	for _, obj := range objects {
		gotWhat, gotObj := f.next(t)
		gotVersion, wantVersion := gotObj.GetResourceVersion(), obj.GetResourceVersion()
		if what == watch.Deleted {
			gotVersion, wantVersion = "", ""
		}
		got = append(got, fmt.Sprint(gotWhat, " ", gotObj.GetName(), " ", gotVersion))
		want = append(want, fmt.Sprint(what, " ", obj.GetName(), " ", wantVersion))
	}
	slices.Sort(got)
	slices.Sort(want)
	if !slices.Equal(got, want) {
		t.Errorf("the watch gave %q, want %q", got, want)
	}
}
