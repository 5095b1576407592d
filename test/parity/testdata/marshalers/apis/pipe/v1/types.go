package v1

import (
	"encoding/json"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// +genclient
// +k8s:deepcopy-gen:interfaces=k8s.io/apimachinery/pkg/runtime.Object

// Run has parameters.
type Run struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`

	Spec RunSpec `json:"spec"`
}

// +k8s:deepcopy-gen:interfaces=k8s.io/apimachinery/pkg/runtime.Object

// RunList is a list of Run.
type RunList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`

	Items []Run `json:"items"`
}

// RunSpec is the wanted state.
type RunSpec struct {
	Value  Value   `json:"value"`
	Params []Param `json:"params,omitempty"`
}

// Param is a named value.
type Param struct {
	Name  string `json:"name"`
	Value Value  `json:"value"`
}

// Value is a string or a list of strings.
type Value struct {
	Text string   `json:"text,omitempty"`
	List []string `json:"list,omitempty"`
}

// MarshalJSON writes the list, or the string if there is none.
func (v Value) MarshalJSON() ([]byte, error) {
	if v.List != nil {
		return json.Marshal(v.List)
	}
	return json.Marshal(v.Text)
}

// UnmarshalJSON reads a string or a list.
func (v *Value) UnmarshalJSON(text []byte) error {
	if len(text) > 0 && text[0] == '[' {
		return json.Unmarshal(text, &v.List)
	}
	return json.Unmarshal(text, &v.Text)
}
