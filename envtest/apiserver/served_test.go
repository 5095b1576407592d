package apiserver_test

import (
	"encoding/json"
	"strings"
	"testing/fstest"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

const fleetManifest = `
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: fleets.harbour.example}
spec:
  group: harbour.example
  scope: Namespaced
  names: {plural: fleets, singular: fleet, kind: Fleet, listKind: FleetList, shortNames: [fl]}
  versions:
  - name: v1
    served: true
    storage: true
    subresources: &subresources
      status: {}
      scale: {specReplicasPath: .spec.boats, statusReplicasPath: .status.boats}
    schema: &schema
      openAPIV3Schema:
        type: object
        properties:
          spec:
            type: object
            properties:
              boats: {type: integer, maximum: 9, default: 3}
              flag: {type: string}
            x-kubernetes-validations: [{rule: "!has(self.flag) || self.flag != 'black'", message: no pirates}]
          status: {type: object, properties: {boats: {type: integer}}}
  - name: v2
    served: true
    storage: false
    subresources: *subresources
    schema: *schema
`

func testCustomResources(v *visit) {
	v.ok(v.server.InstallCRDs(v.ctx, fstest.MapFS{"fleets.yaml": {Data: []byte(fleetManifest)}}))
	defer func() { v.ok(v.server.DeleteCRDs(v.ctx, "fleets.harbour.example")) }()
	in := func(version string) schema.GroupVersionResource {
		return schema.GroupVersionResource{Group: "harbour.example", Version: version, Resource: "fleets"}
	}
	fleets := v.dynamic.Resource(in("v1")).Namespace(v.namespace)
	fleet := func(spec string) *unstructured.Unstructured {
		object := &unstructured.Unstructured{}
		v.ok(json.Unmarshal([]byte(`{"apiVersion":"harbour.example/v1","kind":"Fleet","metadata":{"name":"f"},`+
			`"spec":`+spec+`,"status":{"boats":1}}`), object))
		return object
	}
	for spec, want := range map[string]string{
		`{"boats":10}`:     "spec.boats in body should be less than or equal to 9",
		`{"flag":"black"}`: "no pirates",
	} {
		_, err := fleets.Create(v.ctx, fleet(spec), metav1.CreateOptions{})
		if !apierrors.IsInvalid(err) || !strings.Contains(err.Error(), want) {
			v.Errorf("%s: %v, want Invalid because %s", spec, err, want)
		}
	}
	created, err := fleets.Create(v.ctx, fleet(`{}`), metav1.CreateOptions{})
	v.ok(err)
	if number, _, _ := unstructured.NestedInt64(created.Object, "spec", "boats"); number != 3 {
		v.Errorf("the default is %d", number)
	}
	if _, found := created.Object["status"]; found {
		v.Error("creation writes the status")
	}
	v.ok(unstructured.SetNestedField(created.Object, int64(2), "status", "boats"))
	_, err = fleets.UpdateStatus(v.ctx, created, metav1.UpdateOptions{})
	v.ok(err)
	second, err := v.dynamic.Resource(in("v2")).Namespace(v.namespace).Get(v.ctx, "f", metav1.GetOptions{})
	v.ok(err)
	if number, _, _ := unstructured.NestedInt64(second.Object, "status", "boats"); number != 2 {
		v.Errorf("in the other version the status has %d boats", number)
	}
	scale, err := fleets.Get(v.ctx, "f", metav1.GetOptions{}, "scale")
	v.ok(err)
	wanted, _, _ := unstructured.NestedInt64(scale.Object, "spec", "replicas")
	is, _, _ := unstructured.NestedInt64(scale.Object, "status", "replicas")
	if scale.GetKind() != "Scale" || wanted != 3 || is != 2 {
		v.Errorf("the scale is %v", scale.Object)
	}
}

func testOpenAPI(v *visit) {
	for path, reference := range map[string]string{
		"/openapi/v2":        "#/definitions/",
		"/openapi/v3/api/v1": "#/components/schemas/",
		"/openapi/v3/apis/coordination.k8s.io/v1":  "#/components/schemas/",
		"/openapi/v3/apis/events.k8s.io/v1":        "#/components/schemas/",
		"/openapi/v3/apis/apiextensions.k8s.io/v1": "#/components/schemas/",
	} {
		text := string(v.get(path, runtime.ContentTypeJSON))
		if !strings.Contains(text, reference+"io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta") {
			v.Errorf("%s refers to no metadata", path)
		}
		if strings.Contains(text, runtime.APIVersionInternal) {
			v.Errorf("%s mentions the internal version", path)
		}
	}
	documented := string(v.get("/openapi/v3/api/v1", runtime.ContentTypeJSON))
	for _, want := range []string{
		"ata contains the configuration data.",  // of a ConfigMap; from v1.38 on it begins with "data"
		`"x-kubernetes-list-map-keys":["type"]`, // of the conditions of a Namespace
		`"x-kubernetes-map-type":"atomic"`,      // of an ObjectReference
		`"format":"byte"`,                       // of the data of a Secret
	} {
		if !strings.Contains(documented, want) {
			v.Errorf("the core group's document lacks %s", want)
		}
	}
}

func testHealth(v *visit) {
	for _, path := range []string{"/readyz", "/livez", "/healthz"} {
		if got := string(v.get(path, "text/plain")); got != "ok" {
			v.Errorf("%s: %s", path, got)
		}
	}
	metrics := string(v.get("/metrics", "text/plain"))
	if !strings.Contains(metrics, "apiserver_request_total") {
		v.Error("/metrics counts no requests")
	}
	version, err := v.client.Discovery().ServerVersion()
	v.ok(err)
	if version.Major != "1" || version.Minor == "" {
		v.Errorf("the version is %v", version)
	}
}
