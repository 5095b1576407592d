package client_test

import (
	"errors"
	"net/http"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/util/flowcontrol"

	"github.com/kubewright/kubewright/runtime/gen/client"
)

// TestScope checks that a path without a namespace leaves it out. The additional methods then refuse a
// request with a name, unless the resource is cluster-scoped.
func TestScope(t *testing.T) {
	const path = "GET /apis/apps/v1/deployments/d"
	for _, test := range []struct {
		name string
		opts []client.Option
		want string
	}{
		{name: "namespaced"},
		{name: "cluster-scoped", opts: []client.Option{client.ClusterScoped()}, want: path},
	} {
		t.Run(test.name, func(t *testing.T) {
			c, seen := connect(t)
			if _, err := newDeployments(c, "", test.opts...).Get(
				t.Context(), "d", metav1.GetOptions{},
			); err != nil {
				t.Fatal(err)
			}
			if got := seen.requests[0].line; got != path {
				t.Errorf("Get: %s", got)
			}
			c, seen = connect(t)
			_, err := client.GetAs[*appsv1.Deployment](t.Context(), newDeployments(c, "", test.opts...), "d",
				"", metav1.GetOptions{})
			if refused := test.want == ""; refused != (err != nil) || refused != (len(seen.requests) == 0) {
				t.Errorf("GetAs: error %v after %d requests", err, len(seen.requests))
			}
		})
	}
}

// TestApplyRefuses checks that an apply without a name is refused before a request is sent.
func TestApplyRefuses(t *testing.T) {
	c, seen := connect(t)
	d := newDeployments(c, "ns")
	for _, test := range []struct {
		configuration *deployment
		want          string
	}{
		{nil, "object provided to Apply must not be nil"},
		{&deployment{}, "obj.Name must be provided to Apply"},
	} {
		object, err := d.Apply(t.Context(), test.configuration, metav1.ApplyOptions{})
		if object != nil || err == nil || err.Error() != test.want {
			t.Errorf("Apply: %v, %v, want error %q", object, err, test.want)
		}
		object, err = d.ApplyStatus(t.Context(), test.configuration, metav1.ApplyOptions{})
		if object != nil || err == nil || err.Error() != test.want {
			t.Errorf("ApplyStatus: %v, %v, want error %q", object, err, test.want)
		}
		object, err = client.ApplyAs[*appsv1.Deployment](t.Context(), d, "", "", test.configuration,
			metav1.ApplyOptions{})
		if object != nil || err == nil || err.Error() != test.want {
			t.Errorf("ApplyAs: %v, %v, want error %q", object, err, test.want)
		}
	}
	if len(seen.requests) != 0 {
		t.Errorf("sent %v", seen.requests)
	}
}

// TestFailedRequestReturnsEmptyObject checks that a failed request returns an empty object with the error, as
// upstream's do.
func TestFailedRequestReturnsEmptyObject(t *testing.T) {
	broken := &http.Client{Transport: roundTrip(func(*http.Request) (*http.Response, error) {
		return nil, errors.New("broken")
	})}
	c, err := apps.RESTClient(&rest.Config{Host: "http://server"}, broken)
	if err != nil {
		t.Fatal(err)
	}
	object, err := newDeployments(c, "ns").Create(t.Context(), &appsv1.Deployment{}, metav1.CreateOptions{})
	if object == nil || err == nil {
		t.Errorf("got %v, %v", object, err)
	}
}

type roundTrip func(*http.Request) (*http.Response, error)

func (f roundTrip) RoundTrip(req *http.Request) (*http.Response, error) { return f(req) }

func TestAccessors(t *testing.T) {
	c, _ := connect(t)
	if d := newDeployments(c, "ns"); d.GetClient() != c || d.GetNamespace() != "ns" {
		t.Errorf("GetClient() = %v, GetNamespace() = %q", d.GetClient(), d.GetNamespace())
	}
}

func TestForConfig(t *testing.T) {
	type made struct {
		config *rest.Config
		client *http.Client
	}
	build := func(config *rest.Config, client *http.Client) (made, error) { return made{config, client}, nil }

	given := &rest.Config{Host: "http://server"}
	got, err := client.ForConfig(given, build)
	if err != nil || got.client == nil || got.config.UserAgent != rest.DefaultKubernetesUserAgent() {
		t.Errorf("got %+v, %v", got, err)
	}
	if given.UserAgent != "" {
		t.Error("the given configuration was changed")
	}
	if got, _ := client.ForConfig(&rest.Config{UserAgent: "me"}, build); got.config.UserAgent != "me" {
		t.Errorf("user agent %q, want the given one", got.config.UserAgent)
	}
	unusable := &rest.Config{TLSClientConfig: rest.TLSClientConfig{CAFile: "/does/not/exist"}}
	if _, err := client.ForConfig(unusable, build); err == nil {
		t.Error("no error for a configuration without a transport")
	}
}

func TestWithRateLimiter(t *testing.T) {
	own := flowcontrol.NewFakeAlwaysRateLimiter()
	for _, test := range []struct {
		name      string
		config    rest.Config
		has, fail bool
	}{
		{name: "nothing set"},
		{name: "QPS and Burst", config: rest.Config{QPS: 3, Burst: 4}, has: true},
		{name: "QPS alone", config: rest.Config{QPS: 3}, fail: true},
		{name: "no limit", config: rest.Config{QPS: -1}},
		{name: "own limiter", config: rest.Config{QPS: 3, RateLimiter: own}, has: true},
	} {
		got, err := client.WithRateLimiter(&test.config)
		if (err != nil) != test.fail {
			t.Errorf("%s: error %v", test.name, err)
			continue
		}
		if err == nil && (got.RateLimiter != nil) != test.has {
			t.Errorf("%s: rate limiter %v", test.name, got.RateLimiter)
		}
		if test.config.RateLimiter != nil && got.RateLimiter != own {
			t.Errorf("%s: another limiter", test.name)
		}
	}
}

func TestMust(t *testing.T) {
	if client.Must(3, nil) != 3 {
		t.Error("value lost")
	}
	failed := errors.New("failed")
	defer func() {
		if got := recover(); got != failed {
			t.Errorf("panicked with %v", got)
		}
	}()
	client.Must(3, failed)
}

// TestInternalVersion checks that a client of an internal version uses the version that the configuration
// names if it belongs to the group, and otherwise the scheme's preferred version.
func TestInternalVersion(t *testing.T) {
	internal := apps
	internal.Version.Version = runtime.APIVersionInternal
	for _, test := range []struct {
		config rest.Config
		want   string
	}{
		{rest.Config{}, "v1"},
		{rest.Config{ContentConfig: rest.ContentConfig{GroupVersion: &metav1.SchemeGroupVersion}}, "v1"},
		{rest.Config{ContentConfig: rest.ContentConfig{GroupVersion: &appsV2}}, "v2"},
	} {
		c, err := internal.InternalRESTClient(&test.config, http.DefaultClient)
		if err != nil {
			t.Fatal(err)
		}
		if got := c.APIVersion(); got.Group != "apps" || got.Version != test.want {
			t.Errorf("talks %v, want version %s", got, test.want)
		}
	}
}

var appsV2 = appsv1.SchemeGroupVersion

func init() { appsV2.Version = "v2" }
