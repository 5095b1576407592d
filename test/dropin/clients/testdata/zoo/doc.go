// Package v1 has a type for each tag of client-gen, and a method for each kind
// of extra method that upstream can generate.
//
// +k8s:deepcopy-gen=package
// +groupName=zoo.kubewright.dev
package v1
