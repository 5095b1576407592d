package fake_test

import (
	"context"
	"reflect"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	autoscalingv1 "k8s.io/api/autoscaling/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	clienttesting "k8s.io/client-go/testing"
	"k8s.io/utils/ptr"

	"github.com/kubewright/kubewright/runtime/gen/fake"
)

var (
	gvr = appsv1.SchemeGroupVersion.WithResource("deployments")
	gvk = appsv1.SchemeGroupVersion.WithKind("Deployment")
)

// deployment is an apply configuration.
type deployment struct {
	Name *string `json:"name,omitempty"`
}

func (d *deployment) GetName() *string { return d.Name }

// fakeDeployments is a typed fake as generated code declares it: the group's fake hides the promoted field.
type fakeDeployments struct {
	*fake.ClientWithListAndApply[*appsv1.Deployment, *appsv1.DeploymentList, *deployment]
	Fake *fakeApps
}

type fakeApps struct{ *clienttesting.Fake }

func newFakeDeployments(f *clienttesting.Fake) *fakeDeployments {
	return &fakeDeployments{
		fake.NewWithListAndApply[*appsv1.Deployment, *appsv1.DeploymentList, *deployment](f, "ns", gvr, gvk),
		&fakeApps{f},
	}
}

// TestActions compares the recorded actions with those of upstream's fakes, by method. A call that no reactor
// answers returns an empty object.
func TestActions(t *testing.T) {
	d := &appsv1.Deployment{ObjectMeta: metav1.ObjectMeta{Name: "d"}}
	s := &autoscalingv1.Scale{Spec: autoscalingv1.ScaleSpec{Replicas: 2}}
	get := metav1.GetOptions{ResourceVersion: "5"}
	list := metav1.ListOptions{LabelSelector: "a=b", FieldSelector: "c=d", ResourceVersion: "5"}
	watched := list
	watched.Watch = true
	create := metav1.CreateOptions{DryRun: []string{"All"}}
	update := metav1.UpdateOptions{FieldManager: "m"}
	patch := metav1.PatchOptions{FieldManager: "m"}
	apply := metav1.ApplyOptions{FieldManager: "m", Force: true}
	del := metav1.DeleteOptions{GracePeriodSeconds: ptr.To[int64](3)}
	named := &deployment{Name: ptr.To("d")}
	json := []byte(`{"name":"d"}`)

	cases := map[string]struct {
		call func(context.Context, *fakeDeployments) (any, error)
		want clienttesting.Action
	}{
		"Get": {func(ctx context.Context, c *fakeDeployments) (any, error) {
			return c.Get(ctx, "d", get)
		}, clienttesting.NewGetActionWithOptions(gvr, "ns", "d", get)},
		"List": {func(ctx context.Context, c *fakeDeployments) (any, error) {
			return c.List(ctx, list)
		}, clienttesting.NewListActionWithOptions(gvr, gvk, "ns", list)},
		"Watch": {func(ctx context.Context, c *fakeDeployments) (any, error) {
			w, _ := c.Watch(ctx, list)
			return w, nil
		}, clienttesting.NewWatchActionWithOptions(gvr, "ns", watched)},
		"Create": {func(ctx context.Context, c *fakeDeployments) (any, error) {
			return c.Create(ctx, d, create)
		}, clienttesting.NewCreateActionWithOptions(gvr, "ns", d, create)},
		"Update": {func(ctx context.Context, c *fakeDeployments) (any, error) {
			return c.Update(ctx, d, update)
		}, clienttesting.NewUpdateActionWithOptions(gvr, "ns", d, update)},
		"UpdateStatus": {func(ctx context.Context, c *fakeDeployments) (any, error) {
			return c.UpdateStatus(ctx, d, update)
		}, clienttesting.NewUpdateSubresourceActionWithOptions(gvr, "status", "ns", d, update)},
		"Delete": {func(ctx context.Context, c *fakeDeployments) (any, error) {
			return nil, c.Delete(ctx, "d", del)
		}, clienttesting.NewDeleteActionWithOptions(gvr, "ns", "d", del)},
		"DeleteCollection": {func(ctx context.Context, c *fakeDeployments) (any, error) {
			return nil, c.DeleteCollection(ctx, del, list)
		}, clienttesting.NewDeleteCollectionActionWithOptions(gvr, "ns", del, list)},
		"Patch": {func(ctx context.Context, c *fakeDeployments) (any, error) {
			return c.Patch(ctx, "d", types.MergePatchType, json, patch, "a", "b")
		}, clienttesting.NewPatchSubresourceActionWithOptions(gvr, "ns", "d", types.MergePatchType, json,
			patch, "a", "b")},
		"Apply": {func(ctx context.Context, c *fakeDeployments) (any, error) {
			return c.Apply(ctx, named, apply)
		}, clienttesting.NewPatchActionWithOptions(gvr, "ns", "d", types.ApplyPatchType, json,
			apply.ToPatchOptions())},
		"ApplyStatus": {func(ctx context.Context, c *fakeDeployments) (any, error) {
			return c.ApplyStatus(ctx, named, apply)
		}, clienttesting.NewPatchSubresourceActionWithOptions(gvr, "ns", "d", types.ApplyPatchType, json,
			apply.ToPatchOptions(), "status")},
		"GetAs": {func(ctx context.Context, c *fakeDeployments) (any, error) {
			return fake.GetAs[*appsv1.Deployment](ctx, c, "d", "", get)
		}, clienttesting.NewGetActionWithOptions(gvr, "ns", "d", get)},
		"GetAs subresource": {func(ctx context.Context, c *fakeDeployments) (any, error) {
			return fake.GetAs[*autoscalingv1.Scale](ctx, c, "d", "scale", get)
		}, clienttesting.NewGetSubresourceActionWithOptions(gvr, "ns", "scale", "d", get)},
		"ListAs": {func(ctx context.Context, c *fakeDeployments) (any, error) {
			return fake.ListAs[*appsv1.DeploymentList](ctx, c, "", "", list)
		}, clienttesting.NewListActionWithOptions(gvr, gvk, "ns", list)},
		"CreateAs": {func(ctx context.Context, c *fakeDeployments) (any, error) {
			return fake.CreateAs[*appsv1.Deployment](ctx, c, "", "", d, create)
		}, clienttesting.NewCreateActionWithOptions(gvr, "ns", d, create)},
		"CreateAs subresource": {func(ctx context.Context, c *fakeDeployments) (any, error) {
			return fake.CreateAs[*autoscalingv1.Scale](ctx, c, "d", "scale", s, create)
		}, clienttesting.NewCreateSubresourceActionWithOptions(gvr, "d", "scale", "ns", s, create)},
		"UpdateAs": {func(ctx context.Context, c *fakeDeployments) (any, error) {
			return fake.UpdateAs[*appsv1.Deployment](ctx, c, "d", "", d, update)
		}, clienttesting.NewUpdateActionWithOptions(gvr, "ns", d, update)},
		"UpdateAs subresource": {func(ctx context.Context, c *fakeDeployments) (any, error) {
			return fake.UpdateAs[*autoscalingv1.Scale](ctx, c, "d", "scale", s, update)
		}, clienttesting.NewUpdateSubresourceActionWithOptions(gvr, "scale", "ns", s, update)},
		"PatchAs": {func(ctx context.Context, c *fakeDeployments) (any, error) {
			return fake.PatchAs[*autoscalingv1.Scale](ctx, c, "d", types.JSONPatchType, json, patch, "scale")
		}, clienttesting.NewPatchSubresourceActionWithOptions(gvr, "ns", "d", types.JSONPatchType, json,
			patch, "scale")},
		"ApplyAs": {func(ctx context.Context, c *fakeDeployments) (any, error) {
			return fake.ApplyAs[*appsv1.Deployment](ctx, c, "", "", named, apply)
		}, clienttesting.NewPatchActionWithOptions(gvr, "ns", "d", types.ApplyPatchType, json,
			apply.ToPatchOptions())},
		"ApplyAs subresource": {func(ctx context.Context, c *fakeDeployments) (any, error) {
			return fake.ApplyAs[*autoscalingv1.Scale](ctx, c, "d", "scale", named, apply)
		}, clienttesting.NewPatchSubresourceActionWithOptions(gvr, "ns", "d", types.ApplyPatchType, json,
			apply.ToPatchOptions(), "scale")},
	}
	for name, test := range cases {
		t.Run(name, func(t *testing.T) {
			f := &clienttesting.Fake{}
			object, err := test.call(t.Context(), newFakeDeployments(f))
			if err != nil {
				t.Fatal(err)
			}
			if v := reflect.ValueOf(object); object != nil && !v.Elem().IsZero() {
				t.Errorf("unanswered, but returned %+v", object)
			}
			if got := f.Actions(); len(got) != 1 || !reflect.DeepEqual(got[0], test.want) {
				t.Errorf("actions\n got %+v\nwant [%+v]", got, test.want)
			}
		})
	}
}

