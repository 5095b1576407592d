package builtins

import (
	"slices"

	corev1 "k8s.io/api/core/v1"
	apivalidation "k8s.io/apimachinery/pkg/api/validation"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/runtime"
)

var namespaceRules = rules[*corev1.Namespace]{
	plural: "namespaces", singular: "namespace", shortNames: []string{"ns"},
	empty: &corev1.Namespace{}, emptyList: &corev1.NamespaceList{},
	clusterScoped: true,
	unversioned:   true,
	name:          apivalidation.NameIsDNSLabel,
	// No controller empties a namespace, so its finalizer doesn't delay the deletion.
	prepare: func(n *corev1.Namespace) {
		n.Status = corev1.NamespaceStatus{Phase: corev1.NamespaceActive}
		if !slices.Contains(n.Spec.Finalizers, corev1.FinalizerKubernetes) {
			n.Spec.Finalizers = append(n.Spec.Finalizers, corev1.FinalizerKubernetes)
		}
	},
	prepareUpdate: func(n, old *corev1.Namespace) {
		n.Spec.Finalizers, n.Status = old.Spec.Finalizers, old.Status
	},
	canonicalize: label,
	fields: func(n *corev1.Namespace) fields.Set {
		return fields.Set{"status.phase": string(n.Status.Phase)}
	},
}

// label lets label selectors find the namespace by its name.
func label(n *corev1.Namespace) {
	if n.Labels == nil {
		n.Labels = map[string]string{}
	}
	n.Labels[corev1.LabelMetadataName] = n.Name
}

// addNamespaces registers a default that applies whenever a Namespace is decoded.
func addNamespaces(scheme *runtime.Scheme) error {
	scheme.AddTypeDefaultingFunc(&corev1.Namespace{}, func(obj any) {
		if n := obj.(*corev1.Namespace); n.Name != "" {
			label(n)
		}
	})
	return selectBy(scheme, corev1.SchemeGroupVersion.WithKind("Namespace"),
		map[string]string{"status.phase": "status.phase"})
}
