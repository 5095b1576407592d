package decode

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"reflect"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
)

// deployment returns an object like most in clusters: a third of it is managedFields, and most of its strings
// occur in every other object, too.
func deployment(i int) []byte {
	obj := appsv1.Deployment{TypeMeta: metav1.TypeMeta{APIVersion: "apps/v1", Kind: "Deployment"}}
	spec := fmt.Sprintf(
		`{"kind":"Deployment","apiVersion":"apps/v1","metadata":{"name":"app-%[1]d","namespace":"team-%[2]d",
"uid":"0f4c1c1e-%[1]d","resourceVersion":"%[1]d","generation":3,"creationTimestamp":"2026-03-04T05:06:07Z",
"labels":{"app.kubernetes.io/name":"app","app.kubernetes.io/instance":"app-%[1]d",
"app.kubernetes.io/managed-by":"helm","tier":"backend"},
"annotations":{"deployment.kubernetes.io/revision":"3","meta.helm.sh/release-name":"app",
"meta.helm.sh/release-namespace":"team-%[2]d"},
"managedFields":[{"manager":"helm","operation":"Update","apiVersion":"apps/v1","time":"2026-03-04T05:06:07Z",
"fieldsType":"FieldsV1","fieldsV1":{"f:metadata":{"f:annotations":{".":{},"f:meta.helm.sh/release-name":{},
"f:meta.helm.sh/release-namespace":{}},"f:labels":{".":{},"f:app.kubernetes.io/instance":{},
"f:app.kubernetes.io/managed-by":{},"f:app.kubernetes.io/name":{},"f:tier":{}}},
"f:spec":{"f:progressDeadlineSeconds":{},"f:replicas":{},"f:revisionHistoryLimit":{},"f:selector":{},
"f:strategy":{"f:rollingUpdate":{".":{},"f:maxSurge":{},"f:maxUnavailable":{}},"f:type":{}},
"f:template":{"f:metadata":{"f:labels":{".":{},"f:app.kubernetes.io/name":{}}},
"f:spec":{"f:containers":{"k:{\"name\":\"app\"}":{".":{},"f:env":{".":{},"k:{\"name\":\"LOG_LEVEL\"}":{".":{},
"f:name":{},"f:value":{}}},"f:image":{},"f:imagePullPolicy":{},"f:livenessProbe":{".":{},"f:httpGet":{".":{},
"f:path":{},"f:port":{}}},"f:name":{},"f:ports":{".":{},"k:{\"containerPort\":8080,\"protocol\":\"TCP\"}":{
".":{},"f:containerPort":{},"f:name":{}}},"f:resources":{".":{},"f:limits":{".":{},"f:memory":{}},
"f:requests":{".":{},"f:cpu":{},"f:memory":{}}}}},"f:dnsPolicy":{},"f:restartPolicy":{}}}}}},
{"manager":"kube-controller-manager","operation":"Update","apiVersion":"apps/v1",
"time":"2026-03-05T05:06:07Z","fieldsType":"FieldsV1","fieldsV1":{"f:status":{"f:availableReplicas":{},
"f:conditions":{".":{},"k:{\"type\":\"Available\"}":{".":{},"f:lastTransitionTime":{},"f:status":{},
"f:type":{}}},"f:observedGeneration":{},"f:readyReplicas":{},"f:replicas":{}}},"subresource":"status"}]},
"spec":{"replicas":2,"selector":{"matchLabels":{"app.kubernetes.io/name":"app",
"app.kubernetes.io/instance":"app-%[1]d"}},"template":{"metadata":{"creationTimestamp":null,
"labels":{"app.kubernetes.io/name":"app","app.kubernetes.io/instance":"app-%[1]d"}},
"spec":{"containers":[{"name":"app","image":"registry.example.com/team/app:1.2.3","ports":[{"name":"http",
"containerPort":8080,"protocol":"TCP"}],"env":[{"name":"LOG_LEVEL","value":"info"},{"name":"REGION",
"value":"eu"},{"name":"POD_NAME","valueFrom":{"fieldRef":{"apiVersion":"v1","fieldPath":"metadata.name"}}}],
"resources":{"limits":{"memory":"256Mi"},"requests":{"cpu":"100m","memory":"128Mi"}},
"livenessProbe":{"httpGet":{"path":"/healthz","port":"http","scheme":"HTTP"},"timeoutSeconds":1,
"periodSeconds":10,"successThreshold":1,"failureThreshold":3},"terminationMessagePath":"/dev/termination-log",
"terminationMessagePolicy":"File","imagePullPolicy":"IfNotPresent"}],"restartPolicy":"Always",
"terminationGracePeriodSeconds":30,"dnsPolicy":"ClusterFirst","serviceAccountName":"app",
"serviceAccount":"app","securityContext":{},"schedulerName":"default-scheduler"}},
"strategy":{"type":"RollingUpdate","rollingUpdate":{"maxUnavailable":"25%%","maxSurge":"25%%"}},
"revisionHistoryLimit":10,"progressDeadlineSeconds":600},
"status":{"observedGeneration":3,"replicas":2,"updatedReplicas":2,"readyReplicas":2,"availableReplicas":2,
"conditions":[{"type":"Available","status":"True","lastUpdateTime":"2026-03-05T05:06:07Z",
"lastTransitionTime":"2026-03-05T05:06:07Z","reason":"MinimumReplicasAvailable",
"message":"Deployment has minimum availability."},{"type":"Progressing","status":"True",
"lastUpdateTime":"2026-03-05T05:06:07Z","lastTransitionTime":"2026-03-05T05:06:07Z",
"reason":"NewReplicaSetAvailable",
"message":"ReplicaSet \"app-%[1]d-5d4f8c\" has successfully progressed."}]}}`, i, i%20)
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
	b.WriteString(
		`{"kind":"DeploymentList","apiVersion":"apps/v1","metadata":{"resourceVersion":"1000"},"items":[`)
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

// BenchmarkRelist lists 500 deployments that are all cached already: with the default options, which also
// compare the texts, and with the option KeepUnchanged.
func BenchmarkRelist(b *testing.B) {
	const n = 500
	_, list := deployments(n)
	for _, texts := range []*Texts{{}, nil} {
		name := "ours"
		if texts == nil {
			name = "ours, KeepUnchanged"
		}
		b.Run(name, func(b *testing.B) {
			d := New(reflect.TypeFor[*appsv1.Deployment](), Options{})
			known := map[Identity]any{}
			cached := Cached{
				LookUp: func(id Identity) (any, bool) { o, ok := known[id]; return o, ok },
				Texts:  texts,
			}
			items := 0
			relist := func() {
				if texts != nil {
					texts.Begin()
					defer texts.End()
				}
				_, err := d.List(bytes.NewReader(list),
					ListVisitor{Cached: cached, Item: func(item any) error {
						if o := item.(*appsv1.Deployment); len(known) < n {
							known[Identity{o.Namespace, o.Name, o.ResourceVersion}] = item
						}
						items++
						return nil
					}})
				if err != nil {
					b.Fatal(err)
				}
			}
			relist()
			b.SetBytes(int64(len(list)))
			for b.Loop() {
				relist()
			}
			if items%n != 0 || len(known) != n {
				b.Errorf("%d items, %d known", items, len(known))
			}
		})
	}
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

// BenchmarkList decodes a list of 500 deployments, ours item by item, as for an informer's first list:
// nothing is cached, and the texts are remembered.
func BenchmarkList(b *testing.B) {
	const n = 500
	_, list := deployments(n)
	b.Run("ours", func(b *testing.B) {
		b.SetBytes(int64(len(list)))
		d := New(reflect.TypeFor[*appsv1.Deployment](), Options{})
		kept := make([]any, 0, n)
		for b.Loop() {
			kept = kept[:0]
			texts := &Texts{}
			texts.Begin()
			if _, err := d.List(bytes.NewReader(list), ListVisitor{
				Cached: Cached{LookUp: func(Identity) (any, bool) { return nil, false }, Texts: texts},
				Item:   func(item any) error { kept = append(kept, item); return nil },
			}); err != nil {
				b.Fatal(err)
			}
			texts.End()
		}
	})
	b.Run("client-go", func(b *testing.B) { decodeWhole(b, list) })
}

// BenchmarkEvents decodes a watch of 500 pods in JSON, BenchmarkEventsProtobuf in protobuf.
func BenchmarkEvents(b *testing.B)         { benchmarkEvents(b, runtime.ContentTypeJSON) }
func BenchmarkEventsProtobuf(b *testing.B) { benchmarkEvents(b, runtime.ContentTypeProtobuf) }

func benchmarkEvents(b *testing.B, contentType string) {
	info := mediaType(b, contentType)
	pods := podBodies(b, contentType, 500)
	b.Run("ours", func(b *testing.B) {
		b.SetBytes(int64(len(pods.watch)))
		d := New(reflect.TypeFor[*corev1.Pod](), Options{})
		for b.Loop() {
			events := pods.events(d, bytes.NewReader(pods.watch))
			var err error
			for err == nil {
				_, err = events.Next()
			}
			if err != io.EOF {
				b.Fatal(err)
			}
		}
	})
	b.Run("client-go", func(b *testing.B) {
		b.SetBytes(int64(len(pods.watch)))
		for b.Loop() {
			events := eventDecoder(pods.watch, info, objectDecoder(info))
			var err error
			for err == nil {
				_, _, err = events.Decode()
			}
			if err != io.EOF {
				b.Fatal(err)
			}
		}
	})
}

// BenchmarkListProtobuf decodes a list of 500 pods, ours item by item.
func BenchmarkListProtobuf(b *testing.B) {
	pods := podBodies(b, runtime.ContentTypeProtobuf, 500)
	b.Run("ours", func(b *testing.B) {
		b.SetBytes(int64(len(pods.list)))
		d := New(reflect.TypeFor[*corev1.Pod](), Options{})
		kept := make([]any, 0, 500)
		for b.Loop() {
			kept = kept[:0]
			if _, err := d.ListProtobuf(bytes.NewReader(pods.list), ListVisitor{
				Item: func(item any) error { kept = append(kept, item); return nil },
			}); err != nil {
				b.Fatal(err)
			}
		}
	})
	b.Run("client-go", func(b *testing.B) {
		b.SetBytes(int64(len(pods.list)))
		codec := objectDecoder(mediaType(b, runtime.ContentTypeProtobuf))
		for b.Loop() {
			if _, _, err := codec.Decode(pods.list, nil, &corev1.PodList{}); err != nil {
				b.Fatal(err)
			}
		}
	})
}
