package v1

import metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

// Bakery bakes one kind of bread and sells it on one market.
//
// It has a status subresource, which its controller writes, and a scale
// subresource, through which programs that know nothing of bakeries can set
// the number of bakers.
//
// +genclient
// +genclient:method=GetScale,verb=get,subresource=scale,result=k8s.io/api/autoscaling/v1.Scale
// +genclient:method=UpdateScale,verb=update,subresource=scale,input=k8s.io/api/autoscaling/v1.Scale,result=k8s.io/api/autoscaling/v1.Scale
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
	// Market is the name of the Market where the bread is sold.
	Market string `json:"market"`
	// Bakers is how many bakers work here.
	Bakers int32 `json:"bakers"`
}

// BakeryStatus is the state that the controller has observed.
type BakeryStatus struct {
	// ObservedGeneration is the generation of the Bakery that the rest of the
	// status was computed from.
	ObservedGeneration int64 `json:"observedGeneration,omitempty"`
	// Bakers is how many bakers are at work.
	Bakers int32 `json:"bakers,omitempty"`
	// LoavesPerDay is what the bakers at work bake together.
	LoavesPerDay int32 `json:"loavesPerDay,omitempty"`
	// Conditions hold one of type Open, see ConditionOpen.
	//
	// +listType=map
	// +listMapKey=type
	Conditions []metav1.Condition `json:"conditions,omitempty"`
}

// ConditionOpen is the type of the condition that reports whether a bakery
// sells bread, and if not, why.
const ConditionOpen = "Open"

// Reasons of the condition Open.
const (
	ReasonBaking   = "Baking"
	ReasonNoBakers = "NoBakers"
	ReasonNoMarket = "NoMarket"
)

// BakeryList is a list of bakeries.
//
// +k8s:deepcopy-gen:interfaces=k8s.io/apimachinery/pkg/runtime.Object
type BakeryList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`

	Items []Bakery `json:"items"`
}

// Market is a town's market. It is cluster-scoped: bakeries of all namespaces
// sell there. There is no status.
//
// +genclient
// +genclient:nonNamespaced
// +k8s:deepcopy-gen:interfaces=k8s.io/apimachinery/pkg/runtime.Object
type Market struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`

	Spec MarketSpec `json:"spec"`
}

// MarketSpec is how much the market takes.
type MarketSpec struct {
	// LoavesPerBaker is how many loaves the market takes from each baker a day.
	LoavesPerBaker int32 `json:"loavesPerBaker"`
}

// MarketList is a list of markets.
//
// +k8s:deepcopy-gen:interfaces=k8s.io/apimachinery/pkg/runtime.Object
type MarketList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`

	Items []Market `json:"items"`
}

// Inspection is what the health office found in a bakery. The office writes it
// with a client of its own; the generated client is read-only.
//
// +genclient
// +genclient:readonly
// +k8s:deepcopy-gen:interfaces=k8s.io/apimachinery/pkg/runtime.Object
type Inspection struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`

	Spec InspectionSpec `json:"spec"`
}

// InspectionSpec is the finding.
type InspectionSpec struct {
	// Bakery is the name of the Bakery, in the same namespace.
	Bakery string `json:"bakery"`
	Passed bool   `json:"passed"`
}

// InspectionList is a list of inspections.
//
// +k8s:deepcopy-gen:interfaces=k8s.io/apimachinery/pkg/runtime.Object
type InspectionList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`

	Items []Inspection `json:"items"`
}
