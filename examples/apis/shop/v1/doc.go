// Package v1 is version v1 of the API of shops, which most examples use.
//
// +k8s:deepcopy-gen=package
// +groupName=shop.kubewright.dev
package v1
