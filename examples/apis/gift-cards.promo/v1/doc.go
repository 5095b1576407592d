// Package v1 is the API of gift cards. The name of the group, and of its
// folder, has characters that Go names can't have. The Go name is made from the
// others, or set by +groupGoName.
//
// +k8s:deepcopy-gen=package
// +groupName=gift-cards.promo.kubewright.dev
// +groupGoName=GiftCards
package v1
