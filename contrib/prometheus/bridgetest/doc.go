// Package bridgetest tests that the metrics of kubewright's queues appear beside those of
// client-go's, in the registries of controller-runtime and component-base. It is a module of
// its own because it depends on those.
package bridgetest
