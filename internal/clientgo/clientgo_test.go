package clientgo

import (
	"os"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/kubernetes/scheme"
	typedcorev1 "k8s.io/client-go/kubernetes/typed/core/v1"
	"k8s.io/client-go/metadata"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/cache"
)

// versions are those of client-go with which this package was compared: minors with all their patches, and
// pre-releases, whose releases are to be compared again.
var versions = []string{"v0.37", "v0.38.0-alpha.2"}

var required = regexp.MustCompile(`(?m)^\s+k8s\.io/client-go (v\S+)`)

// compared fails if go.mod requires another minor of client-go. what is to be compared there, and loss is
// what users notice if it has changed.
func compared(t *testing.T, what, loss string) {
	t.Helper()
	mod, err := os.ReadFile("../../go.mod")
	if err != nil {
		t.Fatal(err)
	}
	found := required.FindSubmatch(mod)
	if found == nil {
		t.Fatal("go.mod requires no client-go")
	}
	if now := string(found[1]); !isKnown(now) {
		t.Errorf("client-go is %s now, and this package was compared with %q. Compare %s. "+
			"If it has changed, change this package, or else %s. Then add the version to versions in this file.",
			now, versions, what, loss)
	}
}

func isKnown(version string) bool {
	return slices.ContainsFunc(versions, func(known string) bool {
		return version == known || strings.HasPrefix(version, known+".")
	})
}

// TestIsKnown checks that the release of a minor is compared, though its pre-release was.
func TestIsKnown(t *testing.T) {
	for version, want := range map[string]bool{
		"v0.37.0": true, "v0.37.2": true, "v0.38.0-alpha.2": true,
		"v0.38.0-alpha.3": false, "v0.38.0": false, "v0.38.1": false, "v0.39.0": false,
	} {
		if got := isKnown(version); got != want {
			t.Errorf("%s: %t", version, got)
		}
	}
}

func TestConverts(t *testing.T) {
	compared(t, "rest/client.go, the field content of RESTClient, and where rest/client.go and "+
		"rest/request.go keep the negotiator and its serializer, up to 6 steps below that field",
		"informers of generated and typed clients decode each response as a whole")
	asSent, err := typedcorev1.NewForConfig(&rest.Config{})
	if err != nil {
		t.Fatal(err)
	}
	converting, err := rest.UnversionedRESTClientFor(
		&rest.Config{ContentConfig: rest.ContentConfig{NegotiatedSerializer: scheme.Codecs}})
	if err != nil {
		t.Fatal(err)
	}
	for _, test := range []struct{ reason, want string }{
		{Converts(asSent.RESTClient().(*rest.RESTClient)), ""},
		{Converts(converting), "the REST client converts objects"},
		{converts(reflect.Value{}), "rest.RESTClient of this version of client-go has no field named content"},
	} {
		if test.reason != test.want {
			t.Errorf("%q, want %q", test.reason, test.want)
		}
	}
}

func TestUntyped(t *testing.T) {
	compared(t, "tools/cache/shared_informer.go, the type typedSharedIndexInformer and its field "+
		"SharedIndexInformer", "StatusOf, WaitForSync and all functions of package informer don't know our "+
		"informers inside client-go's typed ones")
	inner := cache.NewSharedIndexInformer(&cache.ListWatch{}, &corev1.Pod{}, 0, nil)
	if got, ok, reason := Untyped(cache.NewTypedSharedIndexInformer[*corev1.Pod](inner)); got != inner || !ok {
		t.Errorf("inside is %v, %t, %q", got, ok, reason)
	}
	if got, ok, reason := Untyped(inner); got != nil || ok || reason != "" {
		t.Errorf("an informer that isn't typed: %v, %t, %q", got, ok, reason)
	}
	if _, ok, reason := untyped(reflect.Value{}); ok || reason == "" {
		t.Errorf("a hidden informer: %t, %q", ok, reason)
	}
}

func TestIsTypedClient(t *testing.T) {
	compared(t, "the path kubernetes/typed of the clients of client-go's clientset",
		"package informers decodes each response of built-in types as a whole")
	group, err := typedcorev1.NewForConfig(&rest.Config{})
	if err != nil {
		t.Fatal(err)
	}
	if pods := group.Pods("shop"); !IsTypedClient(pods) {
		t.Errorf("%T isn't one", pods)
	}
	if wrapper := (&struct{ typedcorev1.PodInterface }{}); IsTypedClient(wrapper) || IsTypedClient(nil) {
		t.Error("a wrapper is one, or nil")
	}
}

func TestReturnsAsSent(t *testing.T) {
	compared(t, "dynamic/simple.go, the types DynamicClient and dynamicResourceClient, and "+
		"metadata/metadata.go, the types Client and client",
		"dynamic and metadata informers decode each response as a whole")
	pods := schema.GroupVersionResource{Version: "v1", Resource: "pods"}
	dynamicClient := dynamic.NewForConfigOrDie(&rest.Config{})
	metadataClient := metadata.NewForConfigOrDie(&rest.Config{})
	for name, test := range map[string]struct {
		clientset, resource any
		want                bool
	}{
		"dynamic":             {dynamicClient, dynamicClient.Resource(pods), true},
		"metadata":            {metadataClient, metadataClient.Resource(pods), true},
		"unknown clientset":   {nil, dynamicClient.Resource(pods), true},
		"another's clientset": {metadataClient, dynamicClient.Resource(pods), false},
		"wrapped clientset":   {&struct{ dynamic.Interface }{}, dynamicClient.Resource(pods), false},
		"wrapped resource":    {dynamicClient, &struct{ dynamic.ResourceInterface }{}, false},
		"no resource":         {dynamicClient, nil, false},
	} {
		if got := ReturnsAsSent(test.clientset, test.resource); got != test.want {
			t.Errorf("%s: %t", name, got)
		}
	}
}
