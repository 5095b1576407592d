package crd

import "testing"

// TestPlural checks some plurals. test/controllergen compares many with the library that controller-gen has.
func TestPlural(t *testing.T) {
	for kind, want := range map[string]string{"Index": "indices", "Proof": "proofs", "PodInfo": "podinfoes",
		"Metadata": "metadata", "DNS": "dnses", "PodDns": "poddnsdnses", "Policy": "policies", "Series": "series",
		"ServiceAlias": "servicealiases", "Mouse": "mice", "HorizontalPod": "horizontalpods"} {
		if got := Plural(kind); got != want {
			t.Errorf("the plural of %s is %s, not %s", kind, got, want)
		}
	}
}

// TestShorten checks how descriptions are cut off.
func TestShorten(t *testing.T) {
	for _, c := range []struct {
		text  string
		limit int
		want  string
	}{
		{"One. Two three.", -1, "One. Two three."}, {"One. Two three.", 0, ""}, {"One. Two three.", 12, "One."},
		{"One two three", 8, "One two..."}, {"Onetwothree", 4, "Onet..."}, {"One", 3, "One"},
	} {
		if got := shorten(c.text, c.limit); got != c.want {
			t.Errorf("%q is %q with a limit of %d, not %q", c.text, got, c.limit, c.want)
		}
	}
}
