package builtins

import (
	"math/rand"
	"testing"

	corev1 "k8s.io/api/core/v1"
	eventsv1 "k8s.io/api/events/v1"
	"k8s.io/apimachinery/pkg/api/apitesting/fuzzer"
	"k8s.io/apimachinery/pkg/api/equality"
	metafuzzer "k8s.io/apimachinery/pkg/apis/meta/fuzzer"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/runtime/serializer"
)

// TestEventConversion converts random Events to the other group and back.
func TestEventConversion(t *testing.T) {
	scheme := newScheme()
	fill := fuzzer.FuzzerFor(metafuzzer.Funcs, rand.NewSource(1), serializer.NewCodecFactory(scheme))
	hub := schema.GroupVersion{Group: eventsv1.GroupName, Version: runtime.APIVersionInternal}
	for range 200 {
		for _, c := range []struct {
			object    runtime.Object
			there     schema.GroupVersion
			backAgain schema.GroupVersion
		}{
			{&corev1.Event{}, eventsv1.SchemeGroupVersion, hub},
			{&corev1.EventList{}, eventsv1.SchemeGroupVersion, hub},
			{&eventsv1.Event{}, hub, eventsv1.SchemeGroupVersion},
			{&eventsv1.EventList{}, hub, eventsv1.SchemeGroupVersion},
		} {
			fill.Fill(c.object)
			there, err := scheme.ConvertToVersion(c.object, c.there)
			if err != nil {
				t.Fatal(err)
			}
			back, err := scheme.ConvertToVersion(there, c.backAgain)
			if err != nil {
				t.Fatal(err)
			}
			for _, object := range []runtime.Object{c.object, back} {
				object.GetObjectKind().SetGroupVersionKind(schema.GroupVersionKind{})
			}
			if !equality.Semantic.DeepEqual(back, c.object) {
				t.Fatalf("%T came back as\n%v\nwant\n%v", c.object, back, c.object)
			}
		}
	}
}
