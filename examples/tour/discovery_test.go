package tour

import (
	"slices"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/discovery"
	"k8s.io/client-go/discovery/cached/disk"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/restmapper"
)

// Discovery requests what a server serves: groups, versions, resources and their verbs. A RESTMapper made
// from the responses finds the resource of a kind, as kubectl does for a manifest.
func TestDiscovery(t *testing.T) {
	client, err := discovery.NewDiscoveryClientForConfig(serverConfig(t)) // of server_test.go
	if err != nil {
		t.Fatal(err)
	}
	if !hasBakeries(t, client) {
		t.Error("the server doesn't name bakeries")
	}
	groups, err := restmapper.GetAPIGroupResources(client)
	if err != nil {
		t.Fatal(err)
	}
	mapping, err := restmapper.NewDiscoveryRESTMapper(groups).RESTMapping(
		schema.GroupKind{Group: "shop.kubewright.dev", Kind: "Bakery"})
	if err != nil || mapping.Resource.Resource != "bakeries" {
		t.Errorf("error %v, mapping %+v, want bakeries", err, mapping)
	}
}

// Every kubectl command is a new process and would send the requests again, so the responses are cached in a
// folder. Any process with the same folder reads them there until they are older than the time to live, or
// until it calls Invalidate.
func TestCachedDiscovery(t *testing.T) {
	const timeToLive = time.Hour
	dir := t.TempDir()
	cached := func(config *rest.Config) *disk.CachedDiscoveryClient {
		t.Helper()
		// The empty argument is a second folder, for an HTTP cache. Without it there is none.
		client, err := disk.NewCachedDiscoveryClientForConfig(config, dir, "", timeToLive)
		if err != nil {
			t.Fatal(err)
		}
		return client
	}
	if !hasBakeries(t, cached(serverConfig(t))) {
		t.Error("the server doesn't name bakeries")
	}
	nobody := &rest.Config{Host: "http://127.0.0.1:1"}
	another := cached(nobody)
	if !hasBakeries(t, another) {
		t.Error("the files don't name bakeries")
	}
	another.Invalidate()
	if _, err := another.ServerResourcesForGroupVersion("shop.kubewright.dev/v1"); err == nil {
		t.Error("after Invalidate nobody was asked")
	}
}

func hasBakeries(t *testing.T, client discovery.DiscoveryInterface) bool {
	t.Helper()
	resources, err := client.ServerResourcesForGroupVersion("shop.kubewright.dev/v1")
	if err != nil {
		t.Fatal(err)
	}
	return slices.ContainsFunc(resources.APIResources, func(r metav1.APIResource) bool {
		return r.Name == "bakeries" && r.Kind == "Bakery" && r.Namespaced && slices.Contains(r.Verbs, "watch")
	})
}
