package v1beta1

import metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

// Bakery bakes one kind of bread. In this version clients can't update the
// status separately.
//
// +genclient
// +genclient:noStatus
// +k8s:deepcopy-gen:interfaces=k8s.io/apimachinery/pkg/runtime.Object
type Bakery struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`

	Spec   BakerySpec   `json:"spec"`
	Status BakeryStatus `json:"status,omitempty"`
}

// BakerySpec is what the owner of a bakery wants.
type BakerySpec struct {
	// Bread is what is baked.
	Bread string `json:"bread"`
	// Bakers is how many bakers work here.
	Bakers int32 `json:"bakers"`
}

// BakeryStatus is the observed state.
type BakeryStatus struct {
	// Bakers is how many bakers are at work.
	Bakers int32 `json:"bakers,omitempty"`
}

// BakeryList is a list of bakeries.
//
// +k8s:deepcopy-gen:interfaces=k8s.io/apimachinery/pkg/runtime.Object
type BakeryList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`

	Items []Bakery `json:"items"`
}
