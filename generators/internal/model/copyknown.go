package model

// knownCopy says how a type is copied whose package needn't be read.
type knownCopy struct {
	form  copyForm
	plain bool
	// bare is true for a type without DeepCopy and DeepCopyInto.
	bare bool
	// copy and into are true if DeepCopy and DeepCopyInto are hand-written, pointer if DeepCopy
	// returns a pointer.
	copy, into, pointer bool
	// method is the DeepCopy method of an interface.
	method string
}

// knownCopies are the types of apimachinery, and of the standard library, that most API types
// refer to. With them most packages need no second call of the go command. A test compares them
// with the source.
var knownCopies = func() map[TypeName]*knownCopy {
	const (
		machinery = "k8s.io/apimachinery/pkg/"
		meta      = machinery + "apis/meta/v1"
		intstr    = machinery + "util/intstr"
	)
	known := map[TypeName]*knownCopy{
		{meta, "Time"}:      {form: structForm, into: true},
		{meta, "MicroTime"}: {form: structForm, into: true},
		{meta, "FieldsV1"}:  {form: structForm, copy: true, into: true, pointer: true},

		{machinery + "api/resource", "Quantity"}: {form: structForm, copy: true},
		{machinery + "runtime", "RawExtension"}:  {form: structForm},
		{machinery + "runtime", "Object"}:        {form: interfaceForm, method: "DeepCopyObject"},

		{"time", "Time"}: {form: structForm, bare: true},
	}
	for path, names := range map[string][]string{
		meta: {"TypeMeta", "Duration", "GroupVersionKind", "GroupVersionResource", "GroupResource",
			"GroupKind", "GroupVersion"},
		machinery + "types": {"NamespacedName"},
		intstr:              {"IntOrString"},
	} {
		for _, name := range names {
			known[TypeName{path, name}] = &knownCopy{form: structForm, plain: true}
		}
	}
	for _, name := range []string{"ObjectMeta", "ListMeta", "OwnerReference", "ManagedFieldsEntry",
		"LabelSelector", "LabelSelectorRequirement", "Condition"} {
		known[TypeName{meta, name}] = &knownCopy{form: structForm}
	}
	for path, names := range map[string][]string{
		meta:                {"ConditionStatus", "LabelSelectorOperator", "ManagedFieldsOperationType"},
		machinery + "types": {"UID", "NodeName", "PatchType"},
		intstr:              {"Type"},
		"time":              {"Duration", "Month", "Weekday"},
	} {
		for _, name := range names {
			known[TypeName{path, name}] = &knownCopy{form: plainForm, plain: true}
		}
	}
	return known
}()
