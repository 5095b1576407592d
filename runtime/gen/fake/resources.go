package fake

import (
	"errors"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/managedfields"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/testing"
)

// Resources are the kinds of a clientset and the names of their resources. Trackers of client-go guess the
// resource from the kind, and so never find a Gateway under gateways.
type Resources []struct {
	Kind schema.GroupVersionKind
	// Name is the plural that requests have.
	Name string
}

// NewTracker is the function of that name, with a tracker that knows these resources.
func (r Resources) NewTracker(
	fake *testing.Fake, scheme *runtime.Scheme, decoder runtime.Decoder, objects ...runtime.Object,
) testing.ObjectTracker {
	return serve(fake, r.known(testing.NewObjectTracker(scheme, decoder)), objects)
}

// NewManagedTracker is the function of that name, with a tracker that knows these resources.
func (r Resources) NewManagedTracker(
	fake *testing.Fake, scheme *runtime.Scheme, decoder runtime.Decoder,
	converter managedfields.TypeConverter, objects ...runtime.Object,
) testing.ObjectTracker {
	tracker := testing.NewFieldManagedObjectTracker(scheme, decoder,
		newJSONConverter(converter.ObjectToTyped, converter.TypedToObject, scheme))
	return serve(fake, r.known(tracker), objects)
}

// known returns a tracker that has these resources, and keeps its objects in a tracker that guesses.
func (r Resources) known(guessing testing.ObjectTracker) testing.ObjectTracker {
	t := &tracker{guessing, map[schema.GroupVersionResource]schema.GroupVersionResource{}}
	for _, resource := range r {
		known := resource.Kind.GroupVersion().WithResource(resource.Name)
		guessed, _ := meta.UnsafeGuessKindToResource(resource.Kind)
		if guessed.Version == runtime.APIVersionInternal { // as in the trackers' Add
			guessed.Version = ""
		}
		// Of two kinds with one resource, the one whose resource is guessed right has it.
		if _, taken := t.guessed[known]; !taken || known == guessed {
			t.guessed[known] = guessed
		}
	}
	return t
}

// tracker replaces the resources of requests by those that client-go's trackers guess. It doesn't replace
// the guesses, because a field-managed tracker makes its own where nothing can be passed to it.
type tracker struct {
	testing.ObjectTracker
	guessed map[schema.GroupVersionResource]schema.GroupVersionResource
}

// at returns the resource under which the objects of gvr are kept.
func (t *tracker) at(gvr schema.GroupVersionResource) schema.GroupVersionResource {
	if guessed, ok := t.guessed[gvr]; ok {
		return guessed
	}
	return gvr
}

// Get returns an object.
func (t *tracker) Get(
	gvr schema.GroupVersionResource, ns, name string, opts ...metav1.GetOptions,
) (runtime.Object, error) {
	obj, err := t.ObjectTracker.Get(t.at(gvr), ns, name, opts...)
	return obj, t.about(gvr, err)
}

// Create adds an object.
func (t *tracker) Create(
	gvr schema.GroupVersionResource, obj runtime.Object, ns string, opts ...metav1.CreateOptions,
) error {
	return t.about(gvr, t.ObjectTracker.Create(t.at(gvr), obj, ns, opts...))
}

// Update replaces an object.
func (t *tracker) Update(
	gvr schema.GroupVersionResource, obj runtime.Object, ns string, opts ...metav1.UpdateOptions,
) error {
	return t.about(gvr, t.ObjectTracker.Update(t.at(gvr), obj, ns, opts...))
}

// Patch replaces an object by a patched one.
func (t *tracker) Patch(
	gvr schema.GroupVersionResource, obj runtime.Object, ns string, opts ...metav1.PatchOptions,
) error {
	return t.about(gvr, t.ObjectTracker.Patch(t.at(gvr), obj, ns, opts...))
}

// Apply merges a configuration into an object.
func (t *tracker) Apply(
	gvr schema.GroupVersionResource, configuration runtime.Object, ns string, opts ...metav1.PatchOptions,
) error {
	return t.about(gvr, t.ObjectTracker.Apply(t.at(gvr), configuration, ns, opts...))
}

// List returns the objects of a namespace, or of all.
func (t *tracker) List(
	gvr schema.GroupVersionResource, gvk schema.GroupVersionKind, ns string, opts ...metav1.ListOptions,
) (runtime.Object, error) {
	return t.ObjectTracker.List(t.at(gvr), gvk, ns, opts...)
}

// Delete removes an object.
func (t *tracker) Delete(
	gvr schema.GroupVersionResource, ns, name string, opts ...metav1.DeleteOptions,
) error {
	return t.about(gvr, t.ObjectTracker.Delete(t.at(gvr), ns, name, opts...))
}

// Watch returns the changes of a namespace, or of all.
func (t *tracker) Watch(
	gvr schema.GroupVersionResource, ns string, opts ...metav1.ListOptions,
) (watch.Interface, error) {
	return t.ObjectTracker.Watch(t.at(gvr), ns, opts...)
}

// about returns an error of the tracker about gvr with this resource in place of the guessed one.
func (t *tracker) about(gvr schema.GroupVersionResource, err error) error {
	status, ok := errors.AsType[*apierrors.StatusError](err)
	if !ok || status.ErrStatus.Details == nil || status.ErrStatus.Details.Kind != t.at(gvr).Resource {
		return err
	}
	switch name := status.ErrStatus.Details.Name; {
	case apierrors.IsNotFound(err):
		return apierrors.NewNotFound(gvr.GroupResource(), name)
	case apierrors.IsAlreadyExists(err):
		return apierrors.NewAlreadyExists(gvr.GroupResource(), name)
	}
	return err
}
