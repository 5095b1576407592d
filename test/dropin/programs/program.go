package main

// program is a public program.
type program struct {
	name, module, version string
	// toolchain is the GOTOOLCHAIN to use, "" for the one that runs this.
	toolchain string
	// tests are the packages whose tests need neither a network nor a server, none if they aren't run.
	tests []string
	// skip is a pattern of tests among them that fail as released: always, because they need a server, or in
	// some runs.
	skip string
	// env is added to the environment of all commands but the program itself.
	env []string
	// note says, on the page, which tests don't run or fail as released, and why columns differ.
	note string
	// start says how to start it, if it is started.
	start *recipe
}

var programs = []program{
	{name: "sample-controller", module: "k8s.io/sample-controller", version: "v0.36.3",
		tests: []string{"."},
		start: &recipe{
			main: ".", args: []string{"-kubeconfig=KUBECONFIG"},
			generate:    []string{"./pkg/apis/...", "--output-dir", "pkg/generated", "--with-applyconfig", "--prune"},
			definitions: []string{"artifacts/examples/crd-status-subresource.yaml"},
			kinds:       []kind{foos},
			synced:      "Starting workers", lines: 1,
			about: "new clients",
		}},
	{name: "external-attacher", module: "github.com/kubernetes-csi/external-attacher/v4", version: "v4.13.0",
		tests: []string{"./pkg/controller/..."}},
	{name: "cloud-provider", module: "k8s.io/cloud-provider", version: "v0.37.2",
		tests: []string{"./controllers/..."}},
	{name: "vertical-pod-autoscaler", module: "k8s.io/autoscaler/vertical-pod-autoscaler", version: "v1.8.1",
		tests: []string{"./pkg/target/...", "./pkg/updater/...", "./pkg/utils/limitrange/...",
			"./pkg/recommender/input/oom/..."},
		start: &recipe{
			main: "./pkg/updater",
			args: []string{"--kubeconfig=KUBECONFIG", "--address=127.0.0.1:0", "--updater-interval=1s",
				"--use-admission-controller-status=false", "--v=0"},
			generate:    []string{"./pkg/apis/...", "--output-dir", "pkg/client", "--prune"},
			definitions: []string{"deploy/vpa-v1-crd-gen.yaml"},
			kinds:       []kind{pods, autoscalers},
			synced:      "No VPA objects to process", lines: 1,
			about: "import path, new clients",
		}},
	{name: "wrangler", module: "github.com/rancher/wrangler/v3", version: "v3.8.0",
		tests: []string{"./pkg/generic/...", "./pkg/summary/informer", "./pkg/relatedresource", "./pkg/apply/..."}},
	{name: "lasso", module: "github.com/rancher/lasso", version: "v0.2.10", tests: []string{"./..."},
		note: "four tests need a server."},
	{name: "descheduler", module: "sigs.k8s.io/descheduler", version: "v0.36.0",
		tests: []string{"./pkg/descheduler/...", "./pkg/framework/plugins/..."},
		// Each fails as released, in one of 2 to 20 runs.
		skip: "^(TestNodeLabelSelectorBasedEviction|TestPodEvictorReset|" +
			"TestPromClientControllerSync_EventHandler)$",
		note: "three flaky tests don't run. Factories of client-go v0.37 make an informer at each call; " +
			"a test compares two.",
		start: &recipe{
			main: "./cmd/descheduler",
			args: []string{"--kubeconfig=KUBECONFIG", "--policy-config-file=POLICY", "--descheduling-interval=1h",
				"--disable-metrics", "--secure-port=0"},
			policy: `apiVersion: descheduler/v1alpha2
kind: DeschedulerPolicy
profiles:
- name: all
  pluginConfig: [{name: DefaultEvictor}, {name: PodLifeTime, args: {maxPodLifeTimeSeconds: 86400}}]
  plugins: {deschedule: {enabled: [PodLifeTime]}}
`,
			kinds:  []kind{pods},
			synced: "requires >=2 nodes", lines: 1,
			about: "import path",
		}},
	{name: "contour", module: "github.com/projectcontour/contour", version: "v1.33.8",
		tests: []string{"./internal/k8s", "./internal/contour", "./internal/leadership"},
		note:  "it sets what is a method since client-go v0.37."},
	{name: "kro", module: "github.com/kubernetes-sigs/kro", version: "v0.9.4",
		tests: []string{"./pkg/dynamiccontroller", "./pkg/watch"}, start: &kro},
	{name: "kro-sharing", module: "github.com/kubernetes-sigs/kro", version: "v0.9.4", start: sharing()},
	{name: "karpenter", module: "sigs.k8s.io/karpenter", version: "v1.15.0", toolchain: "go1.27.1",
		tests: []string{"./pkg/controllers/..."},
		skip:  "^(TestAPIs|TestVPA|TestScheduling|TestNodeOverlay|TestCapacityBuffer)$",
		note:  "five suites need a server and don't run."},
	{name: "argo-rollouts", module: "github.com/argoproj/argo-rollouts", version: "v1.10.2",
		toolchain: "go1.27.1",
		// Its generated fakes don't say that they can't stream a list, and client-go v0.37 waits for that.
		// Packages that import the gates of k8s.io/kubernetes can't turn that off: raised, ./rollout and
		// ./experiments hang.
		tests: []string{"./controller/...", "./utils/tolerantinformer", "./rollout/steps/...",
			"./rollout/trafficrouting/..."},
		env: []string{"KUBE_FEATURE_WatchListClient=false"},
		note: "raised, packages rollout and experiments hang; no state runs them. Six tests need files of its " +
			"repository."},
}
