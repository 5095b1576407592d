package decode

import (
	"bytes"
	"encoding/json"
	"fmt"
	"reflect"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
)

// deployment is an object like those that clusters are full of: a third of it
// is managedFields, most of its strings are in every other, too.
func deployment(i int) []byte {
	obj := appsv1.Deployment{TypeMeta: metav1.TypeMeta{APIVersion: "apps/v1", Kind: "Deployment"}}
	spec := fmt.Sprintf(`{"kind":"Deployment","apiVersion":"apps/v1","metadata":{"name":"app-%[1]d","namespace":"team-%[2]d","uid":"0f4c1c1e-%[1]d","resourceVersion":"%[1]d","generation":3,"creationTimestamp":"2026-03-04T05:06:07Z",
"labels":{"app.kubernetes.io/name":"app","app.kubernetes.io/instance":"app-%[1]d","app.kubernetes.io/managed-by":"helm","tier":"backend"},
"annotations":{"deployment.kubernetes.io/revision":"3","meta.helm.sh/release-name":"app","meta.helm.sh/release-namespace":"team-%[2]d"},
"managedFields":[{"manager":"helm","operation":"Update","apiVersion":"apps/v1","time":"2026-03-04T05:06:07Z","fieldsType":"FieldsV1","fieldsV1":{"f:metadata":{"f:annotations":{".":{},"f:meta.helm.sh/release-name":{},"f:meta.helm.sh/release-namespace":{}},"f:labels":{".":{},"f:app.kubernetes.io/instance":{},"f:app.kubernetes.io/managed-by":{},"f:app.kubernetes.io/name":{},"f:tier":{}}},"f:spec":{"f:progressDeadlineSeconds":{},"f:replicas":{},"f:revisionHistoryLimit":{},"f:selector":{},"f:strategy":{"f:rollingUpdate":{".":{},"f:maxSurge":{},"f:maxUnavailable":{}},"f:type":{}},"f:template":{"f:metadata":{"f:labels":{".":{},"f:app.kubernetes.io/name":{}}},"f:spec":{"f:containers":{"k:{\"name\":\"app\"}":{".":{},"f:env":{".":{},"k:{\"name\":\"LOG_LEVEL\"}":{".":{},"f:name":{},"f:value":{}}},"f:image":{},"f:imagePullPolicy":{},"f:livenessProbe":{".":{},"f:httpGet":{".":{},"f:path":{},"f:port":{}}},"f:name":{},"f:ports":{".":{},"k:{\"containerPort\":8080,\"protocol\":\"TCP\"}":{".":{},"f:containerPort":{},"f:name":{}}},"f:resources":{".":{},"f:limits":{".":{},"f:memory":{}},"f:requests":{".":{},"f:cpu":{},"f:memory":{}}}}},"f:dnsPolicy":{},"f:restartPolicy":{}}}}}},{"manager":"kube-controller-manager","operation":"Update","apiVersion":"apps/v1","time":"2026-03-05T05:06:07Z","fieldsType":"FieldsV1","fieldsV1":{"f:status":{"f:availableReplicas":{},"f:conditions":{".":{},"k:{\"type\":\"Available\"}":{".":{},"f:lastTransitionTime":{},"f:status":{},"f:type":{}}},"f:observedGeneration":{},"f:readyReplicas":{},"f:replicas":{}}},"subresource":"status"}]},
"spec":{"replicas":2,"selector":{"matchLabels":{"app.kubernetes.io/name":"app","app.kubernetes.io/instance":"app-%[1]d"}},"template":{"metadata":{"creationTimestamp":null,"labels":{"app.kubernetes.io/name":"app","app.kubernetes.io/instance":"app-%[1]d"}},"spec":{"containers":[{"name":"app","image":"registry.example.com/team/app:1.2.3","ports":[{"name":"http","containerPort":8080,"protocol":"TCP"}],"env":[{"name":"LOG_LEVEL","value":"info"},{"name":"REGION","value":"eu"},{"name":"POD_NAME","valueFrom":{"fieldRef":{"apiVersion":"v1","fieldPath":"metadata.name"}}}],"resources":{"limits":{"memory":"256Mi"},"requests":{"cpu":"100m","memory":"128Mi"}},"livenessProbe":{"httpGet":{"path":"/healthz","port":"http","scheme":"HTTP"},"timeoutSeconds":1,"periodSeconds":10,"successThreshold":1,"failureThreshold":3},"terminationMessagePath":"/dev/termination-log","terminationMessagePolicy":"File","imagePullPolicy":"IfNotPresent"}],"restartPolicy":"Always","terminationGracePeriodSeconds":30,"dnsPolicy":"ClusterFirst","serviceAccountName":"app","serviceAccount":"app","securityContext":{},"schedulerName":"default-scheduler"}},"strategy":{"type":"RollingUpdate","rollingUpdate":{"maxUnavailable":"25%%","maxSurge":"25%%"}},"revisionHistoryLimit":10,"progressDeadlineSeconds":600},
"status":{"observedGeneration":3,"replicas":2,"updatedReplicas":2,"readyReplicas":2,"availableReplicas":2,"conditions":[{"type":"Available","status":"True","lastUpdateTime":"2026-03-05T05:06:07Z","lastTransitionTime":"2026-03-05T05:06:07Z","reason":"MinimumReplicasAvailable","message":"Deployment has minimum availability."},{"type":"Progressing","status":"True","lastUpdateTime":"2026-03-05T05:06:07Z","lastTransitionTime":"2026-03-05T05:06:07Z","reason":"NewReplicaSetAvailable","message":"ReplicaSet \"app-%[1]d-5d4f8c\" has successfully progressed."}]}}`, i, i%20)
	if err := json.Unmarshal([]byte(spec), &obj); err != nil {
		panic(err)
	}
	data, err := json.Marshal(obj)
	if err != nil {
		panic(err)
	}
	return data
}

