package apiserver_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/watch"
	applycorev1 "k8s.io/client-go/applyconfigurations/core/v1"
	"k8s.io/client-go/metadata"

	"github.com/kubewright/kubewright/envtest/record"
)

func testApply(v *visit) {
	maps := v.client.CoreV1().ConfigMaps(v.namespace)
	as := func(manager string) metav1.ApplyOptions { return metav1.ApplyOptions{FieldManager: manager} }
	mine := applycorev1.ConfigMap("m", v.namespace).WithData(map[string]string{"a": "1", "b": "1"})
	created, err := maps.Apply(v.ctx, mine, as("me"))
	v.ok(err)
	again, err := maps.Apply(v.ctx, mine, as("me"))
	v.ok(err)
	if again.ResourceVersion != created.ResourceVersion {
		v.Error("applying the same again makes another version")
	}
	_, err = maps.Apply(v.ctx, applycorev1.ConfigMap("m", v.namespace).
		WithData(map[string]string{"b": "2"}), as("you"))
	if !apierrors.IsConflict(err) || !strings.Contains(err.Error(), `conflict with "me": .data.b`) {
		v.Errorf("applying another's field: %v, want a conflict", err)
	}
	_, err = maps.Apply(v.ctx, applycorev1.ConfigMap("m", v.namespace).
		WithData(map[string]string{"c": "2"}), as("you"))
	v.ok(err)
	left, err := maps.Apply(v.ctx, applycorev1.ConfigMap("m", v.namespace).
		WithData(map[string]string{"a": "1"}), as("me"))
	v.ok(err)
	if len(left.Data) != 2 || left.Data["a"] != "1" || left.Data["c"] != "2" {
		v.Errorf("after applying fewer fields the data is %v", left.Data)
	}
	extracted, err := applycorev1.ExtractConfigMap(left, "me")
	v.ok(err)
	if len(extracted.Data) != 1 || extracted.Data["a"] != "1" {
		v.Errorf("me manages %v", extracted.Data)
	}

	boat := boat("applied")
	applied, err := v.dynamic.Resource(boats).Namespace(v.namespace).Apply(v.ctx, "applied", boat, as("me"))
	v.ok(err)
	if managers := applied.GetManagedFields(); len(managers) != 1 || managers[0].Manager != "me" ||
		managers[0].Operation != metav1.ManagedFieldsOperationApply {
		v.Errorf("the boat is managed by %v", managers)
	}
}

func testPatches(v *visit) {
	maps := v.client.CoreV1().ConfigMaps(v.namespace)
	owned := configMap("m")
	owned.OwnerReferences = []metav1.OwnerReference{{APIVersion: "v1", Kind: "Pod", Name: "p", UID: "1"}}
	_, err := maps.Create(v.ctx, owned, metav1.CreateOptions{})
	v.ok(err)
	for _, c := range []struct {
		kind  types.PatchType
		patch string
		data  string
		owner int
	}{
		{types.JSONPatchType, `[{"op":"replace","path":"/data/k","value":"json"}]`, "json", 1},
		{types.MergePatchType, `{"data":{"k":"merge"}}`, "merge", 1},
		{types.StrategicMergePatchType, `{"data":{"k":"strategic"},"metadata":{"ownerReferences":` +
			`[{"apiVersion":"v1","kind":"Pod","name":"q","uid":"2"}]}}`, "strategic", 2},
	} {
		patched, err := maps.Patch(v.ctx, "m", c.kind, []byte(c.patch), metav1.PatchOptions{})
		v.ok(err)
		if patched.Data["k"] != c.data || len(patched.OwnerReferences) != c.owner {
			v.Errorf("%s makes %s", c.kind, record.Text(patched))
		}
	}
	harbour := v.dynamic.Resource(boats).Namespace(v.namespace)
	_, err = harbour.Create(v.ctx, boat("b"), metav1.CreateOptions{})
	v.ok(err)
	_, err = harbour.Patch(v.ctx, "b", types.StrategicMergePatchType, []byte(`{}`), metav1.PatchOptions{})
	if !apierrors.IsUnsupportedMediaType(err) {
		v.Errorf("a strategic merge patch of a custom resource: %v, want 415", err)
	}
}

