package apiserver_test

import (
	"context"
	"slices"
	"strings"
	"time"

	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	eventsv1 "k8s.io/api/events/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/kubernetes"

	"github.com/kubewright/kubewright/envtest/record"
)

// typed has the methods of every client of client-go.
type typed[T record.APIObject, L runtime.Object] interface {
	Create(context.Context, T, metav1.CreateOptions) (T, error)
	Update(context.Context, T, metav1.UpdateOptions) (T, error)
	Delete(context.Context, string, metav1.DeleteOptions) error
	Get(context.Context, string, metav1.GetOptions) (T, error)
	List(context.Context, metav1.ListOptions) (L, error)
	Watch(context.Context, metav1.ListOptions) (watch.Interface, error)
	Patch(context.Context, string, types.PatchType, []byte, metav1.PatchOptions, ...string) (T, error)
}

func testBuiltInKinds(v *visit) {
	for _, mediaType := range []string{runtime.ContentTypeJSON, runtime.ContentTypeProtobuf} {
		c := kubernetes.NewForConfigOrDie(v.speaking(mediaType))
		testVerbs(v, c.CoreV1().ConfigMaps(v.namespace), &corev1.ConfigMap{Data: map[string]string{"a": "1"}})
		testVerbs(v, c.CoreV1().Secrets(v.namespace), &corev1.Secret{Data: map[string][]byte{"a": {1}}})
		testVerbs(v, c.CoreV1().Namespaces(), &corev1.Namespace{})
		testVerbs(v, c.CoreV1().Events(v.namespace), event(v.namespace))
		testVerbs(v, c.EventsV1().Events(v.namespace), newEvent(v.namespace))
		testVerbs(v, c.CoordinationV1().Leases(v.namespace), &coordinationv1.Lease{
			Spec: coordinationv1.LeaseSpec{HolderIdentity: new("me"), RenewTime: new(metav1.NowMicro())}})
	}
	testYAML(v)
}

// testVerbs takes an object through a life that a watch sees.
func testVerbs[T record.APIObject, L runtime.Object](v *visit, c typed[T, L], object T) {
	v.Helper()
	const label = "life"
	object = object.DeepCopyObject().(T)
	object.SetName(v.namespace + "-" + label)
	object.SetLabels(map[string]string{label: v.namespace})
	selected := metav1.ListOptions{LabelSelector: label + "=" + v.namespace}
	list, err := c.List(v.ctx, selected)
	v.ok(err)
	since, err := meta.ListAccessor(list)
	v.ok(err)
	watching := selected
	watching.ResourceVersion = since.GetResourceVersion()
	w, err := c.Watch(v.ctx, watching)
	v.ok(err)
	defer w.Stop()

	created, err := c.Create(v.ctx, object, metav1.CreateOptions{})
	v.ok(err)
	got, err := c.Get(v.ctx, object.GetName(), metav1.GetOptions{})
	v.ok(err)
	for _, difference := range record.Differences([]T{got}, []T{created}) {
		v.Errorf("%T: Get after Create: %s", object, difference)
	}
	got.SetAnnotations(map[string]string{"a": "b"})
	updated, err := c.Update(v.ctx, got, metav1.UpdateOptions{})
	v.ok(err)
	patched, err := c.Patch(v.ctx, object.GetName(), types.MergePatchType,
		[]byte(`{"metadata":{"annotations":{"c":"d"}}}`), metav1.PatchOptions{})
	v.ok(err)
	if a := patched.GetAnnotations(); len(a) != 2 || a["a"] != "b" || a["c"] != "d" {
		v.Errorf("%T: patched to annotations %v", object, a)
	}
	list, err = c.List(v.ctx, selected)
	v.ok(err)
	items, err := meta.ExtractList(list)
	v.ok(err)
	if len(items) != 1 {
		v.Fatalf("%T: listed %d, want 1", object, len(items))
	}
	if kind := items[0].GetObjectKind().GroupVersionKind(); !kind.Empty() {
		v.Errorf("%T: an item has the kind %v; Kubernetes sets only that of the list", object, kind)
	}
	for _, difference := range record.Differences([]T{items[0].(T)}, []T{patched}) {
		v.Errorf("%T: List after Patch: %s", object, difference)
	}
	v.ok(c.Delete(v.ctx, object.GetName(), metav1.DeleteOptions{}))
	if _, err := c.Get(v.ctx, object.GetName(), metav1.GetOptions{}); !apierrors.IsNotFound(err) {
		v.Errorf("%T: Get after Delete: %v", object, err)
	}

	for _, want := range []struct {
		event  watch.EventType
		object T
	}{{watch.Added, created}, {watch.Modified, updated}, {watch.Modified, patched}, {watch.Deleted, patched}} {
		seen := v.next(w)
		if seen.Type != want.event {
			v.Fatalf("%T: the watch has %s, want %s", object, seen.Type, want.event)
		}
		if seen.Type == watch.Deleted {
			continue // its version is that of the deletion
		}
		for _, difference := range record.Differences([]T{seen.Object.(T)}, []T{want.object}) {
			v.Errorf("%T: the watch, %s: %s", object, seen.Type, difference)
		}
	}

	collection, ok := any(c).(interface {
		DeleteCollection(context.Context, metav1.DeleteOptions, metav1.ListOptions) error
	})
	if !ok {
		return // Namespaces
	}
	_, err = c.Create(v.ctx, object, metav1.CreateOptions{})
	v.ok(err)
	v.ok(collection.DeleteCollection(v.ctx, metav1.DeleteOptions{}, selected))
	list, err = c.List(v.ctx, selected)
	v.ok(err)
	if left := meta.LenList(list); left != 0 {
		v.Errorf("%T: DeleteCollection left %d", object, left)
	}
}

