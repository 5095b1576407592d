package apiserver_test

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing/fstest"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/discovery"
	"k8s.io/client-go/discovery/cached/disk"
	"k8s.io/client-go/restmapper"
)

const pierManifest = `
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: piers.piers.example}
spec:
  group: piers.example
  scope: Cluster
  names: {plural: piers, singular: pier, kind: Pier, listKind: PierList}
  versions: [{name: v1, served: true, storage: true, schema: {openAPIV3Schema: {type: object}}}]
`

func testDiscovery(v *visit) {
	aggregated := discovery.NewDiscoveryClientForConfigOrDie(v.server.Config())
	plain := discovery.NewDiscoveryClientForConfigOrDie(v.server.Config())
	plain.UseLegacyDiscovery = true
	onDisk, err := disk.NewCachedDiscoveryClientForConfig(
		v.server.Config(), v.TempDir(), v.TempDir(), time.Hour)
	v.ok(err)
	clients := map[string]discovery.DiscoveryInterface{
		"aggregated": aggregated, "plain": plain, "cached on disk": onDisk,
	}

	want := v.resources(aggregated)
	for name, kind := range map[string]string{
		"v1 configmaps":                 "ConfigMap [cm]",
		"v1 secrets":                    "Secret []",
		"v1 namespaces":                 "Namespace [ns]",
		"v1 events":                     "Event [ev]",
		"events.k8s.io/v1 events":       "Event [ev]",
		"coordination.k8s.io/v1 leases": "Lease []",
		"harbour.example/v1 boats":      "Boat []",
		"apiextensions.k8s.io/v1 customresourcedefinitions": "CustomResourceDefinition [crd crds]",
	} {
		if !strings.HasPrefix(want[name], kind+" [") {
			v.Errorf("%s is %q, want a %s", name, want[name], kind)
		}
	}
	for name, client := range clients {
		if got := v.resources(client); !maps.Equal(got, want) {
			v.Errorf("%s: %v\nwant %v", name, got, want)
		}
	}
	// Only /api, which every client requests first, lists the core group.
	if group := string(v.get("/api", "application/json")); !strings.Contains(group, `"versions":["v1"]`) {
		v.Errorf("/api: %s", group)
	}
	v.checkMapper(aggregated)

	v.ok(v.server.InstallCRDs(v.ctx, fstest.MapFS{"piers.yaml": {Data: []byte(pierManifest)}}))
	onDisk.Invalidate()
	for name, client := range clients {
		if got := v.resources(client)["piers.example/v1 piers"]; !strings.HasPrefix(got, "Pier [") {
			v.Errorf("%s: the new kind is %q", name, got)
		}
	}
	v.ok(v.server.DeleteCRDs(v.ctx, "piers.piers.example"))
	if _, there := v.resources(onDisk)["piers.example/v1 piers"]; !there {
		v.Error("cached on disk: asked the server although the cache is an hour young")
	}
	onDisk.Invalidate()
	for name, client := range clients {
		if got, there := v.resources(client)["piers.example/v1 piers"]; there {
			v.Errorf("%s: the deleted kind is still there: %s", name, got)
		}
	}
}

// resources returns the discovered resources, by version and name.
func (v *visit) resources(client discovery.DiscoveryInterface) map[string]string {
	v.Helper()
	_, lists, err := client.ServerGroupsAndResources()
	v.ok(err)
	found := map[string]string{}
	for _, list := range lists {
		for _, r := range list.APIResources {
			if strings.Contains(r.Name, "/") {
				r.SingularName = "" // client-go derives one from the aggregated document
			}
			found[list.GroupVersion+" "+r.Name] = fmt.Sprintln(r.Kind, r.ShortNames,
				slices.Sorted(slices.Values(r.Verbs)), r.Namespaced, r.SingularName)
		}
	}
	return found
}

// checkMapper maps kinds to resources, as controller-runtime and kubectl do.
func (v *visit) checkMapper(client discovery.DiscoveryInterface) {
	v.Helper()
	groups, err := restmapper.GetAPIGroupResources(client)
	v.ok(err)
	mapper := restmapper.NewDiscoveryRESTMapper(groups)
	for kind, want := range map[schema.GroupVersionKind]string{
		corev1.SchemeGroupVersion.WithKind("ConfigMap"):              "configmaps",
		boats.GroupVersion().WithKind("Boat"):                        "boats",
		{Group: "events.k8s.io", Version: "v1", Kind: "Event"}:       "events",
		{Group: "coordination.k8s.io", Version: "v1", Kind: "Lease"}: "leases",
	} {
		mapping, err := mapper.RESTMapping(kind.GroupKind(), kind.Version)
		v.ok(err)
		if mapping.Resource.Resource != want {
			v.Errorf("%v is mapped to %v", kind, mapping.Resource)
		}
	}
}
