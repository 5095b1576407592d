// Package v1 has kinds whose definitions kubewright generate writes, and API servers refuse.
//
// +groupName=broken.example.com
package v1

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// Spec has a field of each type.
type Spec struct {
	Name  string           `json:"name"`
	Count int32            `json:"count"`
	Parts []string         `json:"parts,omitempty"`
	Sizes map[string]int32 `json:"sizes,omitempty"`
	Since metav1.Time      `json:"since,omitempty"`
	// +kubebuilder:pruning:PreserveUnknownFields
	Open Nothing `json:"open,omitempty"`
}

// Nothing has no field.
type Nothing struct{}

type Syntax struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`
	// +kubebuilder:validation:XValidation:rule="self.count >"
	Spec Spec `json:"spec"`
}

type MissingField struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`
	// +kubebuilder:validation:XValidation:rule="self.absent == 1"
	Spec Spec `json:"spec"`
}

type WrongType struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`
	// +kubebuilder:validation:XValidation:rule="self.count == 'one'"
	Spec Spec `json:"spec"`
}

type NotABool struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`
	// +kubebuilder:validation:XValidation:rule="self.count"
	Spec Spec `json:"spec"`
}

type UnknownFunction struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`
	// +kubebuilder:validation:XValidation:rule="self.name.shout()"
	Spec Spec `json:"spec"`
}

type HasOfNoField struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`
	// +kubebuilder:validation:XValidation:rule="has(self)"
	Spec Spec `json:"spec"`
}

type MessageNotAString struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`
	// +kubebuilder:validation:XValidation:rule="self.count > 0",messageExpression="self.count"
	Spec Spec `json:"spec"`
}

type MessageSyntax struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`
	// +kubebuilder:validation:XValidation:rule="self.count > 0",messageExpression="self.name +"
	Spec Spec `json:"spec"`
}

type MessageMissingField struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`
	// +kubebuilder:validation:XValidation:rule="self.count > 0",messageExpression="self.absent"
	Spec Spec `json:"spec"`
}

type CostOfPairs struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`
	// +kubebuilder:validation:XValidation:rule="self.parts.all(a, self.parts.all(b, a == b || a.size() > 3))"
	Spec Spec `json:"spec"`
}

type CostOfPattern struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`
	// +kubebuilder:validation:XValidation:rule="self.parts.all(p, p.matches('^(a+)+$'))"
	Spec Spec `json:"spec"`
}

type OldSelfWithout struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`
	// +kubebuilder:validation:XValidation:rule="self.count > 0",optionalOldSelf=true
	Spec Spec `json:"spec"`
}

type OldSelfNotOptional struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`
	// +kubebuilder:validation:XValidation:rule="self.count > oldSelf.count",optionalOldSelf=true
	Spec Spec `json:"spec"`
}

type ItemsOfWrongType struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`
	// +kubebuilder:validation:XValidation:rule="self.parts.exists(p, p == 1)"
	Spec Spec `json:"spec"`
}

type KeysOfWrongType struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`
	// +kubebuilder:validation:XValidation:rule="self.sizes.all(k, k == 1)"
	Spec Spec `json:"spec"`
}

type ValuesOfWrongType struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`
	// +kubebuilder:validation:XValidation:rule="self.sizes.all(k, self.sizes[k] == 'x')"
	Spec Spec `json:"spec"`
}

type SizeOfNumber struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`
	// +kubebuilder:validation:XValidation:rule="size(self.count) > 0"
	Spec Spec `json:"spec"`
}

type BranchesDiffer struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`
	// +kubebuilder:validation:XValidation:rule="self.count > 0 ? self.name : self.count"
	Spec Spec `json:"spec"`
}

type TextAndNumber struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`
	// +kubebuilder:validation:XValidation:rule="self.name + self.count == 'x'"
	Spec Spec `json:"spec"`
}

type ListForBool struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`
	// +kubebuilder:validation:XValidation:rule="self.parts.map(p, p.size() > 0)"
	Spec Spec `json:"spec"`
}

type TimeAndText struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`
	// +kubebuilder:validation:XValidation:rule="self.since == '2026-01-01T00:00:00Z'"
	Spec Spec `json:"spec"`
}

type QuantityOfNumber struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`
	// +kubebuilder:validation:XValidation:rule="quantity(self.count).isGreaterThan(quantity('1'))"
	Spec Spec `json:"spec"`
}

type OptionalOfWrongType struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`
	// +kubebuilder:validation:XValidation:rule="self.?count.orValue('x') == 'y'"
	Spec Spec `json:"spec"`
}

type Anything struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`
	// +kubebuilder:validation:XValidation:rule="self.open.inside == 1"
	Spec Spec `json:"spec"`
}

type NoVariable struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`
	// +kubebuilder:validation:XValidation:rule="other.count == 1"
	Spec Spec `json:"spec"`
}

type BadIndex struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`
	// +kubebuilder:validation:XValidation:rule="self.parts['x'] == 'y'"
	Spec Spec `json:"spec"`
}

type NotComparable struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`
	// +kubebuilder:validation:XValidation:rule="self.name < self.parts"
	Spec Spec `json:"spec"`
}

type NoMacro struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`
	// +kubebuilder:validation:XValidation:rule="self.parts.every(p, p != '')"
	Spec Spec `json:"spec"`
}

type BadPattern struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`
	// +kubebuilder:validation:XValidation:rule="self.name.matches('(')"
	Spec Spec `json:"spec"`
}

type Escape struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`
	// +kubebuilder:validation:XValidation:rule=`self.name != '\q'`
	Spec Spec `json:"spec"`
}

type Text struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`
	// +kubebuilder:validation:XValidation:rule="self.size() == 'x'"
	Text string `json:"text"`
}

type TwoRules struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`
	// +kubebuilder:validation:XValidation:rule="self.count > 0"
	// +kubebuilder:validation:XValidation:rule="self.counted > 0"
	Spec Spec `json:"spec"`
}

// Twice has a version that is right, and one that isn't.
//
// +kubebuilder:storageversion
type Twice struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`
	Size              int32 `json:"size"`
}

type OldSelfOfSet struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`
	// +listType=set
	// +kubebuilder:validation:items:XValidation:rule="self == oldSelf"
	Names []string `json:"names,omitempty"`
}

type RuleOfValues struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`
	Values            map[string]Positive `json:"values,omitempty"`
}

// +kubebuilder:validation:XValidation:rule="self > '0'"
type Positive int32

type BadDuration struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`
	// +kubebuilder:validation:XValidation:rule="duration(self.name) > 5"
	Spec Spec `json:"spec"`
}

type OldSelfOfItem struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`
	Steps             []Step `json:"steps,omitempty"`
}

// +kubebuilder:validation:XValidation:rule="self.size == oldSelf.size"
type Step struct {
	Size int32 `json:"size"`
}

type DefaultBreaksRule struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`
	// +kubebuilder:validation:XValidation:rule="self % 2 == 0"
	// +kubebuilder:default=3
	Even int32 `json:"even"`
}

// +kubebuilder:validation:XValidation:rule="self.metadata.labels.size() > 0"
type RootMetadata struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`
}

type CostOfItems struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`
	Rows              []Row `json:"rows,omitempty"`
}

type Row struct {
	Cells []Cell `json:"cells,omitempty"`
}

// +kubebuilder:validation:XValidation:rule="self.text.contains(self.part)"
type Cell struct {
	Text string `json:"text"`
	Part string `json:"part"`
}
