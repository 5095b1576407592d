package kwsharding_test

import (
	"reflect"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes/scheme"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/handler"

	kwctrl "github.com/kubewright/kubewright/contrib/controller-runtime"
	"github.com/kubewright/kubewright/contrib/controller-runtime/kwsharding"
)

// enqueued returns what a handler enqueues for an update.
func enqueued(
	t *testing.T, h handler.TypedEventHandler[client.Object, kwsharding.UIDRequest], before, after client.Object,
) (requests []kwsharding.UIDRequest) {
	t.Helper()
	q := kwctrl.NewQueue[kwsharding.UIDRequest]("", nil)
	h.Update(t.Context(), event.TypedUpdateEvent[client.Object]{ObjectOld: before, ObjectNew: after}, q)
	for q.Len() > 0 {
		request, _ := q.Get()
		requests = append(requests, request)
		q.Done(request)
	}
	q.ShutDown()
	return requests
}

// TestEnqueueUID: an update that replaces an object by another one of the same name enqueues both.
func TestEnqueueUID(t *testing.T) {
	before, after := bread("town", "rye"), bread("town", "rye")
	before.UID, after.UID = "old", "new"
	got := enqueued(t, kwsharding.EnqueueUID(), before, after)
	want := []kwsharding.UIDRequest{
		{NamespacedName: client.ObjectKeyFromObject(before), UID: "old"},
		{NamespacedName: client.ObjectKeyFromObject(before), UID: "new"},
	}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
}

// TestEnqueueOwnerUID: owners of the kind are enqueued as they are in the references, with a namespace if the
// kind is namespaced.
func TestEnqueueOwnerUID(t *testing.T) {
	mapper := meta.NewDefaultRESTMapper(nil)
	mapper.Add(corev1.SchemeGroupVersion.WithKind("ConfigMap"), meta.RESTScopeNamespace)
	mapper.Add(corev1.SchemeGroupVersion.WithKind("Node"), meta.RESTScopeRoot)
	owned := bread("town", "rye")
	owned.OwnerReferences = []metav1.OwnerReference{
		{APIVersion: "v1", Kind: "ConfigMap", Name: "dough", UID: "1"},
		{APIVersion: "v1", Kind: "Node", Name: "oven", UID: "2"},
		{APIVersion: "mill.example.com/v1", Kind: "ConfigMap", Name: "flour", UID: "3"},
	}
	dough := client.ObjectKey{Namespace: "town", Name: "dough"}
	for _, test := range []struct {
		owner client.Object
		want  kwsharding.UIDRequest
	}{
		{&corev1.ConfigMap{}, kwsharding.UIDRequest{NamespacedName: dough, UID: "1"}},
		{&corev1.Node{}, kwsharding.UIDRequest{NamespacedName: client.ObjectKey{Name: "oven"}, UID: "2"}},
	} {
		h, err := kwsharding.EnqueueOwnerUID(scheme.Scheme, mapper, test.owner)
		if err != nil {
			t.Fatal(err)
		}
		if got := enqueued(t, h, owned, owned); !reflect.DeepEqual(got, []kwsharding.UIDRequest{test.want}) {
			t.Errorf("%T: got %v, want %v", test.owner, got, test.want)
		}
	}
	if _, err := kwsharding.EnqueueOwnerUID(scheme.Scheme, mapper, &corev1.Pod{}); err == nil {
		t.Error("no error for a kind that the mapper doesn't know")
	}
}
