package main

// recipe says how a program is started.
type recipe struct {
	// main is the package of the command. In args, KUBECONFIG stands for that file, and POLICY for one that has
	// the text policy. The environment has KUBECONFIG, too.
	main   string
	args   []string
	policy string
	// generate are arguments of kubewright generate, which regenerates the program's clients once it has moved.
	generate []string
	// edit changes a file of the program once it has moved, if it is set.
	edit edit
	// definitions are files of the program's module with CustomResourceDefinitions.
	definitions []string
	// kinds are what the server has 20,000 objects of.
	kinds []kind
	// synced is in as many lines of the log as lines says, once the program's caches are synced.
	synced string
	lines  int
	// about says how the program moved.
	about string
}

// edit is a text of a file, and what replaces it.
type edit struct{ file, old, new string }

// sharing returns a recipe of kro in which cached objects share equal values. A function sets the option, so
// that the file needs no further import.
func sharing() *recipe {
	r := kro
	r.about += ", `ShareValues`"
	r.edit = edit{"cmd/controller/main.go", "NewCaches(kwctrl.Options{})",
		"NewCaches(func() (o kwctrl.Options) { o.Options.ShareValues = true; return o }())"}
	return &r
}

// kind is a kind of objects.
type kind struct {
	// path is that of the collection that all objects are in.
	path, name string
	// text is an object in YAML. NUMBER stands for its number.
	text string
}

var (
	kro = recipe{
		main: "./cmd/controller",
		args: []string{"--metrics-bind-address=0", "--health-probe-bind-address=0"},
		definitions: []string{"helm/crds/internal.kro.run_graphrevisions.yaml",
			"helm/crds/kro.run_resourcegraphdefinitions.yaml"},
		kinds:  []kind{graphs},
		synced: "Starting workers", lines: 2,
		about: "controller-runtime's option",
	}
	pods = kind{"/api/v1/namespaces/default/pods", "Pod", `
apiVersion: v1
kind: Pod
metadata:
  name: app-NUMBER
  labels: {app: app-NUMBER, app.kubernetes.io/managed-by: Helm, pod-template-hash: 5d8c7b9f64}
  annotations:
    prometheus.io/scrape: "true"
    checksum/config: 9b1c45c1d8a0f4d5c8f3ad5a1e3a7b62f0d9ae86c5d4c07f
  ownerReferences:
  - {apiVersion: apps/v1, kind: ReplicaSet, name: app-NUMBER-5d8c7b9f64, controller: true,
     uid: 0c2b5a5e-7f0e-4b7e-9d0e-0000000NUMBER}
spec:
  nodeName: node-NUMBER
  containers:
  - name: app
    image: registry.example.com/shop/app:v1.24.3
    args: [--listen=:8080, --log-level=info]
    env:
    - {name: POD_NAME, valueFrom: {fieldRef: {fieldPath: metadata.name}}}
    - {name: DATABASE, value: postgres.default.svc.cluster.local}
    ports: [{name: http, containerPort: 8080}, {name: metrics, containerPort: 9090}]
    resources: {requests: {cpu: 100m, memory: 128Mi}, limits: {memory: 256Mi}}
    readinessProbe: {httpGet: {path: /readyz, port: http}, periodSeconds: 5}
    volumeMounts: [{name: config, mountPath: /etc/app}]
  - name: proxy
    image: registry.example.com/mesh/proxy:v2.3.1
    resources: {requests: {cpu: 10m, memory: 32Mi}}
  volumes: [{name: config, configMap: {name: app-NUMBER}}]
`}
	foos = kind{"/apis/samplecontroller.k8s.io/v1alpha1/namespaces/default/foos", "Foo", `
apiVersion: samplecontroller.k8s.io/v1alpha1
kind: Foo
metadata:
  name: app-NUMBER
  labels: {app: app-NUMBER, app.kubernetes.io/managed-by: Helm, team: payments}
  annotations:
    meta.helm.sh/release-name: shop
    checksum/config: 9b1c45c1d8a0f4d5c8f3ad5a1e3a7b62f0d9ae86c5d4c07f
spec: {deploymentName: app-NUMBER, replicas: 3}
`}
	autoscalers = kind{"/apis/autoscaling.k8s.io/v1/namespaces/default/verticalpodautoscalers",
		"VerticalPodAutoscaler", `
apiVersion: autoscaling.k8s.io/v1
kind: VerticalPodAutoscaler
metadata:
  name: app-NUMBER
  labels: {app: app-NUMBER, app.kubernetes.io/managed-by: Helm, team: payments}
spec:
  targetRef: {apiVersion: apps/v1, kind: Deployment, name: app-NUMBER}
  updatePolicy: {updateMode: "Off"}
  resourcePolicy:
    containerPolicies:
    - {containerName: app, minAllowed: {cpu: 50m, memory: 64Mi}, maxAllowed: {cpu: "2", memory: 2Gi}}
    - {containerName: proxy, mode: "Off"}
`}
	graphs = kind{"/apis/kro.run/v1alpha1/resourcegraphdefinitions", "ResourceGraphDefinition", `
apiVersion: kro.run/v1alpha1
kind: ResourceGraphDefinition
metadata:
  name: app-NUMBER
  labels: {app: app-NUMBER, app.kubernetes.io/managed-by: Helm, team: payments}
spec:
  schema:
    apiVersion: v1alpha1
    kind: AppNUMBER
    spec: {name: string, image: string | default="nginx", replicas: integer | default=3}
  resources:
  - id: config
    template:
      apiVersion: v1
      kind: ConfigMap
      metadata: {name: "${schema.spec.name}-config"}
      data: {image: "${schema.spec.image}", database: postgres.default.svc.cluster.local}
  - id: service
    template:
      apiVersion: v1
      kind: Service
      metadata: {name: "${schema.spec.name}"}
      spec: {selector: {app: "${schema.spec.name}"}, ports: [{port: 80, targetPort: 8080}]}
`}
)
