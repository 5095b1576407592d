package decode

import (
	"bytes"
	"encoding/json"
	"fmt"
	"time"
)

// customResource is an object like those of many operators: a third of it is managedFields, most of its
// strings are in every other, too.
func customResource(i int) []byte {
	name, namespace := fmt.Sprintf("database-%d", i), fmt.Sprintf("team-%d", i%20)
	at := func(seconds int) string {
		return time.Date(2026, 3, 4, 5, 6, seconds, 0, time.UTC).Format(time.RFC3339)
	}
	text := fmt.Sprintf(`{"apiVersion":"db.example.com/v1","kind":"Database","metadata":{
"name":%[1]q,"namespace":%[2]q,"uid":"0f4c1c1e-8b1f-4f0c-9d53-%012[3]d","resourceVersion":"%[4]d",
"generation":%[5]d,
"creationTimestamp":%[6]q,"finalizers":["db.example.com/backup"],
"labels":{"app.kubernetes.io/name":"database","app.kubernetes.io/instance":%[1]q,
"app.kubernetes.io/managed-by":"argocd","tier":"storage"},
"annotations":{"argocd.argoproj.io/tracking-id":"databases:db.example.com/Database:%[2]s/%[1]s",
"db.example.com/class":"gold"},
"ownerReferences":[{"apiVersion":"platform.example.com/v1","kind":"Tenant","name":%[2]q,
"uid":"5d0c6f4e-0000-4f0c-9d53-%012[7]d","controller":true,"blockOwnerDeletion":true}],
"managedFields":[{"manager":"argocd-controller","operation":"Apply","apiVersion":"db.example.com/v1",
"time":%[6]q,"fieldsType":"FieldsV1","fieldsV1":
{"f:metadata":{"f:annotations":{"f:argocd.argoproj.io/tracking-id":{},"f:db.example.com/class":{}},
"f:labels":{"f:app.kubernetes.io/instance":{},"f:app.kubernetes.io/managed-by":{},
"f:app.kubernetes.io/name":{},"f:tier":{}}},
"f:spec":{"f:backup":{"f:enabled":{},"f:retention":{},"f:schedule":{},"f:destination":{"f:bucket":{},
"f:prefix":{}}},"f:engine":{},"f:instances":{},"f:parameters":{"f:max_connections":{},"f:shared_buffers":{},
"f:work_mem":{}},
"f:resources":{"f:limits":{"f:memory":{}},"f:requests":{"f:cpu":{},"f:memory":{}}},"f:storage":{"f:class":{},
"f:size":{}},"f:users":{"k:{\"name\":\"app\"}":{".":{},"f:name":{},"f:roles":{}},
"k:{\"name\":\"reader\"}":{".":{},"f:name":{},"f:roles":{}}},"f:version":{}}}},
{"manager":"database-operator","operation":"Update","apiVersion":"db.example.com/v1","time":%[10]q,
"subresource":"status","fieldsType":"FieldsV1","fieldsV1":
{"f:status":{".":{},"f:conditions":{".":{},"k:{\"type\":\"Ready\"}":{".":{},"f:lastTransitionTime":{},
"f:message":{},"f:observedGeneration":{},"f:reason":{},"f:status":{},"f:type":{}},
"k:{\"type\":\"BackedUp\"}":{".":{},"f:lastTransitionTime":{},"f:reason":{},"f:status":{},"f:type":{}}},
"f:endpoint":{},"f:instances":{},"f:observedGeneration":{},"f:phase":{}}}}]},
"spec":{"engine":"postgres","version":"17.2","instances":3,"storage":{"class":"fast-ssd","size":"100Gi"},
"resources":{"limits":{"memory":"8Gi"},"requests":{"cpu":"2","memory":"8Gi"}},
"parameters":{"max_connections":500,"shared_buffers":"2GB","work_mem":"16MB","random_page_cost":1.1},
"users":[{"name":"app","roles":["readwrite"],"secretRef":{"name":"%[1]s-app","key":"password"}},
{"name":"reader","roles":["readonly"],"secretRef":{"name":"%[1]s-reader","key":"password"}}],
"backup":{"enabled":true,"schedule":"0 3 * * *","retention":14,"destination":{"bucket":"backups-eu-1",
"prefix":"%[2]s/%[1]s"}},
"affinity":{"topologyKey":"topology.kubernetes.io/zone","required":false},"ports":[{"name":"sql","port":5432},
{"name":"metrics","port":9187}]},
"status":{"phase":"Running","observedGeneration":%[5]d,"endpoint":"%[1]s.%[2]s.svc:5432",
"instances":[{"name":"%[1]s-0","role":"primary","ready":true,"lag":0},{"name":"%[1]s-1","role":"replica",
"ready":true,"lag":%[8]d},{"name":"%[1]s-2","role":"replica","ready":true,"lag":%[9]d}],
"conditions":[{"type":"Ready","status":"True","observedGeneration":%[5]d,"lastTransitionTime":%[10]q,
"reason":"AllInstancesReady","message":"3 of 3 instances are ready."},
{"type":"BackedUp","status":"True","observedGeneration":%[5]d,"lastTransitionTime":%[11]q,
"reason":"BackupCompleted","message":"The backup of %[1]s has been completed."}]}}`,
		name, namespace, i, 100_000+i, 1+i%7, at(37*i), i%20, i%900, i*7%900, at(1e6+53*i), at(2e6+3*i))
	var compact bytes.Buffer
	if err := json.Compact(&compact, []byte(text)); err != nil {
		panic(err)
	}
	return compact.Bytes()
}

// customResources are n of them, their list and their watch, as servers write them.
func customResources(n int) (objects [][]byte, list, watch []byte) {
	var l, w bytes.Buffer
	l.WriteString(`{"apiVersion":"db.example.com/v1","items":[`)
	for i := range n {
		objects = append(objects, customResource(i))
		if i > 0 {
			l.WriteByte(',')
		}
		l.Write(objects[i])
		fmt.Fprintf(&w, `{"type":"ADDED","object":%s}`+"\n", objects[i])
	}
	l.WriteString(`],"kind":"DatabaseList","metadata":{"continue":"","resourceVersion":"1000"}}` + "\n")
	return objects, l.Bytes(), w.Bytes()
}
