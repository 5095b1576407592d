package wirebench

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"path"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
)

// ReplayKinds starts a server of six kinds, with n objects of each, whose JSON has 2 KB: ConfigMaps in
// protobuf; metadata of Secrets and of Deployments in protobuf; Workloads, Routes and Policies in JSON.
func ReplayKinds(tb testing.TB, n int) Server {
	recorded := map[string]Recording{
		"configmaps":  recordData(n),
		"secrets":     recordMetadata(n, func(i int) []byte { return custom("Secret", i) }),
		"deployments": recordMetadata(n, func(i int) []byte { return custom("Deployment", i) }),
		"workloads":   recordCustom("Workload", n),
		"routes":      recordCustom("Route", n),
		"policies":    recordCustom("Policy", n),
	}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		recorded[path.Base(r.URL.Path)].answer(w, r, nil, nil)
	}))
	tb.Cleanup(server.Close)
	return Server{Host: server.URL, Objects: len(recorded) * n}
}

func recordCustom(kind string, n int) Recording {
	objects := make([][]byte, n)
	for i := range objects {
		objects[i] = custom(kind, i)
	}
	return recordJSON(GroupVersion.String(), kind, objects)
}

// recordData returns n ConfigMaps in protobuf.
func recordData(n int) Recording {
	kind := metav1.TypeMeta{APIVersion: "v1", Kind: "ConfigMap"}
	list := &corev1.ConfigMapList{TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "ConfigMapList"},
		ListMeta: listed}
	objects := make([]runtime.Object, n)
	for i := range objects {
		o := &corev1.ConfigMap{}
		if err := json.Unmarshal(custom("ConfigMap", i), o); err != nil {
			panic(err)
		}
		o.TypeMeta = kind
		o.Data = map[string]string{"application.properties": fmt.Sprintf(properties, i, i%50, i%20)}
		list.Items = append(list.Items, *o)
		objects[i] = o
	}
	return recordProtobuf(list, objects, &corev1.ConfigMap{TypeMeta: kind, ObjectMeta: marked})
}

// custom returns the JSON of the i-th object of a kind, 2 KB. Names, ids, versions and a few values differ
// from object to object; the rest is the same.
func custom(kind string, i int) []byte {
	text := fmt.Appendf(nil, customTemplate, i, i%50, i%200, i%20, kind)
	return bytes.ReplaceAll(text, []byte("\n"), nil)
}

const customTemplate = `{"apiVersion":"bench.example.com/v1","kind":"%[5]s","metadata":{"annotations":{
"meta.helm.sh/release-name":"release-%[3]d","meta.helm.sh/release-namespace":"team-%[2]d"},
"creationTimestamp":"2026-03-04T05:06:07Z","generation":3,
"labels":{"app.kubernetes.io/instance":"release-%[3]d","app.kubernetes.io/managed-by":"Helm",
"app.kubernetes.io/name":"app-%[4]d"},
"managedFields":[{"apiVersion":"bench.example.com/v1","fieldsType":"FieldsV1",
"fieldsV1":{"f:metadata":{"f:annotations":{".":{},"f:meta.helm.sh/release-name":{},
"f:meta.helm.sh/release-namespace":{}},"f:labels":{".":{},"f:app.kubernetes.io/instance":{},
"f:app.kubernetes.io/managed-by":{},"f:app.kubernetes.io/name":{}}},"f:spec":{".":{},"f:env":{},"f:image":{},
"f:imagePullPolicy":{},"f:limits":{".":{},"f:cpu":{},"f:memory":{}},"f:replicas":{},"f:rules":{},"f:selector":{}}},
"manager":"helm","operation":"Update","time":"2026-03-04T05:06:07Z"}],
"name":"object-%[1]d","namespace":"team-%[2]d","ownerReferences":[{"apiVersion":"bench.example.com/v1",
"blockOwnerDeletion":true,"controller":true,"kind":"Application","name":"application-%[3]d",
"uid":"9e1b1c9e-51aa-4f05-9f6b-0000%08[3]d"}],
"resourceVersion":"%[1]d7","uid":"0f4c1c1e-7a53-4b5e-8c3d-0000%08[1]d"},
"spec":{"env":[{"name":"LOG_LEVEL","value":"info"},{"name":"DATABASE_HOST",
"value":"postgres.team-%[2]d.svc.cluster.local"},{"name":"TRACING_ENDPOINT",
"value":"http://collector.observability.svc:4317"}],"image":"registry.example.com/shop/app-%[4]d:1.2.3",
"imagePullPolicy":"IfNotPresent","limits":{"cpu":"500m","memory":"256Mi"},"replicas":2,
"rules":[{"host":"app-%[4]d.example.com","methods":["GET","POST"],"path":"/api","service":"app-%[4]d"}],
"selector":{"app.kubernetes.io/instance":"release-%[3]d","app.kubernetes.io/name":"app-%[4]d"}},
"status":{"conditions":[{"lastTransitionTime":"2026-03-05T05:06:07Z",
"message":"Generation \"object-%[1]d-3\" is available.","observedGeneration":3,
"reason":"MinimumReplicasAvailable","status":"True","type":"Available"}],"observedGeneration":3,
"readyReplicas":2,"replicas":2}}`

// properties are the data of a ConfigMap, which make it as large as the other objects.
const properties = `server.port=8080
server.name=object-%[1]d
spring.datasource.url=jdbc:postgresql://postgres.team-%[2]d.svc.cluster.local:5432/app-%[3]d
spring.datasource.hikari.maximum-pool-size=10
spring.datasource.hikari.connection-timeout=30000
spring.jpa.open-in-view=false
management.endpoints.web.exposure.include=health,info,prometheus
management.endpoint.health.probes.enabled=true
logging.level.root=INFO
logging.level.com.example.shop=INFO
tracing.endpoint=http://collector.observability.svc:4317
`
