package view_test

import (
	"fmt"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubewright/kubewright/runtime/gen/view"
)

// podView is a view of a Pod, as --read-only-views generates views: no method returns a part of the Pod that
// can be changed.
type podView struct{ pod *corev1.Pod }

func (v podView) Metadata() view.ObjectMeta { return view.OfObjectMeta(&v.pod.ObjectMeta) }

func (v podView) Images() view.List[string] {
	return view.Views(v.pod.Spec.Containers, func(c *corev1.Container) string { return c.Image })
}

func (v podView) Priority() (int32, bool) { return view.Optional(v.pod.Spec.Priority) }

func Example() {
	oven := podView{&corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Name: "oven", Labels: map[string]string{"fuel": "wood"}},
		Spec:       corev1.PodSpec{Containers: []corev1.Container{{Image: "oven:1"}, {Image: "chimney:2"}}},
	}}
	fuel, _ := oven.Metadata().Labels().Get("fuel")
	fmt.Println(oven.Metadata().Name(), "burns", fuel)
	for i, image := range oven.Images().All() {
		fmt.Println(i, image)
	}
	_, ok := oven.Priority()
	fmt.Println("has a priority:", ok)
	// Output:
	// oven burns wood
	// 0 oven:1
	// 1 chimney:2
	// has a priority: false
}
