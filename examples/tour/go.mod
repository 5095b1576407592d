module github.com/kubewright/kubewright/examples/tour

go 1.26.0

require (
	github.com/kubewright/kubewright v0.0.0
	github.com/kubewright/kubewright/test/e2e v0.0.0
	k8s.io/api v0.37.2
	k8s.io/apimachinery v0.37.2
	k8s.io/client-go v0.37.2
	k8s.io/klog/v2 v2.140.0
)

replace (
	github.com/kubewright/kubewright => ../..
	github.com/kubewright/kubewright/test/e2e => ../../test/e2e
)