// TestApplyRefuses checks that an apply without a name is refused and not recorded.
func TestApplyRefuses(t *testing.T) {
	f := &clienttesting.Fake{}
	d := newFakeDeployments(f)
	for _, test := range []struct {
		configuration *deployment
		want          string
	}{
		{nil, "configuration provided to Apply must not be nil"},
		{&deployment{}, "configuration.Name must be provided to Apply"},
	} {
		for _, call := range []func(context.Context, *deployment, metav1.ApplyOptions) (
			*appsv1.Deployment, error,
		){
			d.Apply,
			d.ApplyStatus,
			func(ctx context.Context, c *deployment, opts metav1.ApplyOptions) (*appsv1.Deployment, error) {
				return fake.ApplyAs[*appsv1.Deployment](ctx, d, "", "", c, opts)
			},
		} {
			object, err := call(t.Context(), test.configuration, metav1.ApplyOptions{})
			if object != nil || err == nil || err.Error() != test.want {
				t.Errorf("%v, %v, want error %q", object, err, test.want)
			}
		}
	}
	if got := f.Actions(); len(got) != 0 {
		t.Errorf("recorded %v", got)
	}
}

// TestListAsClusterScoped checks that an additional list of a cluster-scoped resource keeps only the
// selectors.
func TestListAsClusterScoped(t *testing.T) {
	f := &clienttesting.Fake{}
	c := fake.New[*appsv1.Deployment](f, "", gvr, gvk, fake.ClusterScoped())
	opts := metav1.ListOptions{LabelSelector: "a=b", Limit: 5}
	if _, err := fake.ListAs[*appsv1.DeploymentList](t.Context(), c, "", "", opts); err != nil {
		t.Fatal(err)
	}
	want := clienttesting.NewRootListActionWithOptions(gvr, gvk, opts)
	if got := f.Actions(); len(got) != 1 || !reflect.DeepEqual(got[0], clienttesting.Action(want)) {
		t.Errorf("actions %+v, want %+v", got, want)
	}
}

