package wirebench

import (
	"bytes"
	"encoding/json"
	"fmt"

	corev1 "k8s.io/api/core/v1"
)

// Pod returns the i-th pod. Names, ids, addresses and times differ from pod to pod; the rest is
// the same, as with the pods of a deployment.
func Pod(i int) *corev1.Pod {
	text := bytes.ReplaceAll(fmt.Appendf(nil, podTemplate, i, i%50, i%200, i%20, i/250%250, i%250),
		[]byte("\n"), nil)
	pod := &corev1.Pod{}
	if err := json.Unmarshal(text, pod); err != nil {
		panic(err)
	}
	return pod
}

const podTemplate = `{"metadata":{"name":"app-%[4]d-5d4f8c9b7-%06[1]d","generateName":"app-%[4]d-5d4f8c9b7-",
"namespace":"team-%[2]d","uid":"0f4c1c1e-7a53-4b5e-8c3d-0000%08[1]d","resourceVersion":"%[1]d7",
"creationTimestamp":"2026-03-04T05:06:07Z",
"labels":{"app.kubernetes.io/component":"server","app.kubernetes.io/instance":"release-%[3]d",
"app.kubernetes.io/name":"app-%[4]d","pod-template-hash":"5d4f8c9b7"},
"annotations":{"prometheus.io/port":"9090","prometheus.io/scrape":"true",
"checksum/config":"3b1f0f2b8e0c6f7d1a9c7e55d2e8f0a4c3b2d1e0f9a8b7c6d5e4f3a2b1c0%04[3]d"},
"ownerReferences":[{"apiVersion":"apps/v1","kind":"ReplicaSet","name":"app-%[4]d-5d4f8c9b7",
"uid":"9e1b1c9e-51aa-4f05-9f6b-0000%08[3]d","controller":true,"blockOwnerDeletion":true}],
"managedFields":[{"manager":"kube-controller-manager","operation":"Update","apiVersion":"v1",
"time":"2026-03-04T05:06:07Z","fieldsType":"FieldsV1","fieldsV1":{"f:metadata":{"f:annotations":{".":{},
"f:checksum/config":{},"f:prometheus.io/port":{},"f:prometheus.io/scrape":{}},"f:generateName":{},
"f:labels":{".":{},"f:app.kubernetes.io/component":{},"f:app.kubernetes.io/instance":{},
"f:app.kubernetes.io/name":{},"f:pod-template-hash":{}},"f:ownerReferences":{".":{},
"k:{\"uid\":\"9e1b1c9e-51aa-4f05-9f6b-0000%08[3]d\"}":{}}},"f:spec":{"f:containers":{"k:{\"name\":\"app\"}":{
".":{},"f:env":{".":{},"k:{\"name\":\"LOG_LEVEL\"}":{".":{},"f:name":{},"f:value":{}},
"k:{\"name\":\"REGION\"}":{".":{},"f:name":{},"f:value":{}}},"f:image":{},"f:imagePullPolicy":{},"f:name":{},
"f:ports":{".":{},"k:{\"containerPort\":8080,\"protocol\":\"TCP\"}":{".":{},"f:containerPort":{},"f:name":{},
"f:protocol":{}}},"f:readinessProbe":{".":{},"f:failureThreshold":{},"f:httpGet":{".":{},"f:path":{},
"f:port":{},"f:scheme":{}},"f:periodSeconds":{},"f:successThreshold":{},"f:timeoutSeconds":{}},
"f:resources":{".":{},"f:limits":{".":{},"f:memory":{}},"f:requests":{".":{},"f:cpu":{},"f:memory":{}}},
"f:terminationMessagePath":{},"f:terminationMessagePolicy":{}}},"f:dnsPolicy":{},"f:enableServiceLinks":{},
"f:restartPolicy":{},"f:schedulerName":{},"f:securityContext":{},"f:serviceAccount":{},
"f:serviceAccountName":{},"f:terminationGracePeriodSeconds":{}}}},
{"manager":"kubelet","operation":"Update","apiVersion":"v1","time":"2026-03-04T05:06:17Z",
"fieldsType":"FieldsV1","subresource":"status","fieldsV1":{"f:status":{"f:conditions":{
"k:{\"type\":\"ContainersReady\"}":{".":{},"f:lastProbeTime":{},"f:lastTransitionTime":{},"f:status":{},
"f:type":{}},"k:{\"type\":\"Initialized\"}":{".":{},"f:lastProbeTime":{},"f:lastTransitionTime":{},
"f:status":{},"f:type":{}},"k:{\"type\":\"Ready\"}":{".":{},"f:lastProbeTime":{},"f:lastTransitionTime":{},
"f:status":{},"f:type":{}}},"f:containerStatuses":{},"f:hostIP":{},"f:phase":{},"f:podIP":{},
"f:podIPs":{".":{},"k:{\"ip\":\"10.1.%[5]d.%[6]d\"}":{".":{},"f:ip":{}}},"f:startTime":{}}}}]},
"spec":{"volumes":[{"name":"config","configMap":{"name":"app-%[4]d-config","defaultMode":420}},
{"name":"kube-api-access-x%05[1]d","projected":{"sources":[{"serviceAccountToken":{"expirationSeconds":3607,
"path":"token"}},{"configMap":{"name":"kube-root-ca.crt","items":[{"key":"ca.crt","path":"ca.crt"}]}},
{"downwardAPI":{"items":[{"path":"namespace","fieldRef":{"apiVersion":"v1",
"fieldPath":"metadata.namespace"}}]}}],"defaultMode":420}}],
"containers":[{"name":"app","image":"registry.example.com/shop/app-%[4]d:1.2.3","ports":[{"name":"http",
"containerPort":8080,"protocol":"TCP"},{"name":"metrics","containerPort":9090,"protocol":"TCP"}],
"env":[{"name":"LOG_LEVEL","value":"info"},{"name":"REGION","value":"eu-central-1"},{"name":"POD_NAME",
"valueFrom":{"fieldRef":{"apiVersion":"v1","fieldPath":"metadata.name"}}}],
"resources":{"limits":{"memory":"256Mi"},"requests":{"cpu":"100m","memory":"128Mi"}},
"volumeMounts":[{"name":"config","mountPath":"/etc/app"},{"name":"kube-api-access-x%05[1]d","readOnly":true,
"mountPath":"/var/run/secrets/kubernetes.io/serviceaccount"}],"readinessProbe":{"httpGet":{"path":"/ready",
"port":8080,"scheme":"HTTP"},"timeoutSeconds":1,"periodSeconds":10,"successThreshold":1,"failureThreshold":3},
"terminationMessagePath":"/dev/termination-log","terminationMessagePolicy":"File",
"imagePullPolicy":"IfNotPresent"}],
"restartPolicy":"Always","terminationGracePeriodSeconds":30,"dnsPolicy":"ClusterFirst",
"serviceAccountName":"app-%[4]d","serviceAccount":"app-%[4]d",
"nodeName":"node-%[3]d.eu-central-1.example.com","securityContext":{},"schedulerName":"default-scheduler",
"tolerations":[{"key":"node.kubernetes.io/not-ready","operator":"Exists","effect":"NoExecute",
"tolerationSeconds":300},{"key":"node.kubernetes.io/unreachable","operator":"Exists","effect":"NoExecute",
"tolerationSeconds":300}],"priority":0,"enableServiceLinks":true,"preemptionPolicy":"PreemptLowerPriority"},
"status":{"phase":"Running","conditions":[{"type":"Initialized","status":"True",
"lastTransitionTime":"2026-03-04T05:06:07Z"},{"type":"Ready","status":"True",
"lastTransitionTime":"2026-03-04T05:06:17Z"},{"type":"ContainersReady","status":"True",
"lastTransitionTime":"2026-03-04T05:06:17Z"},{"type":"PodScheduled","status":"True",
"lastTransitionTime":"2026-03-04T05:06:07Z"}],"hostIP":"10.0.0.%[6]d","hostIPs":[{"ip":"10.0.0.%[6]d"}],
"podIP":"10.1.%[5]d.%[6]d","podIPs":[{"ip":"10.1.%[5]d.%[6]d"}],"startTime":"2026-03-04T05:06:07Z",
"containerStatuses":[{"name":"app","state":{"running":{"startedAt":"2026-03-04T05:06:12Z"}},"lastState":{},
"ready":true,"restartCount":0,"image":"registry.example.com/shop/app-%[4]d:1.2.3",
"imageID":
"registry.example.com/shop/app-%[4]d@sha256:7b3c1a0f9e8d7c6b5a4f3e2d1c0b9a8f7e6d5c4b3a2f1e0d9c8b7a6f5e4d3c2b",
"containerID":"containerd://%064[1]d","started":true}],"qosClass":"Burstable"}}`
