package v1

import metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

// Animal has every extra method.
//
// +genclient
// +genclient:method=Fetch,verb=get
// +genclient:method=GetFood,verb=get,subresource=food,result=Food
// +genclient:method=Herd,verb=list
// +genclient:method=Breed,verb=create
// +genclient:method=CreateFood,verb=create,subresource=food,input=Food,result=Food
// +genclient:method=Rename,verb=update
// +genclient:method=UpdateFood,verb=update,subresource=food,input=Food,result=Food
// +genclient:method=Train,verb=patch
// +genclient:method=TrainFood,verb=patch,subresource=food,result=Food
// +genclient:method=Shape,verb=apply
// +genclient:method=ApplyFood,verb=apply,subresource=food,input=Food,result=Food
// +k8s:deepcopy-gen:interfaces=k8s.io/apimachinery/pkg/runtime.Object
type Animal struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`

	Spec   Spec   `json:"spec,omitempty"`
	Status Status `json:"status,omitempty"`
}

// AnimalList is a list.
//
// +k8s:deepcopy-gen:interfaces=k8s.io/apimachinery/pkg/runtime.Object
type AnimalList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`

	Items []Animal `json:"items"`
}

// Cage has every extra method and no namespace.
//
// +genclient
// +genclient:nonNamespaced
// +genclient:method=Fetch,verb=get
// +genclient:method=GetFood,verb=get,subresource=food,result=Food
// +genclient:method=Herd,verb=list
// +genclient:method=Breed,verb=create
// +genclient:method=CreateFood,verb=create,subresource=food,input=Food,result=Food
// +genclient:method=Rename,verb=update
// +genclient:method=UpdateFood,verb=update,subresource=food,input=Food,result=Food
// +genclient:method=Train,verb=patch
// +genclient:method=TrainFood,verb=patch,subresource=food,result=Food
// +genclient:method=Shape,verb=apply
// +genclient:method=ApplyFood,verb=apply,subresource=food,input=Food,result=Food
// +k8s:deepcopy-gen:interfaces=k8s.io/apimachinery/pkg/runtime.Object
type Cage struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`

	Spec   Spec   `json:"spec,omitempty"`
	Status Status `json:"status,omitempty"`
}

// CageList is a list.
//
// +k8s:deepcopy-gen:interfaces=k8s.io/apimachinery/pkg/runtime.Object
type CageList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`

	Items []Cage `json:"items"`
}

// Food is what the extra methods send and get.
//
// +genclient
// +k8s:deepcopy-gen:interfaces=k8s.io/apimachinery/pkg/runtime.Object
type Food struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`

	Spec Spec `json:"spec,omitempty"`
}

// FoodList is a list.
//
// +k8s:deepcopy-gen:interfaces=k8s.io/apimachinery/pkg/runtime.Object
type FoodList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`

	Items []Food `json:"items"`
}

// Keeper has a status that clients leave alone.
//
// +genclient
// +genclient:noStatus
// +k8s:deepcopy-gen:interfaces=k8s.io/apimachinery/pkg/runtime.Object
type Keeper struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`

	Spec   Spec   `json:"spec,omitempty"`
	Status Status `json:"status,omitempty"`
}

// KeeperList is a list.
//
// +k8s:deepcopy-gen:interfaces=k8s.io/apimachinery/pkg/runtime.Object
type KeeperList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`

	Items []Keeper `json:"items"`
}

// Visitor has some verbs.
//
// +genclient
// +genclient:onlyVerbs=create,get,apply
// +k8s:deepcopy-gen:interfaces=k8s.io/apimachinery/pkg/runtime.Object
type Visitor struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`

	Spec Spec `json:"spec,omitempty"`
}

// VisitorList is a list.
//
// +k8s:deepcopy-gen:interfaces=k8s.io/apimachinery/pkg/runtime.Object
type VisitorList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`

	Items []Visitor `json:"items"`
}

// Ticket lacks some verbs.
//
// +genclient
// +genclient:skipVerbs=watch,deleteCollection,patch
// +k8s:deepcopy-gen:interfaces=k8s.io/apimachinery/pkg/runtime.Object
type Ticket struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`

	Spec Spec `json:"spec,omitempty"`
}

// TicketList is a list.
//
// +k8s:deepcopy-gen:interfaces=k8s.io/apimachinery/pkg/runtime.Object
type TicketList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`

	Items []Ticket `json:"items"`
}

// Fossil has no verbs.
//
// +genclient
// +genclient:noVerbs
// +k8s:deepcopy-gen:interfaces=k8s.io/apimachinery/pkg/runtime.Object
type Fossil struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`

	Spec Spec `json:"spec,omitempty"`
}

// FossilList is a list.
//
// +k8s:deepcopy-gen:interfaces=k8s.io/apimachinery/pkg/runtime.Object
type FossilList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`

	Items []Fossil `json:"items"`
}

// Poster can only be read.
//
// +genclient
// +genclient:readonly
// +genclient:nonNamespaced
// +k8s:deepcopy-gen:interfaces=k8s.io/apimachinery/pkg/runtime.Object
type Poster struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`

	Spec Spec `json:"spec,omitempty"`
}

// PosterList is a list.
//
// +k8s:deepcopy-gen:interfaces=k8s.io/apimachinery/pkg/runtime.Object
type PosterList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`

	Items []Poster `json:"items"`
}

// Ox has a plural that no rule knows.
//
// +genclient
// +resourceName=oxen
// +k8s:deepcopy-gen:interfaces=k8s.io/apimachinery/pkg/runtime.Object
type Ox struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`

	Spec Spec `json:"spec,omitempty"`
}

// OxList is a list.
//
// +k8s:deepcopy-gen:interfaces=k8s.io/apimachinery/pkg/runtime.Object
type OxList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`

	Items []Ox `json:"items"`
}

// Spec is what is wanted.
type Spec struct {
	Text  string            `json:"text,omitempty"`
	Count *int32            `json:"count,omitempty"`
	Names map[string]string `json:"names,omitempty"`
	List  []string          `json:"list,omitempty"`
}

// Status is what is.
type Status struct {
	Text string `json:"text,omitempty"`
}
