package apply_test

import (
	"encoding/json"
	"fmt"

	"github.com/kubewright/kubewright/runtime/gen/apply"
)

// ovenConfiguration is a small example of what applyconfiguration-gen makes from a type: a field that isn't
// set isn't sent.
type ovenConfiguration struct {
	Fuel   *string           `json:"fuel,omitempty"`
	Trays  []string          `json:"trays,omitempty"`
	Labels map[string]string `json:"labels,omitempty"`
}

func (b *ovenConfiguration) withFuel(value string) *ovenConfiguration {
	return apply.Set(b, &b.Fuel, &value)
}

func (b *ovenConfiguration) withTrays(values ...string) *ovenConfiguration {
	return apply.Append(b, &b.Trays, values)
}

func (b *ovenConfiguration) withLabels(entries map[string]string) *ovenConfiguration {
	return apply.Merge(b, &b.Labels, entries)
}

// Generated setters are one call each, and chain.
func Example() {
	oven := new(ovenConfiguration).withFuel("wood").withTrays("top").withTrays("bottom").
		withLabels(map[string]string{"market": "square"})
	text, err := json.Marshal(oven)
	fmt.Println(string(text), err)
	// Output: {"fuel":"wood","trays":["top","bottom"],"labels":{"market":"square"}} <nil>
}