func TestAccessors(t *testing.T) {
	d := newFakeDeployments(&clienttesting.Fake{})
	if d.Namespace() != "ns" || d.Resource() != gvr || d.Kind() != gvk {
		t.Errorf("%q, %v, %v", d.Namespace(), d.Resource(), d.Kind())
	}
}

// TestFakeIsAField checks that hand-written methods of fakes can record actions through the field Fake of the
// client or of its group, and that a client doesn't promote methods of that field.
func TestFakeIsAField(t *testing.T) {
	f := &clienttesting.Fake{}
	c := newFakeDeployments(f)
	action := clienttesting.NewGetAction(gvr, "ns", "d")
	for n, recorder := range []*clienttesting.Fake{c.Fake.Fake, c.ClientWithListAndApply.Fake} {
		if _, err := recorder.Invokes(action, nil); err != nil || len(f.Actions()) != n+1 {
			t.Errorf("%d actions, %v", len(f.Actions()), err)
		}
	}
	fakes, clients := reflect.TypeOf(f), reflect.TypeOf(c)
	for n := range fakes.NumMethod() {
		if _, ok := clients.MethodByName(fakes.Method(n).Name); ok {
			t.Errorf("the client has %s of testing.Fake", fakes.Method(n).Name)
		}
	}
}
