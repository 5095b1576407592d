package client_test

import (
	"context"
	"net/http"
	"reflect"
	"slices"
	"strings"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	autoscalingv1 "k8s.io/api/autoscaling/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/rest"
	"k8s.io/utils/ptr"

	"github.com/kubewright/kubewright/runtime/client"
	gen "github.com/kubewright/kubewright/runtime/gen/client"
)

type deploymentResource = client.Resource[*appsv1.Deployment, *appsv1.DeploymentList]

// clientFor returns a client of deployments for which nothing was generated.
func clientFor(t *testing.T, opts ...client.Option) (*deploymentResource, *recorder) {
	t.Helper()
	r := &recorder{}
	config := &rest.Config{Host: "http://server", Transport: r, QPS: -1}
	c, err := client.For[*appsv1.Deployment, *appsv1.DeploymentList](config, scheme, opts...)
	if err != nil {
		t.Fatal(err)
	}
	return c, r
}

// api has the methods of a typed client except apply.
type api interface {
	gen.Requester
	Get(context.Context, string, metav1.GetOptions) (*appsv1.Deployment, error)
	List(context.Context, metav1.ListOptions) (*appsv1.DeploymentList, error)
	Watch(context.Context, metav1.ListOptions) (watch.Interface, error)
	Create(context.Context, *appsv1.Deployment, metav1.CreateOptions) (*appsv1.Deployment, error)
	Update(context.Context, *appsv1.Deployment, metav1.UpdateOptions) (*appsv1.Deployment, error)
	UpdateStatus(context.Context, *appsv1.Deployment, metav1.UpdateOptions) (*appsv1.Deployment, error)
	Delete(context.Context, string, metav1.DeleteOptions) error
	DeleteCollection(context.Context, metav1.DeleteOptions, metav1.ListOptions) error
	Patch(context.Context, string, types.PatchType, []byte, metav1.PatchOptions, ...string) (
		*appsv1.Deployment, error)
}

// useAll calls every method, and functions for subresources.
func useAll(t *testing.T, c api, apply func(*deployment, metav1.ApplyOptions) error) {
	t.Helper()
	ctx, d := t.Context(), &appsv1.Deployment{ObjectMeta: metav1.ObjectMeta{Name: "d"}}
	list := metav1.ListOptions{LabelSelector: "a=b", TimeoutSeconds: ptr.To[int64](7)}
	del := metav1.DeleteOptions{GracePeriodSeconds: ptr.To[int64](3)}
	check := func(err error) {
		if t.Helper(); err != nil {
			t.Error(err)
		}
	}
	_, err := c.Get(ctx, "d", metav1.GetOptions{ResourceVersion: "5"})
	check(err)
	_, err = c.List(ctx, list)
	check(err)
	w, err := c.Watch(ctx, list)
	check(err)
	w.Stop()
	_, err = c.Create(ctx, d, metav1.CreateOptions{DryRun: []string{"All"}})
	check(err)
	_, err = c.Update(ctx, d, metav1.UpdateOptions{FieldManager: "m"})
	check(err)
	_, err = c.UpdateStatus(ctx, d, metav1.UpdateOptions{})
	check(err)
	check(c.Delete(ctx, "d", del))
	check(c.DeleteCollection(ctx, del, list))
	_, err = c.Patch(ctx, "d", types.MergePatchType, []byte(`{"x":1}`), metav1.PatchOptions{}, "a", "b")
	check(err)
	check(apply(&deployment{Name: ptr.To("d")}, metav1.ApplyOptions{FieldManager: "m", Force: true}))
	_, err = client.GetAs[*autoscalingv1.Scale](ctx, c, "d", "scale", metav1.GetOptions{})
	check(err)
	scale := &autoscalingv1.Scale{}
	_, err = client.UpdateAs[*autoscalingv1.Scale](ctx, c, "d", "scale", scale, metav1.UpdateOptions{})
	check(err)
}

