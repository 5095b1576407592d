package model

import "slices"

// Config says what to load. The zero value of each field is upstream's default.
type Config struct {
	// Dir is the folder in which patterns are resolved; "" is the working directory.
	Dir string
	// Inputs name the packages, in order.
	Inputs []Input
	// Generators say what the model is for: some input is wrong for one
	// generator and harmless for another. Zero means all.
	Generators Generators
	// PluralExceptions maps type names to their plurals.
	PluralExceptions map[string]string
	// IncludedTypes overrides +genclient for a group version: "group/version" to type names.
	IncludedTypes map[string][]string
	// AppliedElsewhere are types that have apply configurations in some other
	// package, for which types that lead to them use those.
	AppliedElsewhere []TypeName
	// LintRules are upstream's --lint-rules.
	LintRules []string
	// Strict turns what upstream takes, but can't mean anything, into errors
	// (the command kubewright); otherwise those are warnings.
	Strict bool
}

// Input is a package pattern, and for client-gen's --input the group and
// version that the flag gave it.
type Input struct {
	// Pattern is what go list takes: an import path, ./dir, ./dir/...
	Pattern string
	// Explicit is true when Group and Version come from a flag.
	Explicit       bool
	Group, Version string
}

// Generators is a set of generators.
type Generators uint8

// The generators that a model can be for.
const (
	Clients Generators = 1 << iota
	Listers
	Informers
	// ApplyConfigurations are also what fills in API.Apply.
	ApplyConfigurations
	// Views are what fills in API.Types.
	Views
)

// has reports whether any of g is to run.
func (c *Config) has(g Generators) bool {
	return c.Generators == 0 || c.Generators&g != 0
}

// patterns are the distinct patterns of the inputs.
func (c *Config) patterns() []string {
	var patterns []string
	for _, input := range c.Inputs {
		if !slices.Contains(patterns, input.Pattern) {
			patterns = append(patterns, input.Pattern)
		}
	}
	return patterns
}