// next returns the next event of a watch.
func (v *visit) next(w watch.Interface) watch.Event {
	v.Helper()
	select {
	case event, ok := <-w.ResultChan():
		if !ok {
			v.Fatal("the watch ended")
		}
		if event.Type == watch.Error {
			v.Fatal(apierrors.FromObject(event.Object))
		}
		return event
	case <-v.ctx.Done():
		v.Fatal(context.Cause(v.ctx))
		panic("unreachable")
	}
}

// testYAML writes and reads what kubectl would.
func testYAML(v *visit) {
	path := "/api/v1/namespaces/" + v.namespace + "/configmaps"
	manifest := "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: yaml}\ndata: {written: in yaml}\n"
	v.ok(v.rest().Post().AbsPath(path).SetHeader("Content-Type", runtime.ContentTypeYAML).
		Body([]byte(manifest)).Do(v.ctx).Error())
	text := string(v.get(path+"/yaml", runtime.ContentTypeYAML))
	if !strings.Contains(text, "written: in yaml") || !strings.Contains(text, "kind: ConfigMap") {
		v.Errorf("as YAML: %s", text)
	}
}

func event(namespace string) *corev1.Event {
	return &corev1.Event{
		InvolvedObject: corev1.ObjectReference{Kind: "Boat", Namespace: namespace, Name: "b", APIVersion: "v1"},
		Reason:         "Sank", Message: "glug", Type: corev1.EventTypeWarning, Count: 3,
		Source: corev1.EventSource{Component: "harbour"},
	}
}

func newEvent(namespace string) *eventsv1.Event {
	return &eventsv1.Event{
		ObjectMeta: metav1.ObjectMeta{Namespace: namespace},
		EventTime:  metav1.NowMicro(), ReportingController: "harbour", ReportingInstance: "harbour-1",
		Action: "Sinking", Reason: "Sank", Note: "glug", Type: corev1.EventTypeWarning,
		Regarding: corev1.ObjectReference{Kind: "Boat", Namespace: namespace, Name: "b", APIVersion: "v1"},
	}
}

