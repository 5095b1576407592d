package fake_test

import (
	"reflect"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	clienttesting "k8s.io/client-go/testing"
	"k8s.io/utils/ptr"

	"github.com/kubewright/kubewright/runtime/gen/fake"
)

// pointers is a list of pointers, in a struct that it embeds.
type pointers struct {
	metav1.TypeMeta
	metav1.ListMeta
	items[*appsv1.Deployment]
}

type items[T any] struct{ Items []T }

func (p *pointers) DeepCopyObject() runtime.Object {
	c := *p
	c.Items = nil
	for _, item := range p.Items {
		c.Items = append(c.Items, item.DeepCopy())
	}
	return &c
}

// TestListSelects checks that a list keeps the answer's metadata and the items that the labels select,
// whether items are objects or pointers. Without a match there are no items.
func TestListSelects(t *testing.T) {
	meta := metav1.ListMeta{ResourceVersion: "9", Continue: "more", RemainingItemCount: ptr.To[int64](4),
		ShardInfo: &metav1.ShardInfo{}}
	red, blue := named("red", map[string]string{"colour": "red"}),
		named("blue", map[string]string{"colour": "blue"})
	f := &clienttesting.Fake{}
	values := fake.NewWithList[*appsv1.Deployment, *appsv1.DeploymentList](f, "ns", gvr, gvk)
	byPointer := fake.NewWithList[*appsv1.Deployment, *pointers](
		f, "ns", gvr.GroupVersion().WithResource("others"), gvk)
	answer := func(resource string, list runtime.Object) {
		f.AddReactor("list", resource,
			func(clienttesting.Action) (bool, runtime.Object, error) { return true, list, nil })
	}
	answer("deployments", &appsv1.DeploymentList{ListMeta: meta, Items: []appsv1.Deployment{*red, *blue}})
	answer("others",
		&pointers{ListMeta: meta, items: items[*appsv1.Deployment]{[]*appsv1.Deployment{red, blue}}})

	for selector, want := range map[string][]*appsv1.Deployment{
		"":              {red, blue},
		"colour=blue":   {blue},
		"colour=green":  nil,
		"colour!=green": {red, blue},
	} {
		opts := metav1.ListOptions{LabelSelector: selector}
		list, err := values.List(t.Context(), opts)
		if err != nil {
			t.Fatal(err)
		}
		var wantedItems []appsv1.Deployment
		for _, item := range want {
			wantedItems = append(wantedItems, *item)
		}
		if wanted := (&appsv1.DeploymentList{ListMeta: meta,
			Items: wantedItems}); !reflect.DeepEqual(list, wanted) {
			t.Errorf("%q: got %+v, want %+v", selector, list, wanted)
		}
		others, err := byPointer.List(t.Context(), opts)
		if err != nil {
			t.Fatal(err)
		}
		if wanted := (&pointers{ListMeta: meta,
			items: items[*appsv1.Deployment]{want}}); !reflect.DeepEqual(others, wanted) {
			t.Errorf("%q: got %+v, want %+v", selector, others, wanted)
		}
	}
}
