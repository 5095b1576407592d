// Package v1beta1 is an older version of the API of shops, without markets.
// Servers still serve it for bakeries.
//
// +k8s:deepcopy-gen=package
// +groupName=shop.kubewright.dev
package v1beta1
