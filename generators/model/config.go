package model

import "slices"

// Config says what to load. The zero value of each field is the default of
// code-generator.
type Config struct {
	// Dir is the folder in which patterns are resolved, "" for the working directory.
	Dir string
	// Inputs are the packages, in order.
	Inputs []Input
	// Generators are the generators that the model is for: some input breaks one
	// generator and is harmless for another. Zero means all.
	Generators Generators
	// PluralExceptions maps the names of types to their plurals.
	PluralExceptions map[string]string
	// IncludedTypes replaces +genclient in a group version: it maps
	// "group/version" to the names of the types that get a client.
	IncludedTypes map[string][]string
	// AppliedElsewhere are types whose apply configurations exist in another
	// package. The apply configurations of types that refer to them use those.
	AppliedElsewhere []TypeName
	// CopiesFile and RegistersFile are the names of the files for deep copies and
	// registrations, unless Strict: then the file that a package has is kept.
	CopiesFile, RegistersFile string
	// ReplaceControllerGen has deep copies made for packages for which controller-gen made
	// them. Otherwise a warning says that there are none.
	ReplaceControllerGen bool
	// LintRules are the rules of --lint-rules; see [LintRules].
	LintRules []string
	// Strict makes input that code-generator accepts, but that has no meaning, an
	// error (command kubewright) rather than a warning (the compatible binaries).
	Strict bool
}

// Input is a package pattern. For client-gen's --input it also has the group and
// version that the flag gives the package.
type Input struct {
	// Pattern is an argument of go list: an import path, ./dir or ./dir/...
	Pattern string
	// Explicit is true if Group and Version come from a flag; otherwise they
	// follow from the import path.
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
	// ApplyConfigurations fills in API.Apply.
	ApplyConfigurations
	// Views fills in API.Types.
	Views
	// DeepCopies fills in API.Copies, Registrations API.Registrations. They have to be asked
	// for, as they need more than most packages have.
	DeepCopies
	Registrations
)

// helpers are the generators that write into API packages, and don't need resources.
const helpers = DeepCopies | Registrations

// makes reports whether a generator was asked for by name.
func (c *Config) makes(g Generators) bool { return c.Generators&g != 0 }

// has reports whether any generator of the set g is to run.
func (c *Config) has(g Generators) bool {
	return c.Generators == 0 || c.Generators&g != 0
}

// resources reports whether the names of resources matter: apply configurations have none,
// and applyconfiguration-gen can't be told plurals.
func (c *Config) resources() bool { return c.has(Clients | Listers | Informers) }

// wants reports whether a package gets a client, listers or informers. One that a
// flag names gets a client even without types: client-gen writes an empty one.
func (c *Config) wants(p *candidate) bool {
	if !(p.pkg.Client && c.has(Clients) || p.pkg.Lister && c.has(Listers) ||
		p.pkg.Informer && c.has(Informers)) {
		return false
	}
	return len(p.kinds) > 0 || p.input.Explicit && !c.Strict
}

// wantsApply reports whether a package gets apply configurations.
func (c *Config) wantsApply(p *candidate) bool {
	return c.has(ApplyConfigurations) && !p.tags.OptsOut("applyconfiguration-gen")
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