func testEvents(v *visit) {
	written := newEvent(v.namespace)
	written.Name = "sinking"
	written.Series = &eventsv1.EventSeries{Count: 2, LastObservedTime: metav1.NowMicro()}
	written, err := v.client.EventsV1().Events(v.namespace).Create(v.ctx, written, metav1.CreateOptions{})
	v.ok(err)
	read, err := v.client.CoreV1().Events(v.namespace).Get(v.ctx, written.Name, metav1.GetOptions{})
	v.ok(err)
	if read.Message != written.Note || read.InvolvedObject != written.Regarding || read.UID != written.UID ||
		read.Series.Count != 2 {
		v.Errorf("in the core group the event is %s", record.Text(read))
	}
	old := event(v.namespace)
	old.Name = "old"
	old, err = v.client.CoreV1().Events(v.namespace).Create(v.ctx, old, metav1.CreateOptions{})
	v.ok(err)
	list, err := v.client.EventsV1().Events(v.namespace).List(v.ctx,
		metav1.ListOptions{FieldSelector: "regarding.name=b"})
	v.ok(err)
	i := slices.IndexFunc(list.Items, func(e eventsv1.Event) bool { return e.Name == old.Name })
	if len(list.Items) != 2 || i < 0 || list.Items[i].DeprecatedCount != old.Count ||
		list.Items[i].DeprecatedSource != old.Source {
		v.Errorf("in events.k8s.io the events are %s", record.Text(list))
	}
	seconds, err := v.server.LeaseSeconds(v.ctx)
	v.ok(err)
	if len(seconds) == 0 || slices.Min(seconds) < int64(time.Hour/time.Second) {
		v.Errorf("the events live for %v seconds", seconds)
	}
}

func testSecrets(v *visit) {
	secrets := v.client.CoreV1().Secrets(v.namespace)
	created, err := secrets.Create(v.ctx, &corev1.Secret{
		ObjectMeta: metav1.ObjectMeta{Name: "s"},
		Data:       map[string][]byte{"kept": []byte("1"), "changed": []byte("2")},
		StringData: map[string]string{"changed": "3", "new": "4"},
	}, metav1.CreateOptions{})
	v.ok(err)
	want := map[string][]byte{"kept": []byte("1"), "changed": []byte("3"), "new": []byte("4")}
	if created.Type != corev1.SecretTypeOpaque || created.StringData != nil ||
		!equality.Semantic.DeepEqual(created.Data, want) {
		v.Errorf("created %s", record.Text(created))
	}
	patched, err := secrets.Patch(v.ctx, "s", types.MergePatchType, []byte(`{"stringData":{"new":"5"}}`),
		metav1.PatchOptions{})
	v.ok(err)
	if string(patched.Data["new"]) != "5" || patched.StringData != nil {
		v.Errorf("patched %s", record.Text(patched))
	}
}

func testNamespaces(v *visit) {
	namespaces := v.client.CoreV1().Namespaces()
	for _, name := range []string{"default", "kube-system", "kube-public", "kube-node-lease"} {
		there, err := namespaces.Get(v.ctx, name, metav1.GetOptions{})
		v.ok(err)
		if there.Status.Phase != corev1.NamespaceActive || there.Labels[corev1.LabelMetadataName] != name {
			v.Errorf("there is %s", record.Text(there))
		}
	}
	maps := v.client.CoreV1().ConfigMaps(v.namespace)
	_, err := maps.Create(v.ctx, configMap("content"), metav1.CreateOptions{})
	v.ok(err) // although there is no such namespace
	_, err = namespaces.Create(v.ctx, &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: v.namespace}},
		metav1.CreateOptions{})
	v.ok(err)
	v.ok(namespaces.Delete(v.ctx, v.namespace, metav1.DeleteOptions{}))
	if _, err := namespaces.Get(v.ctx, v.namespace, metav1.GetOptions{}); !apierrors.IsNotFound(err) {
		v.Errorf("Get after the deletion: %v", err)
	}
	_, err = maps.Get(v.ctx, "content", metav1.GetOptions{})
	v.ok(err)
}

func configMap(name string) *corev1.ConfigMap {
	return &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: name}, Data: map[string]string{"k": "v"}}
}
