// Package v2 has another version of a kind.
//
// +groupName=broken.example.com
package v2

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// Twice has a wrong rule.
type Twice struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`
	// +kubebuilder:validation:XValidation:rule="self.size() > 0"
	Size int32 `json:"size"`
}