// TestForLikeGenerated checks that a client of For sends the requests of a generated one.
func TestForLikeGenerated(t *testing.T) {
	for name, test := range map[string]struct {
		of       []client.Option
		declared []gen.Option
	}{
		"JSON":     {},
		"protobuf": {[]client.Option{client.PrefersProtobuf()}, []gen.Option{gen.PrefersProtobuf()}},
	} {
		t.Run(name, func(t *testing.T) {
			generated, want := newDeployments(t, "ns", test.declared...)
			useAll(t, generated, func(d *deployment, opts metav1.ApplyOptions) error {
				_, err := generated.Apply(t.Context(), d, opts)
				if err == nil {
					_, err = generated.ApplyStatus(t.Context(), d, opts)
				}
				return err
			})
			resource, got := clientFor(t, test.of...)
			made := resource.Namespace("ns")
			useAll(t, made, func(d *deployment, opts metav1.ApplyOptions) error {
				_, err := made.Apply(t.Context(), d, opts)
				if err == nil {
					_, err = made.ApplyStatus(t.Context(), d, opts)
				}
				return err
			})
			if len(want.requests) != 13 || !slices.Equal(got.requests, want.requests) {
				t.Errorf("requests\n got %q\nwant %q", got.requests, want.requests)
			}
		})
	}
}

// TestForNamespaces checks that each client is for its namespace or, without one, for all namespaces or
// cluster-scoped objects. The clients of several namespaces share the record of writes.
func TestForNamespaces(t *testing.T) {
	all, seen := clientFor(t)
	one := all.Namespace("one")
	for _, c := range []*deploymentResource{all, one, one.Namespace("two"), one.Namespace("")} {
		if _, err := client.GetAs[*appsv1.Deployment](t.Context(), c, "d", "", metav1.GetOptions{}); err != nil {
			t.Error(err)
		}
		if want := appsv1.SchemeGroupVersion.WithResource("deployments"); c.Resource() != want {
			t.Errorf("the resource is %v", c.Resource())
		}
	}
	var paths []string
	for _, r := range seen.requests {
		paths = append(paths, strings.TrimPrefix(r.line, "GET /apis/apps/v1/"))
	}
	const d = "deployments/d"
	if want := []string{d, "namespaces/one/" + d, "namespaces/two/" + d, d}; !slices.Equal(paths, want) {
		t.Errorf("requested %q", paths)
	}
	if all.GetNamespace() != "" || one.GetNamespace() != "one" {
		t.Errorf("namespaces %q, %q", all.GetNamespace(), one.GetNamespace())
	}

	config := &rest.Config{Host: "http://server", Transport: &recorder{body: answer("7")}}
	c, err := client.For[*appsv1.Deployment, *appsv1.DeploymentList](config, scheme)
	if err != nil {
		t.Fatal(err)
	}
	_, err = c.Namespace("one").Create(t.Context(), &appsv1.Deployment{}, metav1.CreateOptions{})
	if err != nil {
		t.Fatal(err)
	}
	for namespace, want := range map[string]string{"": "7", "one": "7", "two": ""} {
		if written, ok := c.Written(namespace, 0); !ok || written.ResourceVersion != want {
			t.Errorf("written in %q: %+v, %v", namespace, written, ok)
		}
	}
}

// TestForResource checks that the name of a resource is guessed unless it is given, and that the
// core group has its own root.
func TestForResource(t *testing.T) {
	r := &recorder{}
	config := &rest.Config{Host: "http://server", Transport: r}
	core := newScheme(t, corev1.AddToScheme)
	events, err := client.For[*corev1.Event, *corev1.EventList](config, core)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := events.Namespace("ns").Get(t.Context(), "e", metav1.GetOptions{}); err != nil {
		t.Error(err)
	}
	other, err := client.For[*corev1.Event, *corev1.EventList](config, core, client.ResourceName("happenings"))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := other.List(t.Context(), metav1.ListOptions{}); err != nil {
		t.Error(err)
	}
	if other.Resource() != corev1.SchemeGroupVersion.WithResource("happenings") {
		t.Errorf("the resource is %v", other.Resource())
	}
	first, second := r.requests[0].line, r.requests[1].line
	if first != "GET /api/v1/namespaces/ns/events/e" || second != "GET /api/v1/happenings" {
		t.Errorf("requests %q", r.requests)
	}
}

