package crds

import (
	"math"
	"testing"

	"github.com/kubewright/kubewright/generators/internal/crd"
)

// TestRaw counts the values that stay JSON, by reason. Where the schema itself allows anything that can't be
// avoided. All others together must be less than one in a hundred.
func TestRaw(t *testing.T) {
	var defs []*crd.Definition
	for _, m := range manifests(t, *modules, math.MaxInt) {
		defs = append(defs, m.def)
	}
	all, problems := crd.Options{WellKnown: true}.Types(defs)
	if problems.Fatal() {
		t.Fatal(problems)
	}
	values, others := 0, 0
	reasons := map[string]int{}
	for _, types := range all {
		values += types.Values
		for _, raw := range types.Raw {
			reasons[raw.Reason]++
			if raw.Reason != crd.RawAnyValue && raw.Reason != crd.RawMoreFields {
				others++
			}
			if raw.Reason != crd.RawAnyValue {
				t.Logf("%s %s/%s %s: %s", types.Kind, types.Group, types.Name, raw.Path, raw.Reason)
			}
		}
	}
	t.Logf("%d values, raw by reason: %v", values, reasons)
	if values == 0 || others*100 > values {
		t.Errorf("%d of %d values are raw without x-kubernetes-preserve-unknown-fields", others, values)
	}
}
