// Package misspelt has a marker that nobody knows.
//
// +groupName=misspelt.example.com
package misspelt

import metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

type Wrong struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`
	// Count is a number.
	// +kubebuilder:validation:Minimun=1
	Count int32 `json:"count"`
}
