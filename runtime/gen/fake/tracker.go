package fake

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/managedfields"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/testing"
)

// NewTracker returns a tracker that holds objects and answers every action of fake. It
// stores created and updated objects without validation, defaults or conflicts. It panics
// if an object's type is not in the scheme.
//
// It guesses the resource of an object from its kind, see [Resources].
func NewTracker(
	fake *testing.Fake, scheme *runtime.Scheme, decoder runtime.Decoder, objects ...runtime.Object,
) testing.ObjectTracker {
	return Resources(nil).NewTracker(fake, scheme, decoder, objects...)
}

// NewManagedTracker is like NewTracker, but the tracker also tracks the owners of fields, for the types of
// converter, and so answers server-side apply.
func NewManagedTracker(
	fake *testing.Fake, scheme *runtime.Scheme, decoder runtime.Decoder,
	converter managedfields.TypeConverter, objects ...runtime.Object,
) testing.ObjectTracker {
	return Resources(nil).NewManagedTracker(fake, scheme, decoder, converter, objects...)
}

// serve adds objects to tracker, and reactors to fake that answer from it.
// Reactors that a test prepends come first.
func serve(
	fake *testing.Fake, tracker testing.ObjectTracker, objects []runtime.Object,
) testing.ObjectTracker {
	for _, object := range objects {
		if err := tracker.Add(object); err != nil {
			panic(err)
		}
	}
	fake.AddReactor("*", "*", testing.ObjectReaction(tracker))
	fake.AddWatchReactor("*", func(action testing.Action) (bool, watch.Interface, error) {
		var opts metav1.ListOptions
		if action, ok := action.(testing.WatchActionImpl); ok {
			opts = action.ListOptions
		}
		stream, err := tracker.Watch(action.GetResource(), action.GetNamespace(), opts)
		return err == nil, stream, err
	})
	return tracker
}
