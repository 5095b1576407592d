package main

// program is a public program.
type program struct {
	name, module, version string
	// toolchain is the GOTOOLCHAIN to use, "" for the one that runs this.
	toolchain string
	// tests are the packages whose tests need neither a network nor a server.
	tests []string
	// skip is a pattern of tests among them that need a server, and fail as released where there is none.
	skip string
}

var programs = []program{
	{name: "external-attacher", module: "github.com/kubernetes-csi/external-attacher/v4", version: "v4.13.0",
		tests: []string{"./pkg/controller/..."}},
	{name: "cloud-provider", module: "k8s.io/cloud-provider", version: "v0.37.2",
		tests: []string{"./controllers/..."}},
	{name: "vertical-pod-autoscaler", module: "k8s.io/autoscaler/vertical-pod-autoscaler", version: "v1.8.1",
		tests: []string{"./pkg/target/...", "./pkg/updater/...", "./pkg/utils/limitrange/...",
			"./pkg/recommender/input/oom/..."}},
	{name: "wrangler", module: "github.com/rancher/wrangler/v3", version: "v3.8.0",
		tests: []string{"./pkg/generic/...", "./pkg/summary/informer", "./pkg/relatedresource", "./pkg/apply/..."}},
	{name: "lasso", module: "github.com/rancher/lasso", version: "v0.2.10", tests: []string{"./..."}},
	{name: "descheduler", module: "sigs.k8s.io/descheduler", version: "v0.36.0",
		tests: []string{"./pkg/descheduler/...", "./pkg/framework/plugins/..."}},
	{name: "contour", module: "github.com/projectcontour/contour", version: "v1.33.8",
		tests: []string{"./internal/k8s", "./internal/contour", "./internal/leadership"}},
	{name: "kro", module: "github.com/kubernetes-sigs/kro", version: "v0.9.4",
		tests: []string{"./pkg/dynamiccontroller", "./pkg/watch"}},
	{name: "karpenter", module: "sigs.k8s.io/karpenter", version: "v1.15.0", toolchain: "go1.27.1",
		tests: []string{"./pkg/controllers/..."},
		skip:  "^(TestAPIs|TestVPA|TestScheduling|TestNodeOverlay|TestCapacityBuffer)$"},
	{name: "argo-rollouts", module: "github.com/argoproj/argo-rollouts", version: "v1.10.2",
		toolchain: "go1.27.1",
		tests:     []string{"./rollout/...", "./experiments/...", "./controller/...", "./utils/tolerantinformer"}},
}
