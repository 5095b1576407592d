package churn_test

import (
	"context"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes/fake"

	"github.com/kubewright/kubewright/envtest/record"
	"github.com/kubewright/kubewright/test/e2e/churn"
)

// A hundred random requests, and what they left on the server: here the tracker of a fake.
func Example() {
	ctx := context.Background()
	maps := fake.NewClientset().CoreV1().ConfigMaps("town")
	ovens := churn.New(maps, 1,
		func(name string) *corev1.ConfigMap {
			return &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: "town", Name: "oven-" + name}}
		},
		func(oven *corev1.ConfigMap, n int) { oven.Data = map[string]string{"loaves": fmt.Sprint(n)} })
	if err := ovens.Run(ctx, 100); err != nil {
		fmt.Println(err)
	}
	last, _, err := ovens.Last(ctx)
	fmt.Println(last, err)
	left, err := maps.List(ctx, metav1.ListOptions{})
	fmt.Println(len(ovens.Done()), "changes recorded, as many objects left:",
		len(record.After(ovens.Done())) == len(left.Items), err)
	// Output:
	// town/oven-last-100 <nil>
	// 101 changes recorded, as many objects left: true <nil>
}
