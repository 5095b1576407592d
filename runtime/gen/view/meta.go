package view

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
)

// ObjectMeta is a view of an object's metadata. Managed fields are left out.
type ObjectMeta struct{ meta *metav1.ObjectMeta }

// OfObjectMeta makes a view of metadata.
func OfObjectMeta(meta *metav1.ObjectMeta) ObjectMeta { return ObjectMeta{meta} }

// Name is unique within the namespace.
func (m ObjectMeta) Name() string { return m.meta.Name }

// GenerateName is the prefix that the server made the name from, if it did.
func (m ObjectMeta) GenerateName() string { return m.meta.GenerateName }

// Namespace is "" for cluster-scoped objects.
func (m ObjectMeta) Namespace() string { return m.meta.Namespace }

// UID distinguishes the object from earlier ones of the same name.
func (m ObjectMeta) UID() types.UID { return m.meta.UID }

// ResourceVersion is the version of the object.
func (m ObjectMeta) ResourceVersion() string { return m.meta.ResourceVersion }

// Generation counts the changes of the desired state.
func (m ObjectMeta) Generation() int64 { return m.meta.Generation }

// CreationTimestamp is when the server created the object.
func (m ObjectMeta) CreationTimestamp() metav1.Time { return m.meta.CreationTimestamp }

// DeletionTimestamp is when the object will be deleted; ok is false if its deletion wasn't
// requested.
func (m ObjectMeta) DeletionTimestamp() (at metav1.Time, ok bool) {
	return Optional(m.meta.DeletionTimestamp)
}

// DeletionGracePeriodSeconds is how long the object may take to terminate; ok is false if
// its deletion wasn't requested.
func (m ObjectMeta) DeletionGracePeriodSeconds() (seconds int64, ok bool) {
	return Optional(m.meta.DeletionGracePeriodSeconds)
}

// Labels are the object's labels.
func (m ObjectMeta) Labels() Map[string, string] { return MapOf(m.meta.Labels) }

// Annotations are the object's annotations.
func (m ObjectMeta) Annotations() Map[string, string] { return MapOf(m.meta.Annotations) }

// Finalizers must be removed before the object is deleted.
func (m ObjectMeta) Finalizers() List[string] { return ListOf(m.meta.Finalizers) }

// OwnerReferences returns copies of the references to the object's owners.
func (m ObjectMeta) OwnerReferences() List[metav1.OwnerReference] {
	return Views(m.meta.OwnerReferences, CopyOf[metav1.OwnerReference])
}
