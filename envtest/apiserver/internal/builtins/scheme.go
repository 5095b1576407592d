package builtins

import (
	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	eventsv1 "k8s.io/api/events/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	utilruntime "k8s.io/apimachinery/pkg/util/runtime"
)

// kinds are the kinds of each group, in the version that clients see.
var kinds = []struct {
	version schema.GroupVersion
	objects []runtime.Object
}{
	{corev1.SchemeGroupVersion, []runtime.Object{
		&corev1.ConfigMap{}, &corev1.ConfigMapList{}, &corev1.Secret{}, &corev1.SecretList{},
		&corev1.Namespace{}, &corev1.NamespaceList{}, &corev1.Event{}, &corev1.EventList{},
	}},
	{coordinationv1.SchemeGroupVersion, []runtime.Object{&coordinationv1.Lease{}, &coordinationv1.LeaseList{}}},
	{eventsv1.SchemeGroupVersion, []runtime.Object{&eventsv1.Event{}, &eventsv1.EventList{}}},
}

// Published returns a scheme of the kinds, in the version that clients see.
func Published() *runtime.Scheme {
	scheme := runtime.NewScheme()
	for _, k := range kinds {
		scheme.AddKnownTypes(k.version, k.objects...)
		metav1.AddToGroupVersion(scheme, k.version)
	}
	return scheme
}

// newScheme returns the scheme that handles requests. Upstream converts each object to an internal version
// first. Here the internal version has the Go types of the published one. The only conversion is that of the
// Events of events.k8s.io, which become Events of the core group.
func newScheme() *runtime.Scheme {
	scheme := Published()
	for _, k := range kinds {
		internal := schema.GroupVersion{Group: k.version.Group, Version: runtime.APIVersionInternal}
		if k.version == eventsv1.SchemeGroupVersion {
			scheme.AddKnownTypes(internal, &corev1.Event{}, &corev1.EventList{})
		} else {
			scheme.AddKnownTypes(internal, k.objects...)
		}
	}
	for _, add := range []func(*runtime.Scheme) error{addSecrets, addNamespaces, addEvents} {
		utilruntime.Must(add(scheme))
	}
	return scheme
}

// selectBy registers the field selectors of a kind, besides those of name and namespace. fields maps each to
// the name of the field that the kind's rules return.
func selectBy(scheme *runtime.Scheme, kind schema.GroupVersionKind, fields map[string]string) error {
	return scheme.AddFieldLabelConversionFunc(kind, func(label, value string) (string, string, error) {
		if field, ok := fields[label]; ok {
			return field, value, nil
		}
		return runtime.DefaultMetaV1FieldSelectorConversion(label, value)
	})
}

// codec encodes objects for storage. Unlike the codec in it, it decodes them without apiVersion and kind.
// Kubernetes, whose internal types differ from the published ones, leaves those out of the items of a list;
// so must this server.
type codec struct{ runtime.Codec }

func (c codec) Decode(
	data []byte, defaults *schema.GroupVersionKind, into runtime.Object,
) (runtime.Object, *schema.GroupVersionKind, error) {
	object, kind, err := c.Codec.Decode(data, defaults, into)
	if err == nil {
		object.GetObjectKind().SetGroupVersionKind(schema.GroupVersionKind{})
	}
	return object, kind, err
}
