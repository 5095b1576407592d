package wirebench

import (
	"bytes"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/runtime/serializer"
)

// Workload is a custom resource. Its objects have 8.2 KB of heap, like those of
// the first measurements: 3.2 KB of text, a third of that in managedFields, most
// of it the same in many objects; seven small maps; slices; the structs.
type Workload struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`
	Spec              Spec   `json:"spec,omitempty"`
	Status            Status `json:"status,omitempty"`
}

type Spec struct {
	Class              string              `json:"class,omitempty"`
	Image              string              `json:"image"`
	ImagePullPolicy    corev1.PullPolicy   `json:"imagePullPolicy,omitempty"`
	Replicas           *int32              `json:"replicas,omitempty"`
	Paused             bool                `json:"paused,omitempty"`
	ServiceAccountName string              `json:"serviceAccountName,omitempty"`
	Selector           map[string]string   `json:"selector,omitempty"`
	NodeSelector       map[string]string   `json:"nodeSelector,omitempty"`
	Config             map[string]string   `json:"config,omitempty"`
	Limits             map[string]string   `json:"limits,omitempty"`
	Requests           map[string]string   `json:"requests,omitempty"`
	Env                []Variable          `json:"env,omitempty"`
	Ports              []Port              `json:"ports,omitempty"`
	Rules              []Rule              `json:"rules,omitempty"`
	Schedule           *Schedule           `json:"schedule,omitempty"`
	Tolerations        []corev1.Toleration `json:"tolerations,omitempty"`
}

type Variable struct {
	Name  string `json:"name"`
	Value string `json:"value,omitempty"`
}

type Port struct {
	Name     string          `json:"name"`
	Port     int32           `json:"port"`
	Protocol corev1.Protocol `json:"protocol,omitempty"`
}

type Rule struct {
	Host     string   `json:"host,omitempty"`
	Path     string   `json:"path,omitempty"`
	PathType *string  `json:"pathType,omitempty"`
	Methods  []string `json:"methods,omitempty"`
	Service  string   `json:"service"`
}

type Schedule struct {
	Start    metav1.Time  `json:"start"`
	End      *metav1.Time `json:"end,omitempty"`
	Timezone string       `json:"timezone,omitempty"`
}

type Status struct {
	ObservedGeneration int64              `json:"observedGeneration,omitempty"`
	Replicas           int32              `json:"replicas,omitempty"`
	ReadyReplicas      int32              `json:"readyReplicas,omitempty"`
	Addresses          []string           `json:"addresses,omitempty"`
	Conditions         []metav1.Condition `json:"conditions,omitempty"`
}

// WorkloadList is a list of them.
type WorkloadList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`
	Items           []Workload `json:"items"`
}

// DeepCopyObject implements runtime.Object. Nothing here mutates objects.
func (w *Workload) DeepCopyObject() runtime.Object { c := *w; return &c }

// DeepCopyObject implements runtime.Object.
func (l *WorkloadList) DeepCopyObject() runtime.Object { c := *l; return &c }

// GroupVersion is the group and version of Workload.
var GroupVersion = schema.GroupVersion{Group: "bench.example.com", Version: "v1"}

// Scheme has Workload.
var Scheme = runtime.NewScheme()

var (
	codecs     = serializer.NewCodecFactory(Scheme)
	parameters = runtime.NewParameterCodec(Scheme)
)

func init() {
	Scheme.AddKnownTypes(GroupVersion, &Workload{}, &WorkloadList{})
	metav1.AddToGroupVersion(Scheme, GroupVersion)
	metav1.AddToGroupVersion(Scheme, schema.GroupVersion{Version: "v1"})
}

// Object returns the JSON of the i-th Workload: 4.7 KB. Names, ids, versions and a few values
// differ from object to object; the rest is the same.
func Object(i int) []byte {
	return bytes.ReplaceAll(fmt.Appendf(nil, workloadTemplate, i, i%50, i%200, i%20), []byte("\n"), nil)
}

