package e2e

import (
	"context"
	"testing"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/rest"

	shopv1 "github.com/kubewright/kubewright/examples/apis/shop/v1"
	"github.com/kubewright/kubewright/examples/generated/clientset/versioned"
	"github.com/kubewright/kubewright/examples/generated/clientset/versioned/scheme"
	"github.com/kubewright/kubewright/runtime/client"
	"github.com/kubewright/kubewright/runtime/factory"
	"github.com/kubewright/kubewright/runtime/informer"
	"github.com/kubewright/kubewright/runtime/lister"
)

// ungenerated returns r with clients of client.For in place of generated ones.
func ungenerated[T object, L runtime.Object](
	t *testing.T, config *rest.Config, r resource[T, L], opts ...client.Option,
) resource[T, L] {
	t.Helper()
	all, err := client.For[T, L](config, scheme.Scheme, opts...)
	if err != nil {
		t.Fatal(err)
	}
	in := func(namespace string) *client.Resource[T, L] {
		if r.clusterScoped {
			return all
		}
		return all.Namespace(namespace)
	}
	r.reader = func(_ versioned.Interface, namespace string) reader[T, L] { return in(namespace) }
	r.writer = func(_ versioned.Interface, namespace string) writer[T, L] { return in(namespace) }
	if r.status != nil {
		r.status = &status[T]{
			update: func(_ versioned.Interface, namespace string) updateFunc[T] { return in(namespace).UpdateStatus },
			set:    r.status.set,
			isSet:  r.status.isSet,
		}
	}
	return r
}

// TestUngeneratedVerbs calls every method of clients for which nothing was generated.
func TestUngeneratedVerbs(t *testing.T) {
	config := cached.get(t).Config()
	for name, r := range map[string]testable{
		"Bakery": ungenerated(t, config, bakeries),
		"Market": ungenerated(t, config, markets),
		"Person": ungenerated(t, config, people, client.ResourceName("people")),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r.testVerbs(t)
		})
	}
}

// applied is an apply configuration of a bakery, as a program without generated ones may define it.
type applied struct {
	metav1.TypeMeta `json:",inline"`
	Metadata        struct {
		Name string `json:"name"`
	} `json:"metadata"`
	Spec struct {
		Bread  string `json:"bread"`
		Market string `json:"market"`
		Bakers int32  `json:"bakers"`
	} `json:"spec"`
}

func (a *applied) GetName() *string { return &a.Metadata.Name }

// TestUngeneratedApply applies a configuration, and reads a subresource of the object that this creates.
func TestUngeneratedApply(t *testing.T) {
	t.Parallel()
	ctx, scope := within(t, time.Minute), scope(t)
	all, err := client.For[*shopv1.Bakery, *shopv1.BakeryList](cached.get(t).Config(), scheme.Scheme)
	if err != nil {
		t.Fatal(err)
	}
	c := all.Namespace(scope)
	configuration := &applied{TypeMeta: metav1.TypeMeta{APIVersion: "shop.kubewright.dev/v1", Kind: "Bakery"}}
	configuration.Metadata.Name = "a"
	configuration.Spec.Bread, configuration.Spec.Bakers = "rye", 2
	made, err := c.Apply(ctx, configuration, metav1.ApplyOptions{FieldManager: "test"})
	if err != nil || made.Spec.Bread != "rye" || made.Spec.Bakers != 2 {
		t.Fatalf("applied %v, %v", made, err)
	}
	status, err := client.GetAs[*shopv1.Bakery](ctx, c, "a", "status", metav1.GetOptions{})
	if err != nil || status.UID != made.UID {
		t.Errorf("the subresource status is %v, %v", status, err)
	}
	if _, err := all.Get(ctx, "a", metav1.GetOptions{}); !apierrors.IsNotFound(err) {
		t.Errorf("a bakery in no namespace: %v", err)
	}
}

// TestUngeneratedInformer checks that an informer of factory.For streams, which shows in the fields that it
// drops, and that it shows what was written through its client.
func TestUngeneratedInformer(t *testing.T) {
	modes(t, func(t *testing.T) {
		ctx, scope := within(t, time.Minute), scope(t)
		config := lagging(cached.get(t).Config(), time.Second/10)
		all, err := client.For[*shopv1.Bakery, *shopv1.BakeryList](config, scheme.Scheme)
		if err != nil {
			t.Fatal(err)
		}
		c := all.Namespace(scope)
		create := func(name string) *shopv1.Bakery {
			b := &shopv1.Bakery{ObjectMeta: metav1.ObjectMeta{Name: name}, Spec: shopv1.BakerySpec{Bread: "rye"}}
			made, err := c.Create(ctx, b, metav1.CreateOptions{FieldManager: "test"})
			if err != nil {
				t.Fatal(err)
			}
			return made
		}
		before := create("before")
		informers := factory.New(0)
		options := informer.Options{Drop: []string{"metadata.managedFields"}}
		if err := factory.Configure(informers, options); err != nil {
			t.Fatal(err)
		}
		cached, err := factory.For(informers, c)
		if err != nil {
			t.Fatal(err)
		}
		shown := cached.Lister()
		running, stop := context.WithCancel(ctx)
		defer informers.Shutdown()
		defer stop()
		informers.StartWithContext(running)
		if err := factory.WaitForSync(ctx, informers); err != nil {
			t.Fatal(err)
		}
		after := create("after")
		if err := lister.WaitForOwnWrites(ctx, shown); err != nil {
			t.Fatal(err)
		}
		got, err := shown.List(labels.Everything())
		if err != nil || before.ManagedFields == nil {
			t.Fatalf("%v, created %v", err, before)
		}
		before.ManagedFields, after.ManagedFields = nil, nil
		equal(t, "the cache", got, []*shopv1.Bakery{before, after})
		if err := c.Delete(ctx, "before", metav1.DeleteOptions{}); err != nil {
			t.Fatal(err)
		}
		if err := lister.WaitForOwnWrites(ctx, shown); err != nil {
			t.Fatal(err)
		}
		if _, err := shown.ByNamespace(scope).Get("before"); !apierrors.IsNotFound(err) {
			t.Errorf("deleted, it is %v", err)
		}
	})
}
