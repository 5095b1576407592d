package v1

import metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

// GiftCard is worth bread.
//
// +genclient
// +k8s:deepcopy-gen:interfaces=k8s.io/apimachinery/pkg/runtime.Object
type GiftCard struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`

	Spec   GiftCardSpec   `json:"spec"`
	Status GiftCardStatus `json:"status,omitempty"`
}

// GiftCardSpec is what the card is worth, and who has it.
type GiftCardSpec struct {
	Loaves int32 `json:"loaves"`
	// Person is the name of the Person who has the card, in the same namespace.
	Person string `json:"person,omitempty"`
}

// GiftCardStatus is what became of the card.
type GiftCardStatus struct {
	Redeemed bool `json:"redeemed,omitempty"`
}

// GiftCardList is a list of gift cards.
//
// +k8s:deepcopy-gen:interfaces=k8s.io/apimachinery/pkg/runtime.Object
type GiftCardList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`

	Items []GiftCard `json:"items"`
}

// Person is someone who has gift cards. The plural, people, is irregular, so it
// is set with +resourceName.
//
// +genclient
// +resourceName=people
// +k8s:deepcopy-gen:interfaces=k8s.io/apimachinery/pkg/runtime.Object
type Person struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`

	Spec PersonSpec `json:"spec"`
}

// PersonSpec is who the person is.
type PersonSpec struct {
	FullName string `json:"fullName"`
}

// PersonList is a list of people.
//
// +k8s:deepcopy-gen:interfaces=k8s.io/apimachinery/pkg/runtime.Object
type PersonList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`

	Items []Person `json:"items"`
}
