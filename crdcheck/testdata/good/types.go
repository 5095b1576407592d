// Package good has a definition that servers accept.
//
// +groupName=good.example.com
package good

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

type Right struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`
	// +kubebuilder:validation:XValidation:rule="self > 0"
	Count int32 `json:"count"`
}