const workloadTemplate = `{"apiVersion":"bench.example.com/v1","kind":"Workload","metadata":{"annotations":{
"bench.example.com/revision":"3","bench.example.com/contact":"team-%[2]d@example.com",
"meta.helm.sh/release-name":"release-%[3]d","meta.helm.sh/release-namespace":"team-%[2]d"},
"creationTimestamp":"2026-03-04T05:06:07Z","finalizers":["bench.example.com/cleanup"],"generation":3,
"labels":{"app.kubernetes.io/component":"server","app.kubernetes.io/instance":"release-%[3]d",
"app.kubernetes.io/managed-by":"Helm","app.kubernetes.io/name":"app-%[4]d","app.kubernetes.io/part-of":"shop",
"tier":"backend"},
"managedFields":[{"apiVersion":"bench.example.com/v1","fieldsType":"FieldsV1",
"fieldsV1":{"f:metadata":{"f:annotations":{".":{},"f:bench.example.com/contact":{},
"f:bench.example.com/revision":{},"f:meta.helm.sh/release-name":{},"f:meta.helm.sh/release-namespace":{}},
"f:finalizers":{".":{},"v:\"bench.example.com/cleanup\"":{}},"f:labels":{".":{},
"f:app.kubernetes.io/component":{},"f:app.kubernetes.io/instance":{},"f:app.kubernetes.io/managed-by":{},
"f:app.kubernetes.io/name":{},"f:app.kubernetes.io/part-of":{},"f:tier":{}}},"f:spec":{".":{},"f:class":{},
"f:config":{".":{},"f:cache.size":{},"f:feature.search":{},"f:feature.upload":{},"f:http.timeout":{},
"f:log.format":{},"f:log.level":{}},"f:env":{},"f:image":{},"f:imagePullPolicy":{},"f:limits":{".":{},
"f:cpu":{},"f:memory":{}},"f:nodeSelector":{".":{},"f:kubernetes.io/arch":{},"f:kubernetes.io/os":{}},
"f:paused":{},"f:ports":{".":{},"k:{\"name\":\"admin\"}":{".":{},"f:name":{},"f:port":{},"f:protocol":{}},
"k:{\"name\":\"http\"}":{".":{},"f:name":{},"f:port":{},"f:protocol":{}},"k:{\"name\":\"metrics\"}":{".":{},
"f:name":{},"f:port":{},"f:protocol":{}}},"f:replicas":{},"f:requests":{".":{},"f:cpu":{},"f:memory":{}},
"f:rules":{},"f:schedule":{".":{},"f:end":{},"f:start":{},"f:timezone":{}},"f:selector":{},
"f:serviceAccountName":{},"f:tolerations":{}}},"manager":"helm","operation":"Update",
"time":"2026-03-04T05:06:07Z"},
{"apiVersion":"bench.example.com/v1","fieldsType":"FieldsV1","fieldsV1":{"f:status":{".":{},
"f:availableReplicas":{},"f:conditions":{".":{},"k:{\"type\":\"Available\"}":{".":{},
"f:lastTransitionTime":{},"f:message":{},"f:reason":{},"f:status":{},"f:type":{}}},"f:observedGeneration":{},
"f:readyReplicas":{},"f:replicas":{}}},"manager":"workload-controller","operation":"Update",
"subresource":"status","time":"2026-03-05T05:06:07Z"}],
"name":"workload-%[1]d","namespace":"team-%[2]d","ownerReferences":[{"apiVersion":"bench.example.com/v1",
"blockOwnerDeletion":true,"controller":true,"kind":"Application","name":"application-%[3]d",
"uid":"9e1b1c9e-51aa-4f05-9f6b-0000%08[3]d"}],
"resourceVersion":"%[1]d7","uid":"0f4c1c1e-7a53-4b5e-8c3d-0000%08[1]d"},
"spec":{"class":"standard","config":{"cache.size":"256Mi","feature.search":"enabled",
"feature.upload":"disabled","http.timeout":"30s","log.format":"json","log.level":"info"},
"env":[{"name":"LOG_LEVEL","value":"info"},{"name":"REGION","value":"eu-central-1"},{"name":"DATABASE_HOST",
"value":"postgres.team-%[2]d.svc.cluster.local"},{"name":"DATABASE_NAME","value":"app-%[4]d"},
{"name":"TRACING_ENDPOINT","value":"http://collector.observability.svc:4317"}],
"image":"registry.example.com/shop/app-%[4]d:1.2.3","imagePullPolicy":"IfNotPresent","limits":{"cpu":"500m",
"memory":"256Mi"},"nodeSelector":{"kubernetes.io/arch":"amd64","kubernetes.io/os":"linux"},
"paused":false,"ports":[{"name":"http","port":8080,"protocol":"TCP"},{"name":"metrics","port":9090,
"protocol":"TCP"},{"name":"admin","port":8081,"protocol":"TCP"}],"replicas":2,"requests":{"cpu":"100m",
"memory":"128Mi"},"rules":[{"host":"app-%[4]d.example.com","methods":["GET","HEAD"],"path":"/",
"pathType":"Prefix","service":"app-%[4]d"},{"host":"app-%[4]d.example.com","methods":["GET","POST"],
"path":"/api","pathType":"Prefix","service":"app-%[4]d-api"}],"schedule":{"end":"2026-12-31T23:59:59Z",
"start":"2026-01-01T00:00:00Z","timezone":"Europe/Berlin"},"selector":{
"app.kubernetes.io/instance":"release-%[3]d","app.kubernetes.io/name":"app-%[4]d"},
"serviceAccountName":"app-%[4]d","tolerations":[{"effect":"NoSchedule","key":"dedicated","operator":"Equal",
"value":"shop"}]},
"status":{"addresses":["10.0.0.1","10.0.0.2"],"conditions":[{"lastTransitionTime":"2026-03-05T05:06:07Z",
"message":"Workload has minimum availability.","observedGeneration":3,"reason":"MinimumReplicasAvailable",
"status":"True","type":"Available"},{"lastTransitionTime":"2026-03-05T05:06:07Z",
"message":"Generation \"workload-%[1]d-3\" has progressed.","observedGeneration":3,
"reason":"NewGenerationAvailable","status":"True","type":"Progressing"},
{"lastTransitionTime":"2026-03-05T05:06:07Z","message":"The configuration is valid.","observedGeneration":3,
"reason":"Accepted","status":"True","type":"Accepted"}],"observedGeneration":3,"readyReplicas":2,
"replicas":2}}`
