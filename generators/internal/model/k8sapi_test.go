package model

import (
	"maps"
	"slices"
	"testing"
)

// k8sAPI are the packages of k8s.io/api v0.37.2 that client-go has clients for.
var k8sAPI = []string{
	"admissionregistration/v1", "admissionregistration/v1alpha1", "admissionregistration/v1beta1",
	"apiserverinternal/v1alpha1", "apps/v1", "apps/v1beta1", "apps/v1beta2", "authentication/v1",
	"authentication/v1alpha1", "authentication/v1beta1", "authorization/v1", "authorization/v1beta1",
	"autoscaling/v1", "autoscaling/v2", "batch/v1", "batch/v1beta1", "certificates/v1",
	"certificates/v1alpha1", "certificates/v1beta1", "coordination/v1", "coordination/v1alpha2",
	"coordination/v1beta1", "core/v1", "discovery/v1", "discovery/v1beta1", "events/v1", "events/v1beta1",
	"extensions/v1beta1", "flowcontrol/v1", "flowcontrol/v1beta1", "flowcontrol/v1beta2",
	"flowcontrol/v1beta3", "lifecycle/v1alpha1", "networking/v1", "networking/v1beta1", "node/v1",
	"node/v1alpha1", "node/v1beta1", "policy/v1", "policy/v1beta1", "rbac/v1", "rbac/v1alpha1",
	"rbac/v1beta1", "resource/v1", "resource/v1alpha3", "resource/v1beta1", "resource/v1beta2",
	"scheduling/v1", "scheduling/v1alpha3", "scheduling/v1beta1", "storage/v1", "storage/v1alpha1",
	"storage/v1beta1", "storagemigration/v1", "storagemigration/v1beta1",
}

func k8sConfig() Config {
	cfg := Config{Strict: true, PluralExceptions: map[string]string{"Endpoints": "Endpoints"}}
	for _, p := range k8sAPI {
		cfg.Inputs = append(cfg.Inputs, Input{Pattern: "k8s.io/api/" + p})
	}
	return cfg
}

func TestLoadKubernetes(t *testing.T) {
	api, problems := Load(t.Context(), k8sConfig())
	if len(problems) > 0 {
		t.Errorf("problems:\n%v", problems)
	}
	if api == nil {
		t.FailNow()
	}
	versions, kinds := 0, 0
	for _, group := range api.Groups {
		for _, version := range group.Versions {
			versions++
			kinds += len(version.Kinds)
		}
	}
	if versions != 55 || kinds != 162 {
		t.Errorf("got %d versions and %d kinds, want 55 and 162", versions, kinds)
	}
}

// TestOneCall checks that the go command isn't called again: that takes as long as reading all of
// k8s.io/api.
func TestOneCall(t *testing.T) {
	cfg := k8sConfig()
	cfg.Generators = Clients | Listers | Informers | ApplyConfigurations | Views
	s := newSession(t.Context(), cfg)
	s.readAPI(&API{}, s.parse(s.find()))
	if len(s.Problems) > 0 {
		t.Errorf("problems:\n%v", s.Problems)
	}
	if len(s.found) > 0 {
		t.Errorf("asked for %s", slices.Sorted(maps.Keys(s.found)))
	}
}

// BenchmarkLoadKubernetes loads all of k8s.io/api, go list included.
func BenchmarkLoadKubernetes(b *testing.B) {
	cfg := k8sConfig()
	for b.Loop() {
		if _, problems := Load(b.Context(), cfg); problems.Fatal() {
			b.Fatal(problems)
		}
	}
}
