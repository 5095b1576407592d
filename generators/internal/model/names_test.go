package model

import (
	"go/parser"
	"go/token"
	"testing"

	"k8s.io/gengo/v2/namer"
)

func TestNames(t *testing.T) {
	n := newNamers(map[string]string{"Endpoints": "Endpoints", "DNS": "DNSes", "Tenant": "Namespace",
		"Selection": "Range"})
	for _, c := range []struct{ name, private, plural, privatePlural, lower, resource, file string }{
		{"Deployment", "deployment", "Deployments", "deployments", "deployment", "deployments", "deployment"},
		{"NetworkPolicy", "networkPolicy", "NetworkPolicies", "networkPolicies", "networkpolicy",
			"networkpolicies", "networkpolicy"},
		{"Gateway", "gateway", "Gateways", "gateways", "gateway", "gateways", "gateway"},
		{"Ingress", "ingress", "Ingresses", "ingresses", "ingress", "ingresses", "ingress"},
		{"Leaf", "leaf", "Leaves", "leaves", "leaf", "leaves", "leaf"},
		{"Endpoints", "endpoints", "Endpoints", "endpoints", "endpoints", "endpoints", "endpoints"},
		{"DNS", "dNS", "DNSes", "dNSes", "dns", "dnses", "dns"},
		{"CSIDriver", "cSIDriver", "CSIDrivers", "cSIDrivers", "csidriver", "csidrivers", "csidriver"},
		{"Tenant", "tenant", "Namespace", "tenantResources", "tenant", "namespace", "tenant"},
		{"Selection", "selection", "Range", "selectionResources", "selection", "range", "selection"},
		{"Doc", "doc", "Docs", "docs", "doc", "docs", "doc_kind"},
		{"Foo_Spec", "foo_Spec", "Foo_Specs", "foo_Specs", "foo_spec", "foo_specs", "foo_spec"},
		{"Foo_Windows", "foo_Windows", "Foo_Windowses", "foo_Windowses", "foo_windows", "foo_windowses",
			"foo_windows_kind"},
		{"Foo_Arm64", "foo_Arm64", "Foo_Arm64s", "foo_Arm64s", "foo_arm64", "foo_arm64s", "foo_arm64_kind"},
		{"Unit_Test", "unit_Test", "Unit_Tests", "unit_Tests", "unit_test", "unit_tests", "unit_test_kind"},
	} {
		kind := &Kind{Name: c.name}
		n.name(kind, "example.com/foo/v1", "")
		got := []string{kind.Private, kind.Plural, kind.PrivatePlural, kind.Lower, kind.Resource, kind.File}
		for i, want := range []string{c.private, c.plural, c.privatePlural, c.lower, c.resource, c.file} {
			if got[i] != want {
				t.Errorf("%s: got %v, want %q at %d", c.name, got, want, i)
			}
		}
	}
	event := &Kind{Name: "Event"}
	n.name(event, "k8s.io/apis/events/v1beta1", "things")
	if event.PrivatePlural != "eventResources" || event.Resource != "things" ||
		event.LowerPlural != "events" {
		t.Errorf("got %+v", event)
	}
}

// FuzzGroupNames checks that the Go names of groups are upstream's if those are identifiers, and that all
// returned names are identifiers.
func FuzzGroupNames(f *testing.F) {
	for _, seed := range []string{
		"", "apps", "cert-manager.io", "3scale.net", "type", "main", "-", "ä.b", "_",
		"internal.apiserver.k8s.io", "a--b",
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, group string) {
		name, ok := goName(group)
		if ok != exportedIdentifier(name) {
			t.Errorf("%q: %q is reported as %v", group, name, ok)
		}
		if upstream := namer.IC(group); exportedIdentifier(upstream) && name != upstream {
			t.Errorf("%q: got %q, upstream has %q", group, name, upstream)
		}
		pkg := goPackage(group)
		if !token.IsIdentifier(pkg) || pkg == "_" {
			t.Errorf("%q: %q is no package name", group, pkg)
		}
		if _, err := parser.ParseFile(token.NewFileSet(), "", "package "+pkg+"\n", 0); err != nil {
			t.Errorf("%q: %v", group, err)
		}
	})
}