// Widget is a type that schemes register in several ways.
type Widget struct {
	metav1.TypeMeta
	metav1.ObjectMeta
}

func (w *Widget) DeepCopyObject() runtime.Object { c := *w; return &c }

type WidgetList struct {
	metav1.TypeMeta
	metav1.ListMeta
	Items []Widget
}

func (l *WidgetList) DeepCopyObject() runtime.Object { c := *l; return &c }

func newScheme(t *testing.T, add ...func(*runtime.Scheme) error) *runtime.Scheme {
	t.Helper()
	builder := runtime.SchemeBuilder(add)
	s := runtime.NewScheme()
	if err := builder.AddToScheme(s); err != nil {
		t.Fatal(err)
	}
	return s
}

// as registers widgets and lists of them under a version and a name.
func as(version, kind string) func(*runtime.Scheme) error {
	return func(s *runtime.Scheme) error {
		v := schema.GroupVersion{Group: "example.com", Version: version}
		s.AddKnownTypeWithName(v.WithKind(kind), &Widget{})
		s.AddKnownTypeWithName(v.WithKind(kind+"List"), &WidgetList{})
		if version != runtime.APIVersionInternal {
			metav1.AddToGroupVersion(s, v)
		}
		return nil
	}
}

// TestForKinds checks that of several kinds, For takes the one with the type's name and the wanted
// version. If several or only internal kinds remain, it returns an error.
func TestForKinds(t *testing.T) {
	internal := runtime.APIVersionInternal
	v2 := &schema.GroupVersion{Group: "example.com", Version: "v2"}
	for name, test := range map[string]struct {
		scheme *runtime.Scheme
		wanted *schema.GroupVersion
		want   string // the resource, or a part of the error
	}{
		"another name": {newScheme(t, as("v1", "Gadget")), nil, "example.com/v1 gadgets"},
		"two names":    {newScheme(t, as("v1", "Gadget"), as("v1", "Widget")), nil, "example.com/v1 widgets"},
		"internal, too": {
			newScheme(t, as(internal, "Widget"), as("v1", "Widget")), nil, "example.com/v1 widgets",
		},
		"the wanted one":    {newScheme(t, as("v1", "Widget"), as("v2", "Widget")), v2, "example.com/v2 widgets"},
		"not the wanted":    {newScheme(t, as("v1", "Widget")), v2, "example.com/v1 widgets"},
		"two versions":      {newScheme(t, as("v1", "Widget"), as("v2", "Widget")), nil, "set GroupVersion"},
		"two, none wanted":  {newScheme(t, as("v1", "Widget"), as("v3", "Widget")), v2, "set GroupVersion"},
		"only internal":     {newScheme(t, as(internal, "Widget")), nil, "only as an internal type"},
		"two foreign names": {newScheme(t, as("v1", "Gadget"), as("v1", "Thing")), nil, "Kind=Thing"},
	} {
		config := &rest.Config{Host: "http://server", ContentConfig: rest.ContentConfig{GroupVersion: test.wanted}}
		c, err := client.For[*Widget, *WidgetList](config, test.scheme)
		if err != nil {
			if !strings.Contains(err.Error(), test.want) {
				t.Errorf("%s: %v", name, err)
			}
			continue
		}
		if got := c.Resource().GroupVersion().String() + " " + c.Resource().Resource; got != test.want {
			t.Errorf("%s: %s", name, got)
		}
	}
}

