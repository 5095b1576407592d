package client_test

import (
	"context"
	"io"
	"net/http"
	"strings"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	autoscalingv1 "k8s.io/api/autoscaling/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/runtime/serializer"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/rest"
	"k8s.io/utils/ptr"

	"github.com/kubewright/kubewright/runtime/gen/client"
)

var (
	scheme = runtime.NewScheme()
	codecs = serializer.NewCodecFactory(scheme)
	codec  = runtime.NewParameterCodec(scheme)
	apps   = client.Group{Version: appsv1.SchemeGroupVersion, APIPath: "/apis", Scheme: scheme,
		Codecs: codecs}
)

func init() {
	metav1.AddToGroupVersion(scheme, schema.GroupVersion{Version: "v1"})
	for _, add := range []func(*runtime.Scheme) error{appsv1.AddToScheme, autoscalingv1.AddToScheme} {
		if err := add(scheme); err != nil {
			panic(err)
		}
	}
}

// deployment is an apply configuration.
type deployment struct {
	Name *string `json:"name,omitempty"`
}

func (d *deployment) GetName() *string { return d.Name }

// scale is an apply configuration too.
type scale struct {
	Replicas int `json:"replicas"`
}

// deployments is a typed client as generated code declares it.
type deployments struct {
	*client.ClientWithListAndApply[*appsv1.Deployment, *appsv1.DeploymentList, *deployment]
}

func newDeployments(c rest.Interface, namespace string, opts ...client.Option) deployments {
	return deployments{client.NewWithListAndApply[*appsv1.Deployment, *appsv1.DeploymentList, *deployment](
		c, codec, "deployments", namespace, opts...)}
}

// recorder is a transport that records the requests and answers each with an empty object.
type recorder struct {
	requests []request
}

type request struct {
	line, accept, contentType, body string
}

func (r *recorder) RoundTrip(req *http.Request) (*http.Response, error) {
	var body []byte
	if req.Body != nil {
		body, _ = io.ReadAll(req.Body)
	}
	r.requests = append(r.requests, request{
		line:        req.Method + " " + req.URL.RequestURI(),
		accept:      req.Header.Get("Accept"),
		contentType: req.Header.Get("Content-Type"),
		body:        strings.TrimSpace(string(body)),
	})
	return &http.Response{
		StatusCode: http.StatusOK,
		Header:     http.Header{"Content-Type": {"application/json"}},
		Body:       io.NopCloser(strings.NewReader(`{}`)),
		Request:    req,
	}, nil
}

func connect(t *testing.T) (rest.Interface, *recorder) {
	t.Helper()
	r := &recorder{}
	c, err := apps.RESTClient(&rest.Config{Host: "http://server", QPS: -1}, &http.Client{Transport: r})
	if err != nil {
		t.Fatal(err)
	}
	return c, r
}