func testLists(v *visit) {
	maps, secrets := v.client.CoreV1().ConfigMaps(v.namespace), v.client.CoreV1().Secrets(v.namespace)
	for i := range 7 {
		c := configMap(fmt.Sprint("m-", i))
		c.Labels = map[string]string{"parity": fmt.Sprint(i % 2)}
		_, err := maps.Create(v.ctx, c, metav1.CreateOptions{})
		v.ok(err)
		s := &corev1.Secret{ObjectMeta: c.ObjectMeta, Type: corev1.SecretType(fmt.Sprint("type-", i))}
		_, err = secrets.Create(v.ctx, s, metav1.CreateOptions{})
		v.ok(err)
	}
	var names []string
	options := metav1.ListOptions{Limit: 3}
	for pages := 1; ; pages++ {
		page, err := maps.List(v.ctx, options)
		v.ok(err)
		for _, item := range page.Items {
			names = append(names, item.Name)
		}
		if options.Continue = page.Continue; options.Continue == "" {
			if pages != 3 {
				v.Errorf("%d pages, want 3", pages)
			}
			break
		}
	}
	if !slices.Equal(names, []string{"m-0", "m-1", "m-2", "m-3", "m-4", "m-5", "m-6"}) {
		v.Errorf("the pages have %v", names)
	}
	odd, err := maps.List(v.ctx, metav1.ListOptions{LabelSelector: "parity=1"})
	v.ok(err)
	one, err := secrets.List(v.ctx, metav1.ListOptions{FieldSelector: "type=type-4"})
	v.ok(err)
	named, err := maps.List(v.ctx, metav1.ListOptions{FieldSelector: "metadata.name=m-2"})
	v.ok(err)
	active, err := v.client.CoreV1().Namespaces().List(v.ctx,
		metav1.ListOptions{FieldSelector: "status.phase=Active,metadata.name=default"})
	v.ok(err)
	if len(odd.Items) != 3 || len(one.Items) != 1 || one.Items[0].Name != "m-4" || len(named.Items) != 1 ||
		len(active.Items) != 1 {
		v.Errorf("selected %d, %d, %d, %d, want 3, 1, 1, 1",
			len(odd.Items), len(one.Items), len(named.Items), len(active.Items))
	}
	_, err = maps.List(v.ctx, metav1.ListOptions{FieldSelector: "data.k=v"})
	if !apierrors.IsBadRequest(err) {
		v.Errorf("an unknown field selector: %v, want 400", err)
	}
	testEventSelectors(v)
	testForms(v)
}

func testEventSelectors(v *visit) {
	e := event(v.namespace)
	e.Name = "e"
	e.InvolvedObject.UID, e.InvolvedObject.ResourceVersion, e.InvolvedObject.FieldPath = "u", "7", "spec"
	e.ReportingController = "r"
	_, err := v.client.CoreV1().Events(v.namespace).Create(v.ctx, e, metav1.CreateOptions{})
	v.ok(err)
	for field, value := range map[string]string{
		"involvedObject.kind": "Boat", "involvedObject.namespace": v.namespace, "involvedObject.name": "b",
		"involvedObject.uid": "u", "involvedObject.apiVersion": "v1", "involvedObject.resourceVersion": "7",
		"involvedObject.fieldPath": "spec", "reason": "Sank", "reportingComponent": "r", "source": "harbour",
		"type": "Warning",
	} {
		for want, selector := range map[int]string{1: field + "=" + value, 0: field + "!=" + value} {
			list, err := v.client.CoreV1().Events(v.namespace).List(v.ctx,
				metav1.ListOptions{FieldSelector: selector})
			v.ok(err)
			if len(list.Items) != want {
				v.Errorf("%s finds %d, want %d", selector, len(list.Items), want)
			}
		}
	}
}

// testForms reads lists as tables, and as metadata only.
func testForms(v *visit) {
	path := "/api/v1/namespaces/" + v.namespace + "/configmaps"
	var table metav1.Table
	v.ok(json.Unmarshal(v.get(path, "application/json;as=Table;v=v1;g=meta.k8s.io"), &table))
	if table.Kind != "Table" || len(table.Rows) != 7 || table.ColumnDefinitions[0].Name != "Name" {
		v.Errorf("the table is %+v", table)
	}
	meta := metadata.NewForConfigOrDie(v.server.Config())
	list, err := meta.Resource(corev1.SchemeGroupVersion.WithResource("configmaps")).Namespace(v.namespace).
		List(v.ctx, metav1.ListOptions{})
	v.ok(err)
	if len(list.Items) != 7 || list.Items[6].Labels["parity"] != "0" {
		v.Errorf("the metadata is %v", list.Items)
	}
}

