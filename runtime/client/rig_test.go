package client_test

import (
	"fmt"
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
	"k8s.io/client-go/rest"

	gen "github.com/kubewright/kubewright/runtime/gen/client"
)

var scheme = newAppsScheme()

func newAppsScheme() *runtime.Scheme {
	s := runtime.NewScheme()
	metav1.AddToGroupVersion(s, schema.GroupVersion{Version: "v1"})
	for _, add := range []func(*runtime.Scheme) error{appsv1.AddToScheme, autoscalingv1.AddToScheme} {
		if err := add(s); err != nil {
			panic(err)
		}
	}
	return s
}

// deployment is an apply configuration.
type deployment struct {
	Name *string `json:"name,omitempty"`
}

func (d *deployment) GetName() *string { return d.Name }

// deployments is a typed client as generated code declares it.
type deployments struct {
	*gen.ClientWithListAndApply[*appsv1.Deployment, *appsv1.DeploymentList, *deployment]
}

// newDeployments returns a client as generated code makes it, and its transport.
func newDeployments(t *testing.T, namespace string, opts ...gen.Option) (deployments, *recorder) {
	t.Helper()
	r := &recorder{}
	apps := gen.Group{Version: appsv1.SchemeGroupVersion, APIPath: "/apis", Scheme: scheme,
		Codecs: serializer.NewCodecFactory(scheme)}
	c, err := apps.RESTClient(&rest.Config{Host: "http://server", QPS: -1}, &http.Client{Transport: r})
	if err != nil {
		t.Fatal(err)
	}
	return deployments{gen.NewWithListAndApply[*appsv1.Deployment, *appsv1.DeploymentList, *deployment](
		c, runtime.NewParameterCodec(scheme), "deployments", namespace, opts...)}, r
}

// recorder is a transport that records the requests and answers each with body, or with an empty object.
type recorder struct {
	requests []request
	body     string
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
	answer := r.body
	if answer == "" {
		answer = "{}"
	}
	return &http.Response{
		StatusCode: http.StatusOK,
		Header:     http.Header{"Content-Type": {"application/json"}},
		Body:       io.NopCloser(strings.NewReader(answer)),
		Request:    req,
	}, nil
}

func answer(version string) string {
	return fmt.Sprintf(
		`{"kind":"Deployment","apiVersion":"apps/v1","metadata":{"name":"d","uid":"u","resourceVersion":%q}}`,
		version)
}
