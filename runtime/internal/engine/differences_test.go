package engine

import (
	"slices"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
)

// TestDifferences checks that the paths of changed fields are found, whatever their kind.
func TestDifferences(t *testing.T) {
	pod := func() *corev1.Pod {
		return &corev1.Pod{
			ObjectMeta: metav1.ObjectMeta{Name: "a", Labels: map[string]string{"x": "y"}},
			Spec:       corev1.PodSpec{Containers: []corev1.Container{{Name: "c", Image: "i"}}},
		}
	}
	object := func() *unstructured.Unstructured {
		return &unstructured.Unstructured{Object: map[string]any{"spec": map[string]any{"list": []any{int64(1)}}}}
	}
	for _, c := range []struct {
		want   string
		a, b   runtime.Object
		change func(a, b runtime.Object)
	}{
		{"", pod(), pod(), func(runtime.Object, runtime.Object) {}},
		{"Name", pod(), pod(), func(a, _ runtime.Object) { a.(*corev1.Pod).Name = "b" }},
		{`Labels["x"]`, pod(), pod(), func(a, _ runtime.Object) { a.(*corev1.Pod).Labels["x"] = "z" }},
		{`Labels["new"]`, pod(), pod(), func(_, b runtime.Object) { b.(*corev1.Pod).Labels["new"] = "z" }},
		{`Labels["x"]`, pod(), pod(), func(_, b runtime.Object) { clear(b.(*corev1.Pod).Labels) }},
		{"Labels", pod(), pod(), func(_, b runtime.Object) { b.(*corev1.Pod).Labels = nil }},
		{"Spec.Containers[0].Image", pod(), pod(),
			func(_, b runtime.Object) { b.(*corev1.Pod).Spec.Containers[0].Image = "j" }},
		{"Spec.Containers", pod(), pod(), func(_, b runtime.Object) { b.(*corev1.Pod).Spec.Containers = nil }},
		{"Spec.Priority", pod(), pod(), func(_, b runtime.Object) { b.(*corev1.Pod).Spec.Priority = new(int32) }},
		{`Object["spec"]["list"][0]`, object(), object(), func(_, b runtime.Object) {
			b.(*unstructured.Unstructured).Object["spec"].(map[string]any)["list"] = []any{"1"}
		}},
		{"", nil, pod(), func(runtime.Object, runtime.Object) {}},
	} {
		c.change(c.a, c.b)
		got := differences(c.a, c.b)
		switch {
		case c.a == nil:
			if len(got) != 1 {
				t.Errorf("nil and a pod differ in %q", got)
			}
		case c.want == "" && len(got) > 0, c.want != "" && !slices.Equal(got, []string{c.want}):
			t.Errorf("differences %q, want %q", got, c.want)
		}
	}
	many := pod()
	for i := range 2 * mostDifferences {
		many.Labels[string(rune('a'+i))] = "new"
	}
	if got := differences(pod(), many); len(got) != mostDifferences {
		t.Errorf("%d differences are too many", len(got))
	}
}
