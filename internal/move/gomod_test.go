package move

import (
	"strings"
	"testing"

	"golang.org/x/mod/modfile"
)

// TestRaises checks which modules are raised together.
func TestRaises(t *testing.T) {
	for name, test := range map[string]struct{ require, want string }{
		"nothing":        {"k8s.io/client-go v0.37.2\nk8s.io/klog/v2 v2.140.0", ""},
		"a patch":        {"k8s.io/client-go v0.37.0\nk8s.io/api v0.37.3", "client-go v0.37.2"},
		"a new module":   {"k8s.io/client-go v0.36.0\nk8s.io/new v0.36.0", "client-go v0.37.2 new v0.37.2"},
		"another scheme": {"k8s.io/client-go v0.36.0\nk8s.io/release v0.18.0", "client-go v0.37.2"},
		"one is behind":  {"k8s.io/client-go v0.37.2\nk8s.io/apiserver v0.36.0 // indirect", "apiserver v0.37.2"},
		"kubernetes": {"k8s.io/client-go v0.36.4\nk8s.io/kubernetes v1.36.4",
			"client-go v0.37.2 kubernetes v1.37.2"},
		"controller-runtime": {"k8s.io/client-go v0.37.2\nsigs.k8s.io/controller-runtime v0.24.1",
			"controller-runtime v0.25.2"},
		"pins": {"k8s.io/client-go v0.36.0\nreplace k8s.io/client-go => k8s.io/client-go v0.35.1\n" +
			"k8s.io/gone => k8s.io/gone v0.35.1\nk8s.io/kubernetes => k8s.io/kubernetes v1.35.1\n" +
			"k8s.io/api => k8s.io/api v0.37.2\nk8s.io/kubectl => example.com/kubectl v0.35.1\n" +
			"k8s.io/metrics v0.36.0 => k8s.io/metrics v0.35.1",
			"client-go replaced v0.37.2 kubernetes replaced v1.37.2"},
		"nothing to raise, and a pin is missing": {"k8s.io/client-go v0.37.2\nk8s.io/kubernetes v1.37.2\n" +
			"replace k8s.io/client-go => k8s.io/client-go v0.37.2", ""},
		"a newer pin": {"k8s.io/client-go v0.37.2\nreplace k8s.io/client-go => k8s.io/client-go v0.38.1", "error"},
	} {
		text := "module example.com/x\nrequire (\n" + test.require + "\n)\n"
		if require, replace, both := strings.Cut(test.require, "\nreplace "); both {
			text = "module example.com/x\nrequire (\n" + require + "\n)\nreplace (\n" + replace + "\n)\n"
		}
		mod, err := modfile.Parse("go.mod", []byte(text), nil)
		if err != nil {
			t.Fatal(err)
		}
		raises, err := Raises(mod, "v0.37.2", "v0.25.2")
		var got []string
		for _, r := range raises {
			name := r.Path[strings.LastIndex(r.Path, "/")+1:]
			if r.Replaces {
				name += " replaced"
			}
			got = append(got, name+" "+r.To)
		}
		if test.want == "error" {
			if err == nil || !strings.Contains(err.Error(), "client-go v0.38.1, which is newer") {
				t.Errorf("%s: %v", name, err)
			}
			continue
		}
		if err != nil || strings.Join(got, " ") != test.want {
			t.Errorf("%s: %v %v, want %s", name, err, got, test.want)
		}
	}
}

// TestNewPin checks that a go.mod gets a replacement of each module of the release, also of those that only
// the new k8s.io/kubernetes requires, in a version that doesn't exist.
func TestNewPin(t *testing.T) {
	text := "module example.com/x\n\nrequire (\n\tk8s.io/client-go v0.34.5\n\tk8s.io/kubernetes v1.34.5\n)\n"
	for name := range strings.FieldsSeq(released) {
		if name != "cri-streaming" {
			text += "\nreplace k8s.io/" + name + " => k8s.io/" + name + " v0.34.5\n"
		}
	}
	mod, err := modfile.Parse("go.mod", []byte(text), nil)
	if err != nil {
		t.Fatal(err)
	}
	raises, err := Raises(mod, "v0.37.2", "v0.25.2")
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range raises {
		if r.Path != kubernetes && (!r.Replaces || (r.From == "") != (r.Path == "k8s.io/cri-streaming")) {
			t.Errorf("%+v", r)
		}
		if err := r.apply(mod); err != nil {
			t.Error(err)
		}
	}
	for name := range strings.FieldsSeq(released) {
		if pin := pinOf(mod, "k8s.io/"+name); pin == nil || pin.New.Version != "v0.37.2" {
			t.Errorf("the replacement of %s is %v", name, pin)
		}
	}
	if raises, err := Raises(mod, "v0.37.2", "v0.25.2"); err != nil || len(raises) > 0 {
		t.Errorf("the second time: %v, %v", raises, err)
	}
}

// TestRequireOurs checks requirements and replacements of our modules, and that they go together.
func TestRequireOurs(t *testing.T) {
	const before = "module example.com/x\n\ngo 1.26.0\n"
	for name, test := range map[string]struct {
		version, clone string
		modules        []string
		want           string
	}{
		"a release": {"v0.37.1", "", []string{own, ownManagers}, `
require (
	github.com/kubewright/kubewright v0.37.1
	github.com/kubewright/kubewright/contrib/controller-runtime v0.37.1
)
`},
		"a clone beside": {"v0.0.0", "../kubewright", []string{own}, `
require github.com/kubewright/kubewright v0.0.0

replace github.com/kubewright/kubewright => ../kubewright
`},
		"a clone inside": {"v0.0.0", "kubewright", []string{ownManagers}, `
require github.com/kubewright/kubewright/contrib/controller-runtime v0.0.0

replace github.com/kubewright/kubewright => ./kubewright

replace github.com/kubewright/kubewright/contrib/controller-runtime => ./kubewright/contrib/controller-runtime

replace github.com/kubewright/kubewright/contrib/prometheus => ./kubewright/contrib/prometheus
`},
	} {
		mod, err := modfile.Parse("go.mod", []byte(before), nil)
		if err != nil {
			t.Fatal(err)
		}
		if err := requireOurs(mod, test.version, test.clone, test.modules); err != nil {
			t.Fatal(err)
		}
		text, err := formatted(mod)
		if err != nil || string(text) != before+test.want {
			t.Errorf("%s: %v\n%s", name, err, text)
		}
		if err := dropOurs(mod); err != nil {
			t.Fatal(err)
		}
		if text, err = formatted(mod); err != nil || string(text) != before {
			t.Errorf("%s, dropped: %v\n%s", name, err, text)
		}
	}
}

// TestRequireNewer checks that all of our modules in a go.mod are raised, and that none is lowered.
func TestRequireNewer(t *testing.T) {
	const before = "module example.com/x\n\nrequire (\n\t" + own + " v0.37.1 // indirect\n\t" + ownMetrics +
		" v0.37.3\n)\n"
	mod, err := modfile.Parse("go.mod", []byte(before), nil)
	if err != nil {
		t.Fatal(err)
	}
	if err := requireOurs(mod, "v0.37.2", "", []string{ownMetrics}); err != nil {
		t.Fatal(err)
	}
	text, err := formatted(mod)
	if want := strings.Replace(before, "v0.37.1", "v0.37.2", 1); err != nil || string(text) != want {
		t.Errorf("%v\n%s\nwant\n%s", err, text, want)
	}
}
