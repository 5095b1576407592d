package record_test

import (
	"fmt"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubewright/kubewright/envtest/record"
)

// A recorder is added to an informer as a handler. Complete compares what it received with what was done.
func Example() {
	oven := func(name, version string) *corev1.ConfigMap {
		meta := metav1.ObjectMeta{Namespace: "town", Name: name, ResourceVersion: version}
		return &corev1.ConfigMap{ObjectMeta: meta}
	}
	recorder := record.New[*corev1.ConfigMap]()
	recorder.OnAdd(oven("old", "1"), true)
	recorder.OnAdd(oven("new", "2"), false)
	recorder.OnUpdate(oven("new", "2"), oven("new", "3"))

	events := recorder.Events()
	for _, event := range events {
		fmt.Println(event)
	}
	fmt.Println(record.Complete(events, recorder.Initial(), events))
	recorder.OnAdd(oven("old", "4"), false)
	fmt.Println(recorder.Problems())
	// Output:
	// added town/old 1
	// added town/new 2
	// updated town/new 3
	// <nil>
	// [event 4: added town/old, which is there already]
}