// TestRequests compares requests with those of upstream's generic clients and generated methods, by method.
func TestRequests(t *testing.T) {
	const (
		object = `{"kind":"Deployment","apiVersion":"apps/v1","metadata":{"name":"d"},` +
			`"spec":{"selector":null,"template":{"metadata":{},"spec":{"containers":null}},"strategy":{}},` +
			`"status":{}}`
		scaled = `{"kind":"Scale","apiVersion":"autoscaling/v1","metadata":{"name":"d"},` +
			`"spec":{"replicas":2},"status":{"replicas":0}}`
		opts = `{"kind":"DeleteOptions","apiVersion":"apps/v1","gracePeriodSeconds":3}`
		all  = "/apis/apps/v1/namespaces/ns/deployments"
		one  = all + "/d"
	)
	d := &appsv1.Deployment{ObjectMeta: metav1.ObjectMeta{Name: "d"}}
	s := &autoscalingv1.Scale{ObjectMeta: metav1.ObjectMeta{Name: "d"},
		Spec: autoscalingv1.ScaleSpec{Replicas: 2}}
	list := metav1.ListOptions{LabelSelector: "a=b", TimeoutSeconds: ptr.To[int64](7)}
	del := metav1.DeleteOptions{GracePeriodSeconds: ptr.To[int64](3)}
	create := metav1.CreateOptions{DryRun: []string{"All"}}
	update := metav1.UpdateOptions{FieldManager: "m"}
	patch := metav1.PatchOptions{FieldManager: "m"}
	apply := metav1.ApplyOptions{FieldManager: "m", Force: true}
	named := &deployment{Name: ptr.To("d")}

	cases := map[string]struct {
		call func(context.Context, deployments) error
		want request
	}{
		"Get": {func(ctx context.Context, c deployments) error {
			_, err := c.Get(ctx, "d", metav1.GetOptions{ResourceVersion: "5"})
			return err
		}, request{line: "GET " + one + "?resourceVersion=5"}},
		"List": {func(ctx context.Context, c deployments) error {
			_, err := c.List(ctx, list)
			return err
		}, request{line: "GET " + all + "?labelSelector=a%3Db&timeout=7s&timeoutSeconds=7"}},
		"Watch": {func(ctx context.Context, c deployments) error {
			w, err := c.Watch(ctx, list)
			if err == nil {
				w.Stop()
			}
			return err
		}, request{line: "GET " + all + "?labelSelector=a%3Db&timeout=7s&timeoutSeconds=7&watch=true"}},
		"Create": {func(ctx context.Context, c deployments) error {
			_, err := c.Create(ctx, d, create)
			return err
		}, request{line: "POST " + all + "?dryRun=All", contentType: "application/json", body: object}},
		"Update": {func(ctx context.Context, c deployments) error {
			_, err := c.Update(ctx, d, update)
			return err
		}, request{line: "PUT " + one + "?fieldManager=m", contentType: "application/json", body: object}},
		"UpdateStatus": {func(ctx context.Context, c deployments) error {
			_, err := c.UpdateStatus(ctx, d, update)
			return err
		}, request{line: "PUT " + one + "/status?fieldManager=m", contentType: "application/json",
			body: object}},
		"Delete": {func(ctx context.Context, c deployments) error {
			return c.Delete(ctx, "d", del)
		}, request{line: "DELETE " + one, contentType: "application/json", body: opts}},
		"DeleteCollection": {func(ctx context.Context, c deployments) error {
			return c.DeleteCollection(ctx, del, list)
		}, request{line: "DELETE " + all + "?labelSelector=a%3Db&timeout=7s&timeoutSeconds=7",
			contentType: "application/json", body: opts}},
		"Patch": {func(ctx context.Context, c deployments) error {
			_, err := c.Patch(ctx, "d", types.MergePatchType, []byte(`{"x":1}`), patch, "a", "b")
			return err
		}, request{line: "PATCH " + one + "/a/b?fieldManager=m", contentType: "application/merge-patch+json",
			body: `{"x":1}`}},
		"Apply": {func(ctx context.Context, c deployments) error {
			_, err := c.Apply(ctx, named, apply)
			return err
		}, request{line: "PATCH " + one + "?fieldManager=m&force=true",
			contentType: "application/apply-patch+yaml", body: `{"name":"d"}`}},
		"ApplyStatus": {func(ctx context.Context, c deployments) error {
			_, err := c.ApplyStatus(ctx, named, apply)
			return err
		}, request{line: "PATCH " + one + "/status?fieldManager=m&force=true",
			contentType: "application/apply-patch+yaml", body: `{"name":"d"}`}},
		"GetAs": {func(ctx context.Context, c deployments) error {
			_, err := client.GetAs[*appsv1.Deployment](ctx, c, "d",
				"", metav1.GetOptions{ResourceVersion: "5"})
			return err
		}, request{line: "GET " + one + "?resourceVersion=5"}},
		"GetAs subresource": {func(ctx context.Context, c deployments) error {
			_, err := client.GetAs[*autoscalingv1.Scale](ctx, c, "d", "scale", metav1.GetOptions{})
			return err
		}, request{line: "GET " + one + "/scale"}},
		"ListAs": {func(ctx context.Context, c deployments) error {
			_, err := client.ListAs[*appsv1.DeploymentList](ctx, c, "", "", list)
			return err
		}, request{line: "GET " + all + "?labelSelector=a%3Db&timeout=7s&timeoutSeconds=7"}},
		"ListAs subresource": {func(ctx context.Context, c deployments) error {
			_, err := client.ListAs[*appsv1.DeploymentList](ctx, c, "d", "parts", metav1.ListOptions{})
			return err
		}, request{line: "GET " + one + "/parts"}},
		"CreateAs": {func(ctx context.Context, c deployments) error {
			_, err := client.CreateAs[*appsv1.Deployment](ctx, c, "", "", d, create)
			return err
		}, request{line: "POST " + all + "?dryRun=All", contentType: "application/json", body: object}},
		"CreateAs subresource": {func(ctx context.Context, c deployments) error {
			_, err := client.CreateAs[*autoscalingv1.Scale](ctx, c, "d", "scale", s, create)
			return err
		}, request{line: "POST " + one + "/scale?dryRun=All", contentType: "application/json", body: scaled}},
		"UpdateAs": {func(ctx context.Context, c deployments) error {
			_, err := client.UpdateAs[*appsv1.Deployment](ctx, c, "d", "", d, update)
			return err
		}, request{line: "PUT " + one + "?fieldManager=m", contentType: "application/json", body: object}},
		"UpdateAs subresource": {func(ctx context.Context, c deployments) error {
			_, err := client.UpdateAs[*autoscalingv1.Scale](ctx, c, "d", "scale", s, update)
			return err
		}, request{line: "PUT " + one + "/scale?fieldManager=m", contentType: "application/json",
			body: scaled}},
		"PatchAs": {func(ctx context.Context, c deployments) error {
			_, err := client.PatchAs[*autoscalingv1.Scale](ctx, c, "d", types.JSONPatchType, []byte(`[]`),
				patch, "scale")
			return err
		}, request{line: "PATCH " + one + "/scale?fieldManager=m",
			contentType: "application/json-patch+json", body: `[]`}},
		"ApplyAs": {func(ctx context.Context, c deployments) error {
			_, err := client.ApplyAs[*appsv1.Deployment](ctx, c, "", "", named, apply)
			return err
		}, request{line: "PATCH " + one + "?fieldManager=m&force=true",
			contentType: "application/apply-patch+yaml", body: `{"name":"d"}`}},
		"ApplyAs subresource": {func(ctx context.Context, c deployments) error {
			_, err := client.ApplyAs[*autoscalingv1.Scale](ctx, c, "d", "scale", &scale{2}, apply)
			return err
		}, request{line: "PATCH " + one + "/scale?fieldManager=m&force=true",
			contentType: "application/apply-patch+yaml", body: `{"replicas":2}`}},
	}
	for name, test := range cases {
		t.Run(name, func(t *testing.T) {
			c, seen := connect(t)
			if err := test.call(t.Context(), newDeployments(c, "ns")); err != nil {
				t.Fatal(err)
			}
			test.want.accept = "application/json, */*"
			check(t, seen, test.want)

			c, seen = connect(t)
			if err := test.call(t.Context(), newDeployments(c, "ns", client.PrefersProtobuf())); err != nil {
				t.Fatal(err)
			}
			if got := seen.requests[0].accept; got != "application/vnd.kubernetes.protobuf,application/json" {
				t.Errorf("with PrefersProtobuf: Accept: %s", got)
			}
		})
	}
}

func check(t *testing.T, seen *recorder, want request) {
	t.Helper()
	if len(seen.requests) != 1 {
		t.Fatalf("%d requests, want 1", len(seen.requests))
	}
	if got := seen.requests[0]; got != want {
		t.Errorf("request\n got %q\nwant %q", got, want)
	}
}

// TestGroupClient checks that a GroupClient returns the client that it was made with, and that a nil
// GroupClient returns nil. The types that generated code derives from it are comparable, like upstream's.
func TestGroupClient(t *testing.T) {
	sent := &rest.RESTClient{}
	c := client.NewGroupClient(sent)
	writes := c.Writes()
	if c.RESTClient() != sent || writes == nil || c.Writes() != writes {
		t.Errorf("%v, %v", c.RESTClient(), writes)
	}
	if same := *c; same != *c {
		t.Error("a copy is not equal")
	}
	c = nil
	if c.RESTClient() != nil || c.Writes() != nil {
		t.Errorf("of nil: %v, %v", c.RESTClient(), c.Writes())
	}
}
