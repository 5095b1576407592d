// Package bridgetest tests that the queues of kubewright appear among the
// metrics of client-go's queues, where controller-runtime and component-base
// register those. It is a module of its own because of what it depends on.
package bridgetest
