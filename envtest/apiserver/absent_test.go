package apiserver_test

import (
	"net/http"

	authorizationv1 "k8s.io/api/authorization/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/rest"
)

// The tests of the lines of the table that say no.

func testProtobufRefused(v *visit) {
	path := "/apis/harbour.example/v1/namespaces/" + v.namespace + "/boats"
	body := []byte("k8s\x00") // the prefix of API objects in protobuf
	for name, request := range map[string]*rest.Request{
		"create": v.rest().Post().AbsPath(path),
		"update": v.rest().Put().AbsPath(path + "/b"),
	} {
		err := request.SetHeader("Content-Type", runtime.ContentTypeProtobuf).Body(body).Do(v.ctx).Error()
		if !apierrors.IsUnsupportedMediaType(err) {
			v.Errorf("%s: %v, want 415", name, err)
		}
	}
	_, err := v.dynamic.Resource(boats).Namespace(v.namespace).Create(v.ctx, boat("b"), metav1.CreateOptions{})
	v.ok(err)
	// The options of a deletion aren't a custom resource.
	options := &metav1.DeleteOptions{TypeMeta: metav1.TypeMeta{Kind: "DeleteOptions", APIVersion: "v1"}}
	v.ok(v.client.CoreV1().RESTClient().Delete().AbsPath(path + "/b").
		UseProtobufAsDefault().Body(options).Do(v.ctx).Error())
}

func testNoNamespaceSubresources(v *visit) {
	for _, subresource := range []string{"status", "finalize"} {
		err := v.rest().Get().AbsPath("/api/v1/namespaces/default/" + subresource).Do(v.ctx).Error()
		if !apierrors.IsNotFound(err) {
			v.Errorf("%s: %v, want 404", subresource, err)
		}
	}
}

func testNoOtherKinds(v *visit) {
	for _, path := range []string{
		"/api/v1/pods", "/api/v1/services", "/api/v1/nodes", "/api/v1/serviceaccounts",
		"/apis/apps/v1/deployments", "/apis/batch/v1/jobs",
	} {
		if err := v.rest().Get().AbsPath(path).Do(v.ctx).Error(); !apierrors.IsNotFound(err) {
			v.Errorf("%s: %v, want 404", path, err)
		}
	}
}

func testNoAuthentication(v *visit) {
	anyone := v.server.Config()
	anyone.BearerToken = "made up"
	client, err := rest.HTTPClientFor(anyone)
	v.ok(err)
	defer client.CloseIdleConnections()
	request, err := http.NewRequestWithContext(v.ctx, http.MethodGet, anyone.Host+"/api/v1/secrets", nil)
	v.ok(err)
	answer, err := client.Do(request)
	v.ok(err)
	answer.Body.Close()
	if answer.StatusCode != http.StatusOK {
		v.Errorf("somebody with a made-up token gets %s", answer.Status)
	}
	_, err = v.client.AuthorizationV1().SelfSubjectAccessReviews().Create(v.ctx,
		&authorizationv1.SelfSubjectAccessReview{}, metav1.CreateOptions{})
	if !apierrors.IsNotFound(err) {
		v.Errorf("an access review: %v, want 404", err)
	}
}

func testNoAdmission(v *visit) {
	for _, path := range []string{
		"/apis/admissionregistration.k8s.io/v1/validatingwebhookconfigurations",
		"/apis/admissionregistration.k8s.io/v1/validatingadmissionpolicies", "/api/v1/resourcequotas",
	} {
		if err := v.rest().Get().AbsPath(path).Do(v.ctx).Error(); !apierrors.IsNotFound(err) {
			v.Errorf("%s: %v, want 404", path, err)
		}
	}
}

func testNoGarbageCollection(v *visit) {
	maps := v.client.CoreV1().ConfigMaps(v.namespace)
	owner, err := maps.Create(v.ctx, configMap("owner"), metav1.CreateOptions{})
	v.ok(err)
	owned := configMap("owned")
	owned.OwnerReferences = []metav1.OwnerReference{
		{APIVersion: "v1", Kind: "ConfigMap", Name: owner.Name, UID: owner.UID}}
	_, err = maps.Create(v.ctx, owned, metav1.CreateOptions{})
	v.ok(err)
	v.ok(maps.Delete(v.ctx, "owner", metav1.DeleteOptions{}))
	_, err = maps.Get(v.ctx, "owned", metav1.GetOptions{})
	v.ok(err)

	for policy, finalizer := range map[metav1.DeletionPropagation]string{
		metav1.DeletePropagationForeground: metav1.FinalizerDeleteDependents,
		metav1.DeletePropagationOrphan:     metav1.FinalizerOrphanDependents,
	} {
		_, err = maps.Create(v.ctx, configMap("owner"), metav1.CreateOptions{})
		v.ok(err)
		v.ok(maps.Delete(v.ctx, "owner", metav1.DeleteOptions{PropagationPolicy: &policy}))
		var left *corev1.ConfigMap
		left, err = maps.Get(v.ctx, "owner", metav1.GetOptions{})
		v.ok(err)
		if len(left.Finalizers) != 1 || left.Finalizers[0] != finalizer {
			v.Errorf("%s leaves finalizers %v", policy, left.Finalizers)
		}
		left.Finalizers = nil
		_, err = maps.Update(v.ctx, left, metav1.UpdateOptions{})
		v.ok(err)
	}
}