func deployments(n int) (objects [][]byte, list []byte) {
	var b bytes.Buffer
	b.WriteString(`{"kind":"DeploymentList","apiVersion":"apps/v1","metadata":{"resourceVersion":"1000"},"items":[`)
	for i := range n {
		objects = append(objects, deployment(i))
		if i > 0 {
			b.WriteByte(',')
		}
		b.Write(objects[i])
	}
	b.WriteString("]}\n")
	return objects, b.Bytes()
}

// BenchmarkRelist lists 500 deployments that are all known already.
func BenchmarkRelist(b *testing.B) {
	const n = 500
	_, list := deployments(n)
	d := New(reflect.TypeFor[*appsv1.Deployment](), Options{})
	known := map[Identity]any{}
	visitor := ListVisitor{Item: func(item any) error {
		o := item.(*appsv1.Deployment)
		known[Identity{o.Namespace, o.Name, o.ResourceVersion}] = item
		return nil
	}}
	if _, err := d.List(bytes.NewReader(list), visitor); err != nil {
		b.Fatal(err)
	}
	visitor.Known = func(id Identity) (any, bool) {
		o, ok := known[id]
		return o, ok
	}
	b.Run("ours", func(b *testing.B) {
		b.SetBytes(int64(len(list)))
		for b.Loop() {
			if _, err := d.List(bytes.NewReader(list), visitor); err != nil || len(known) != n {
				b.Fatal(err)
			}
		}
	})
	b.Run("client-go", func(b *testing.B) { decodeWhole(b, list) })
}

// decodeWhole decodes a list as client-go does.
func decodeWhole(b *testing.B, list []byte) {
	b.SetBytes(int64(len(list)))
	codec := objectDecoder(mediaType(b, runtime.ContentTypeJSON))
	for b.Loop() {
		if _, _, err := codec.Decode(list, nil, &appsv1.DeploymentList{}); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkList decodes a list of 500 deployments, ours item by item.
func BenchmarkList(b *testing.B) {
	const n = 500
	_, list := deployments(n)
	b.Run("ours", func(b *testing.B) {
		b.SetBytes(int64(len(list)))
		d := New(reflect.TypeFor[*appsv1.Deployment](), Options{})
		kept := make([]*appsv1.Deployment, 0, n)
		for b.Loop() {
			kept = kept[:0]
			if _, err := d.List(bytes.NewReader(list), ListVisitor{Item: func(item any) error {
				o := item.(*appsv1.Deployment)
				kept = append(kept, o)
				return nil
			}}); err != nil {
				b.Fatal(err)
			}
		}
	})
	b.Run("client-go", func(b *testing.B) { decodeWhole(b, list) })
}
