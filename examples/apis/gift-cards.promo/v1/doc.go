// Package v1 is the API of gift cards. The name of the group, and of its
// folder, has what Go names can't have; the Go name is made of what is left, or
// is what +groupGoName says.
//
// +k8s:deepcopy-gen=package
// +groupName=gift-cards.promo.kubewright.dev
// +groupGoName=GiftCards
package v1
