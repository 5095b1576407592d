package apiserver_test

import (
	"fmt"
	"strings"

	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	eventsv1 "k8s.io/api/events/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

func testValidation(v *visit) {
	core := v.client.CoreV1()
	maps, secrets := core.ConfigMaps(v.namespace), core.Secrets(v.namespace)
	createMap := func(name string, change func(*corev1.ConfigMap)) error {
		c := configMap(name)
		change(c)
		_, err := maps.Create(v.ctx, c, metav1.CreateOptions{})
		return err
	}
	createSecret := func(change func(*corev1.Secret)) error {
		s := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Name: "s"}}
		change(s)
		_, err := secrets.Create(v.ctx, s, metav1.CreateOptions{})
		return err
	}
	createNew := func(change func(*eventsv1.Event)) error {
		e := newEvent(v.namespace)
		e.Name = "e"
		change(e)
		_, err := v.client.EventsV1().Events(v.namespace).Create(v.ctx, e, metav1.CreateOptions{})
		return err
	}
	createLease := func(spec coordinationv1.LeaseSpec) error {
		_, err := v.client.CoordinationV1().Leases(v.namespace).Create(v.ctx, &coordinationv1.Lease{
			ObjectMeta: metav1.ObjectMeta{Name: "l"}, Spec: spec}, metav1.CreateOptions{})
		return err
	}
	old := event("elsewhere")
	old.Name = "e"
	_, oldElsewhere := core.Events(v.namespace).Create(v.ctx, old, metav1.CreateOptions{})
	_, badNamespace := core.Namespaces().Create(v.ctx,
		&corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: "a.b"}}, metav1.CreateOptions{})
	tooMuch := strings.Repeat("x", corev1.MaxSecretSize/2+1)

	for _, c := range []struct {
		err  error
		want string
	}{
		{createMap("Upper", func(*corev1.ConfigMap) {}), "metadata.name"},
		{createMap("m", func(c *corev1.ConfigMap) { c.Data = map[string]string{"a/b": ""} }), "data[a/b]"},
		{createMap("m", func(c *corev1.ConfigMap) {
			c.BinaryData = map[string][]byte{"k": {1}}
		}), "data[k]: Invalid value: \"k\": duplicate of key present in binaryData"},
		{createMap("m", func(c *corev1.ConfigMap) {
			c.Data = map[string]string{"a": tooMuch, "b": tooMuch}
		}), "may not be more than 1048576 bytes"},
		{createMap("m", func(c *corev1.ConfigMap) { c.Labels = map[string]string{"l": "-"} }), "metadata.labels"},
		{createSecret(func(s *corev1.Secret) { s.Data = map[string][]byte{" ": nil} }), "data[ ]"},
		{createSecret(func(s *corev1.Secret) {
			s.Data = map[string][]byte{"a": []byte(tooMuch), "b": []byte(tooMuch)}
		}), "may not be more than 1048576 bytes"},
		{createSecret(func(s *corev1.Secret) {
			s.Type, s.StringData = corev1.SecretTypeTLS, map[string]string{"tls.crt": "c"}
		}), "data[tls.key]: Required value"},
		{createNew(func(e *eventsv1.Event) { e.EventTime = metav1.MicroTime{} }), "eventTime: Required value"},
		{createNew(func(e *eventsv1.Event) { e.ReportingInstance = "" }), "reportingInstance: Required value"},
		{createNew(func(e *eventsv1.Event) { e.Note = strings.Repeat("x", 1025) }), "at most 1024 characters"},
		{createNew(func(e *eventsv1.Event) { e.Regarding.Namespace = "" }), "involvedObject.namespace"},
		{oldElsewhere, "does not match event.namespace"},
		{badNamespace, "metadata.name"},
		{createLease(coordinationv1.LeaseSpec{LeaseDurationSeconds: new(int32(0))}), "spec.leaseDurationSeconds"},
		{createLease(coordinationv1.LeaseSpec{LeaseTransitions: new(int32(-1))}), "spec.leaseTransitions"},
	} {
		if !apierrors.IsInvalid(c.err) || !strings.Contains(fmt.Sprint(c.err), c.want) {
			v.Errorf("%v, want Invalid because of %s", c.err, c.want)
		}
	}
	v.ok(createMap("frozen", func(c *corev1.ConfigMap) { c.Immutable = new(true) }))
	v.ok(createSecret(func(s *corev1.Secret) {
		s.Immutable, s.Data = new(true), map[string][]byte{"k": []byte("v")}
	}))
	v.ok(createNew(func(*eventsv1.Event) {}))
	testFrozen(v)
}

// testFrozen changes what may not change.
func testFrozen(v *visit) {
	core := v.client.CoreV1()
	for _, c := range []struct {
		path, patch, want string // want is empty if the change is allowed
	}{
		{"configmaps/frozen", `{"data":{"k":"w"}}`, "data: Forbidden"},
		{"configmaps/frozen", `{"binaryData":{"b":"AQ=="}}`, "binaryData: Forbidden"},
		{"configmaps/frozen", `{"immutable":false}`, "immutable: Forbidden"},
		{"configmaps/frozen", `{"metadata":{"labels":{"a":"b"}}}`, ""},
		{"secrets/s", `{"stringData":{"k":"w"}}`, "data: Forbidden"},
		{"secrets/s", `{"type":"other"}`, "type: Invalid value"},
		{"secrets/s", `{"metadata":{"labels":{"a":"b"}}}`, ""},
		{"events/e", `{"message":"else"}`, ""}, // in the core group nearly everything may change
	} {
		err := core.RESTClient().Patch("application/merge-patch+json").Namespace(v.namespace).
			Suffix(c.path).Body([]byte(c.patch)).Do(v.ctx).Error()
		switch {
		case c.want == "":
			v.ok(err)
		case !apierrors.IsInvalid(err) || !strings.Contains(err.Error(), c.want):
			v.Errorf("%s %s: %v, want Invalid because of %s", c.path, c.patch, err, c.want)
		}
	}
	_, err := v.client.EventsV1().Events(v.namespace).Patch(v.ctx, "e", "application/merge-patch+json",
		[]byte(`{"note":"another"}`), metav1.PatchOptions{})
	if !apierrors.IsInvalid(err) {
		v.Errorf("another note: %v, want Invalid", err)
	}
	_, err = v.client.EventsV1().Events(v.namespace).Patch(v.ctx, "e", "application/merge-patch+json",
		[]byte(`{"series":{"count":2,"lastObservedTime":"2020-01-01T00:00:00.000000Z"}}`), metav1.PatchOptions{})
	v.ok(err)
}
