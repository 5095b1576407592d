// Package v1beta1 is the version of the API of shops from before there were
// markets. Servers still offer it for bakeries.
//
// +k8s:deepcopy-gen=package
// +groupName=shop.kubewright.dev
package v1beta1
