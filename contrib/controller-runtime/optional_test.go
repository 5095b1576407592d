package kwctrl

import (
	"slices"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/rest"
	toolscache "k8s.io/client-go/tools/cache"
	"sigs.k8s.io/controller-runtime/pkg/cache"

	"github.com/kubewright/kubewright/runtime/informer"
	"github.com/kubewright/kubewright/runtime/optional"
)

var (
	boat  = schema.GroupVersionKind{Group: "harbour.example", Version: "v1", Kind: "Boat"}
	boat2 = schema.GroupVersionKind{Group: "harbour.example", Version: "v2", Kind: "Boat"}
	quay  = schema.GroupVersionKind{Group: "harbour.example", Version: "v1", Kind: "Quay"}
)

// TestOptionalMapper checks what the mapper of a cache answers for optional kinds, and that it asks the
// manager's for others.
func TestOptionalMapper(t *testing.T) {
	served := meta.NewDefaultRESTMapper(nil)
	served.Add(quay, meta.RESTScopeRoot)
	if plain := (&optionals{}).mapper(served); plain != meta.RESTMapper(served) {
		t.Error("without optional kinds the mapper is another")
	}
	m := (&optionals{kinds: []Kind{
		{GVK: boat, Resource: "boats", Namespaced: true}, {GVK: boat2, Resource: "ships"},
	}}).mapper(served)
	for _, test := range []struct {
		kind     schema.GroupVersionKind
		resource string
		scope    meta.RESTScopeName
	}{
		{boat, "boats", meta.RESTScopeNameNamespace},
		{boat2, "ships", meta.RESTScopeNameRoot},
		{quay, "quaies", meta.RESTScopeNameRoot}, // as the default mapper guesses
		{boat.GroupKind().WithVersion(""), "boats", meta.RESTScopeNameNamespace},
	} {
		var versions []string
		if test.kind.Version != "" {
			versions = []string{test.kind.Version}
		}
		mapping, err := m.RESTMapping(test.kind.GroupKind(), versions...)
		if err != nil || mapping.Scope.Name() != test.scope ||
			mapping.Resource.Resource != test.resource && test.kind != quay {
			t.Errorf("%v is %+v: %v", test.kind, mapping, err)
		}
	}
	all, err := m.RESTMappings(boat.GroupKind(), "v2", "v1")
	if err != nil || len(all) != 2 || all[0].GroupVersionKind != boat2 || all[1].GroupVersionKind != boat {
		t.Errorf("the mappings are %v: %v", all, err)
	}
	if _, err := m.RESTMappings(quay.GroupKind(), "v1"); err != nil {
		t.Error(err)
	}
	if _, err := m.RESTMapping(boat.GroupKind(), "v3"); !meta.IsNoMatchError(err) {
		t.Errorf("another version: %v", err)
	}
}

// TestOptionalOptions checks what NewCache refuses, and which informers get Definitions.
func TestOptionalOptions(t *testing.T) {
	config := &rest.Config{Host: "http://127.0.0.1:1"}
	for text, options := range map[string]Options{
		"needs a version": {Optional: []Kind{{GVK: boat}}},
		"optional twice":  {Optional: []Kind{{GVK: boat, Resource: "a"}, {GVK: boat, Resource: "b"}}},
	} {
		_, err := NewCaches(options).NewCache(config, cache.Options{Mapper: meta.NewDefaultRESTMapper(nil)})
		if err == nil || !strings.Contains(err.Error(), text) {
			t.Errorf("the error is %v, want one with %q", err, text)
		}
	}
	kinds := []Kind{{GVK: boat, Resource: "boats"}}
	if _, err := NewCaches(Options{Optional: kinds}).NewCache(config, cache.Options{
		Mapper: meta.NewDefaultRESTMapper(nil), NewInformer: toolscache.NewSharedIndexInformer,
	}); err == nil {
		t.Error("a NewInformer is accepted")
	}

	c := NewCaches(Options{Optional: kinds})
	client, err := streaming(config, nil)
	if err != nil {
		t.Fatal(err)
	}
	own, err := c.newOptionals(config, client)
	if err != nil || own.definitions == nil {
		t.Fatal(own, err)
	}
	boats := kinds[0].resource()
	if got := own.options(informer.Options{}, boats, false); got.Definitions != own.definitions {
		t.Error("an optional kind has no definitions")
	}
	another := boat2.GroupVersion().WithResource("boats")
	if got := own.options(informer.Options{}, another, false); got.Definitions != nil {
		t.Error("another version has definitions")
	}
	given, err := optional.NewDefinitions(config)
	if err != nil {
		t.Fatal(err)
	}
	if got := own.options(informer.Options{Definitions: given}, boats, true); got.Definitions != given {
		t.Error("definitions of an override are replaced")
	}
	shared, err := NewCaches(Options{Optional: kinds, Options: informer.Options{Definitions: given}}).
		newOptionals(config, client)
	if err != nil || shared.definitions != given {
		t.Error("the options' definitions aren't used")
	}
	for overridden, want := range map[bool]definitions{false: nil, true: given} {
		got := shared.options(informer.Options{Definitions: given}, another, overridden)
		if got.Definitions != want {
			t.Errorf("a kind that isn't optional, with an override %t: %v", overridden, got.Definitions)
		}
	}
	one := NewCaches(Options{Options: informer.Options{Definitions: given}})
	for host, isRefused := range map[string]bool{config.Host: false, "http://127.0.0.1:2": true} {
		if _, err := one.NewCache(config, cache.Options{Mapper: meta.NewDefaultRESTMapper(nil)}); err != nil {
			t.Error(err)
		}
		_, err := one.NewCache(&rest.Config{Host: host}, cache.Options{Mapper: meta.NewDefaultRESTMapper(nil)})
		if got := err != nil && strings.Contains(err.Error(), "Options.Definitions"); got != isRefused {
			t.Errorf("a cache of %s: %v", host, err)
		}
	}
	if !slices.Equal(shared.kinds, kinds) {
		t.Error("other kinds")
	}
}
