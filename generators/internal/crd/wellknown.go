package crd

import (
	"reflect"
	"strings"

	appsv1 "k8s.io/api/apps/v1"
	autoscalingv2 "k8s.io/api/autoscaling/v2"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/intstr"
)

// wellKnown is a struct of Kubernetes, with the conditions on which it is used for a schema whose properties
// are its fields.
type wellKnown struct {
	typ reflect.Type
	// has are the properties by which it is recognized, "" for all fields of the type. It is for types to
	// which versions of Kubernetes add fields: a schema may be older.
	has string
	// atomic is true for a type with too few fields to be recognized by its properties alone. Controller-gen
	// marks it by x-kubernetes-map-type: atomic.
	atomic bool
	// word is what the property's name or description has to contain, for types that differ in nothing else.
	word string
}

// wellKnownTypes is the table, in the order in which the types are tried.
var wellKnownTypes = []wellKnown{
	{typ: reflect.TypeFor[metav1.ObjectMeta](), has: "annotations finalizers labels name namespace"},
	{typ: reflect.TypeFor[metav1.LabelSelector]()},
	{typ: reflect.TypeFor[metav1.LabelSelectorRequirement]()},
	{typ: reflect.TypeFor[metav1.Condition]()},
	{typ: reflect.TypeFor[metav1.OwnerReference]()},

	{typ: reflect.TypeFor[corev1.PodTemplateSpec]()},
	{typ: reflect.TypeFor[corev1.PodSpec](), has: "affinity containers nodeSelector tolerations volumes"},
	{typ: reflect.TypeFor[corev1.Container](), has: "args command env image name resources volumeMounts"},
	{typ: reflect.TypeFor[corev1.Volume](), has: "configMap emptyDir name persistentVolumeClaim secret"},
	{typ: reflect.TypeFor[corev1.VolumeMount](), has: "mountPath name readOnly subPath"},
	{typ: reflect.TypeFor[corev1.EnvVar]()},
	{typ: reflect.TypeFor[corev1.EnvVarSource](), has: "configMapKeyRef fieldRef resourceFieldRef secretKeyRef"},
	{typ: reflect.TypeFor[corev1.EnvFromSource]()},
	{typ: reflect.TypeFor[corev1.Probe](), has: "exec httpGet periodSeconds tcpSocket timeoutSeconds"},
	{typ: reflect.TypeFor[corev1.Lifecycle](), has: "postStart preStop"},
	{typ: reflect.TypeFor[corev1.ResourceRequirements](), has: "limits requests"},
	{typ: reflect.TypeFor[corev1.SecurityContext](), has: "capabilities privileged runAsUser"},
	{typ: reflect.TypeFor[corev1.PodSecurityContext](), has: "fsGroup runAsUser supplementalGroups"},
	{typ: reflect.TypeFor[corev1.Affinity]()},
	{typ: reflect.TypeFor[corev1.NodeAffinity]()},
	{typ: reflect.TypeFor[corev1.PodAffinity]()},
	{typ: reflect.TypeFor[corev1.NodeSelector](), atomic: true},
	{typ: reflect.TypeFor[corev1.Toleration]()},
	{typ: reflect.TypeFor[corev1.TopologySpreadConstraint](),
		has: "labelSelector maxSkew topologyKey whenUnsatisfiable"},
	{typ: reflect.TypeFor[corev1.PersistentVolumeClaimSpec](),
		has: "accessModes resources storageClassName volumeName"},
	{typ: reflect.TypeFor[corev1.HostAlias]()},
	{typ: reflect.TypeFor[corev1.ServicePort]()},
	{typ: reflect.TypeFor[corev1.ObjectReference]()},
	{typ: reflect.TypeFor[corev1.LocalObjectReference](), atomic: true},
	{typ: reflect.TypeFor[corev1.SecretReference](), atomic: true},
	{typ: reflect.TypeFor[corev1.TypedLocalObjectReference](), atomic: true},
	{typ: reflect.TypeFor[corev1.SecretKeySelector](), atomic: true, word: "secret"},
	{typ: reflect.TypeFor[corev1.ConfigMapKeySelector](), atomic: true, word: "configmap"},

	{typ: reflect.TypeFor[appsv1.DeploymentStrategy]()},
	{typ: reflect.TypeFor[batchv1.JobSpec](), has: "backoffLimit completions parallelism template"},
	{typ: reflect.TypeFor[autoscalingv2.MetricSpec]()},
	{typ: reflect.TypeFor[autoscalingv2.HorizontalPodAutoscalerBehavior]()},
	{typ: reflect.TypeFor[networkingv1.IPBlock]()},
	{typ: reflect.TypeFor[rbacv1.PolicyRule]()},
}

// The types of apimachinery that are no structs in JSON.
var (
	timeType      = reflect.TypeFor[metav1.Time]()
	microTimeType = reflect.TypeFor[metav1.MicroTime]()
	durationType  = reflect.TypeFor[metav1.Duration]()
	quantityType  = reflect.TypeFor[resource.Quantity]()
	intstrType    = reflect.TypeFor[intstr.IntOrString]()
	rawType       = reflect.TypeFor[runtime.RawExtension]()
	// conditionStatusType is that of a condition of pods, in a JobSpec.
	conditionStatusType = reflect.TypeFor[corev1.ConditionStatus]()
)

// recognize returns the well-known type for a schema, nil if there is none. name is the name of the
// property.
func recognize(s *Schema, name string) reflect.Type {
	switch {
	case s.Type == "string" && s.Format == "date-time" && len(s.Enum) == 0:
		return timeType
	case s.isQuantity():
		return quantityType
	case s.Type != "object":
		return nil
	case name == "metadata" && s.isEmpty():
		// Controller-gen leaves the properties of an embedded ObjectMeta out.
		return reflect.TypeFor[metav1.ObjectMeta]()
	case len(s.Properties) == 0:
		return nil
	}
	for _, known := range wellKnownTypes {
		if known.means(s, name) {
			return known.typ
		}
	}
	return nil
}

// isQuantity reports whether a schema is that of controller-gen for a quantity.
func (s *Schema) isQuantity() bool {
	if s.IntOrString {
		for _, limit := range s.Limits {
			if limit.Keyword == "pattern" {
				return strings.Contains(limit.Value, "[KMGTPE]i)|[numkMGTPE]")
			}
		}
	}
	return false
}

// isEmpty reports whether the schema is that of an object without properties, so that servers keep none of
// its fields.
func (s *Schema) isEmpty() bool {
	return s.Type == "object" && len(s.Properties) == 0 && s.Values == nil && !s.AnyValues &&
		!s.PreserveUnknown && !s.Embedded
}

func (w wellKnown) means(s *Schema, name string) bool {
	fields := jsonFields(w.typ)
	if w.has == "" && len(s.Properties) != len(fields) || w.atomic && s.MapType != "atomic" {
		return false
	}
	for has := range strings.FieldsSeq(w.has) {
		if s.property(has) == nil {
			return false
		}
	}
	return (w.word == "" || s.mentions(name, w.word)) && fits(s, w.typ)
}

// property returns the schema of a property, nil if there is none.
func (s *Schema) property(name string) *Schema {
	for _, p := range s.Properties {
		if p.Name == name {
			return p.Schema
		}
	}
	return nil
}

// mentions reports whether the name or a description of a schema has a word.
func (s *Schema) mentions(name, word string) bool {
	text := name + " " + s.Description
	for _, p := range s.Properties {
		text += " " + p.Description
	}
	return strings.Contains(strings.ToLower(text), word)
}