func testWatches(v *visit) {
	for i, c := range []struct {
		name    string
		options metav1.ListOptions
		want    []string
	}{
		{"from a version", metav1.ListOptions{}, []string{"second", "third"}},
		{"from any version", metav1.ListOptions{ResourceVersion: "0"}, []string{"first", "second", "third"}},
		{"WatchList", metav1.ListOptions{
			SendInitialEvents: new(true), AllowWatchBookmarks: true,
			ResourceVersionMatch: metav1.ResourceVersionMatchNotOlderThan,
		}, []string{"first", "second", "(bookmark)", "third"}},
	} {
		maps := v.client.CoreV1().ConfigMaps(fmt.Sprint(v.namespace, "-", i))
		first, err := maps.Create(v.ctx, configMap("first"), metav1.CreateOptions{})
		v.ok(err)
		_, err = maps.Create(v.ctx, configMap("second"), metav1.CreateOptions{})
		v.ok(err)
		if c.name == "from a version" {
			c.options.ResourceVersion = first.ResourceVersion
		}
		w, err := maps.Watch(v.ctx, c.options)
		v.ok(err)
		var got []string
		for j := range c.want {
			if j == len(c.want)-1 {
				_, err := maps.Create(v.ctx, configMap("third"), metav1.CreateOptions{})
				v.ok(err)
			}
			event := v.next(w)
			object := event.Object.(*corev1.ConfigMap)
			if event.Type != watch.Bookmark {
				got = append(got, object.Name)
				continue
			}
			got = append(got, "(bookmark)")
			if object.Annotations[metav1.InitialEventsAnnotationKey] != "true" {
				v.Errorf("%s: the bookmark is %v", c.name, object)
			}
		}
		w.Stop()
		if !slices.Equal(got, c.want) {
			v.Errorf("%s: the watch has %v, want %v", c.name, got, c.want)
		}
	}
}

func testWrites(v *visit) {
	maps := v.client.CoreV1().ConfigMaps(v.namespace)
	generated, err := maps.Create(v.ctx, &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{GenerateName: "g-"}},
		metav1.CreateOptions{})
	v.ok(err)
	if len(generated.Name) <= len("g-") || !strings.HasPrefix(generated.Name, "g-") {
		v.Errorf("the generated name is %q", generated.Name)
	}
	stale := generated.DeepCopy()
	generated.Data = map[string]string{"k": "v"}
	_, err = maps.Update(v.ctx, generated, metav1.UpdateOptions{DryRun: []string{metav1.DryRunAll}})
	v.ok(err)
	_, err = maps.Update(v.ctx, generated, metav1.UpdateOptions{})
	v.ok(err) // the dry run made no version
	if _, err = maps.Update(v.ctx, stale, metav1.UpdateOptions{}); !apierrors.IsConflict(err) {
		v.Errorf("updating an old version: %v, want a conflict", err)
	}
	if _, err := maps.Create(v.ctx, generated, metav1.CreateOptions{}); err == nil {
		v.Error("an object with a resource version can be created")
	}
	_, err = maps.Create(v.ctx, configMap(generated.Name), metav1.CreateOptions{})
	if !apierrors.IsAlreadyExists(err) {
		v.Errorf("creating again: %v, want AlreadyExists", err)
	}
	err = maps.Delete(v.ctx, generated.Name, metav1.DeleteOptions{
		Preconditions: &metav1.Preconditions{UID: new(types.UID("another"))}})
	if !apierrors.IsConflict(err) {
		v.Errorf("deleting another: %v, want a conflict", err)
	}
	strict := v.rest().Post().AbsPath("/api/v1/namespaces/"+v.namespace+"/configmaps").
		Param("fieldValidation", "Strict").SetHeader("Content-Type", "application/json").
		Body([]byte(`{"metadata":{"name":"x"},"dada":{}}`)).Do(v.ctx).Error()
	if !apierrors.IsBadRequest(strict) || !strings.Contains(strict.Error(), `unknown field "dada"`) {
		v.Errorf("an unknown field: %v, want 400", strict)
	}
	_, err = v.client.CoordinationV1().Leases(v.namespace).Get(v.ctx, "no", metav1.GetOptions{})
	if !apierrors.IsNotFound(err) {
		v.Errorf("what isn't there: %v, want NotFound", err)
	}
}

func testFinalizers(v *visit) {
	maps := v.client.CoreV1().ConfigMaps(v.namespace)
	held := configMap("held")
	held.Finalizers = []string{"example.com/hold"}
	_, err := maps.Create(v.ctx, held, metav1.CreateOptions{})
	v.ok(err)
	v.ok(maps.Delete(v.ctx, "held", metav1.DeleteOptions{}))
	still, err := maps.Get(v.ctx, "held", metav1.GetOptions{})
	v.ok(err)
	if still.DeletionTimestamp == nil {
		v.Error("the deleted object has no deletion timestamp")
	}
	still.Finalizers = nil
	_, err = maps.Update(v.ctx, still, metav1.UpdateOptions{})
	v.ok(err)
	if _, err := maps.Get(v.ctx, "held", metav1.GetOptions{}); !apierrors.IsNotFound(err) {
		v.Errorf("Get without finalizers: %v", err)
	}
}
