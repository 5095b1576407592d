package builtins

import (
	"reflect"

	corev1 "k8s.io/api/core/v1"
	eventsv1 "k8s.io/api/events/v1"
)

// atomic are the types that server-side apply treats as one value. Upstream marks them in comments, which
// aren't in the compiled types.
var atomic = []reflect.Type{
	reflect.TypeFor[corev1.ObjectReference](),
	reflect.TypeFor[corev1.EventSeries](),
	reflect.TypeFor[eventsv1.EventSeries](),
}