// TestForRefuses checks that errors describe what is missing, and where.
func TestForRefuses(t *testing.T) {
	type list struct{ corev1.PodList }
	config, core := &rest.Config{Host: "http://server"}, newScheme(t, corev1.AddToScheme)
	version := schema.GroupVersion{Group: "example.com", Version: "v1"}
	types := func(objects ...runtime.Object) *runtime.Scheme {
		s := runtime.NewScheme()
		s.AddKnownTypes(version, objects...)
		return s
	}
	elsewhere := types(&Widget{})
	elsewhere.AddKnownTypes(schema.GroupVersion{Group: "example.com", Version: "v2"}, &WidgetList{})
	_, noConfig := client.For[*corev1.Pod, *corev1.PodList](nil, core)
	_, noScheme := client.For[*corev1.Pod, *corev1.PodList](config, nil)
	_, unknown := client.For[*appsv1.Deployment, *appsv1.DeploymentList](config, core)
	_, otherList := client.For[*corev1.Pod, *corev1.NodeList](config, core)
	_, noList := client.For[*corev1.Pod, *corev1.Pod](config, core)
	_, someList := client.For[*corev1.Pod, runtime.Object](config, core)
	_, someObject := client.For[client.Object, *corev1.PodList](config, core)
	_, unstruct := client.For[*unstructured.Unstructured, *unstructured.UnstructuredList](config, core)
	_, wrapped := client.For[*corev1.Pod, *list](config, core)
	_, unlisted := client.For[*Widget, *WidgetList](config, types(&Widget{}))
	_, listsElsewhere := client.For[*Widget, *WidgetList](config, elsewhere)
	_, noOptions := client.For[*Widget, *WidgetList](config, types(&Widget{}, &WidgetList{}))
	_, noTransport := client.For[*corev1.Pod, *corev1.PodList](
		&rest.Config{TLSClientConfig: rest.TLSClientConfig{CAFile: "/does/not/exist"}}, core)
	for want, err := range map[string]error{
		"only as [example.com/v2, Kind=WidgetList]: add that, too": listsElsewhere,
		"make a client of *v1.Pod: the configuration is nil":       noConfig,
		"make a client of *v1.Pod: the scheme is nil":              noScheme,
		"the scheme doesn't have *v1.Deployment: add it, " +
			"as AddToScheme of k8s.io/api/apps/v1 should": unknown,
		"*v1.NodeList is not a pointer to a list with Items of type v1.Pod":             otherList,
		"*v1.Pod is not a pointer to a list with Items of type v1.Pod":                  noList,
		"runtime.Object is not a pointer to a list with Items":                          someList,
		"client.Object is not a pointer to a struct":                                    someObject,
		"objects can be of any kind: use client-go's dynamic client":                    unstruct,
		"the scheme doesn't have *client_test.list":                                     wrapped,
		"the scheme doesn't have *client_test.WidgetList":                               unlisted,
		"the scheme lacks the options of example.com/v1: call metav1.AddToGroupVersion": noOptions,
		"/does/not/exist": noTransport,
	} {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("error %v, want %q", err, want)
		}
	}
}

// TestForApplyRefuses checks that Apply refuses nil, of any type, before it sends a request.
func TestForApplyRefuses(t *testing.T) {
	c, seen := clientFor(t)
	for _, nothing := range []gen.Configuration{nil, (*deployment)(nil)} {
		_, err := c.Apply(t.Context(), nothing, metav1.ApplyOptions{})
		if err == nil || !strings.Contains(err.Error(), "must not be nil") {
			t.Errorf("error %v", err)
		}
	}
	if len(seen.requests) != 0 {
		t.Errorf("sent %v", seen.requests)
	}
}

// TestForKeepsConfiguration checks that For doesn't change the configuration, which other code may use.
func TestForKeepsConfiguration(t *testing.T) {
	config := &rest.Config{Host: "http://server", Transport: http.DefaultTransport}
	before := rest.CopyConfig(config)
	if _, err := client.For[*appsv1.Deployment, *appsv1.DeploymentList](config, scheme); err != nil {
		t.Fatal(err)
	}
	if !reflect.DeepEqual(config, before) {
		t.Errorf("changed to %v", config)
	}
}
