package generators

import (
	"encoding/csv"
	"fmt"
	"go/token"
	"path"
	"slices"
	"strings"

	"github.com/spf13/pflag"

	"github.com/kubewright/kubewright/generators/internal/model"
)

// A flag that a compatible command and kubewright share is declared once, by the options
// that it sets. Names, forms and defaults are those of cmd/*/args in code-generator.

// AddFlags adds the flags for reading the input, for commands that generate resources.
func (c *Config) AddFlags(fs *pflag.FlagSet) {
	c.addInputFlags(fs)
	fs.StringSliceVar(&c.PluralExceptions, "plural-exceptions", nil,
		"plurals that the rules of English get wrong, in the form Type:PluralizedType, separated by commas")
}

// addInputFlags adds those flags of AddFlags that also apply to types that are not resources.
func (c *Config) addInputFlags(fs *pflag.FlagSet) {
	fs.StringVar(&c.HeaderFile, "go-header-file", "",
		"a file with text for the top of each file; YEAR in it becomes the current year")
	fs.StringSliceVar(&c.LintRules, "lint-rules", nil,
		"rules to check tags by, separated by commas: "+strings.Join(model.LintRules(), ", "))
}

// includedTypesFlag adds a flag whose value includedTypes parses.
func includedTypesFlag(fs *pflag.FlagSet, values *[]string) {
	fs.StringSliceVar(values, "included-types-overrides", nil,
		"types in the form group/version/type, separated by commas; in the group versions among them only "+
			"these types get a client")
}

// addFlags adds the flags of clientsets.
func (o *ClientOptions) addFlags(fs *pflag.FlagSet) {
	fs.StringVar(&o.APIPath, "clientset-api-path", "/apis",
		"the root path of requests, with a / at the start and none at the end")
	fs.BoolVar(&o.Fake, "fake-clientset", true, "also generate a fake clientset for tests")
	fs.StringVar(&o.ApplyConfigurationPackage, "apply-configuration-package", "",
		"the import path of existing apply configurations; clients have Apply methods only if there are "+
			"apply configurations")
	fs.BoolVar(&o.PrefersProtobuf, "prefers-protobuf", false,
		"send and request protobuf by default (custom resources don't have it)")
	fs.BoolVar(&o.Lean, "lean", false,
		"leave Discovery and the Apply methods out of the clientset, which halves the size of small programs")
}

// addFlags adds the flags of listers.
func (o *ListerOptions) addFlags(fs *pflag.FlagSet) {
	fs.BoolVar(&o.ReadOnlyViews, "read-only-views", false,
		"also generate listers of read-only views of objects")
}

// addFlags adds the flags of informers.
func (o *InformerOptions) addFlags(fs *pflag.FlagSet) {
	fs.BoolVar(&o.SingleDirectory, "single-directory", false,
		"leave out the folders externalversions and internalversion")
	fs.BoolVar(&o.Metadata, "metadata-informers", false,
		"also generate informers and listers that keep only the metadata of objects")
	fs.StringVar(&o.InternalClientset, "internal-clientset-package", "",
		"the import path of the clientset for internal types (kubewright's default: the generated clientset)")
}

// addFlags adds the flags of apply configurations, whose names differ between
// applyconfiguration-gen and kubewright.
func (o *ApplyOptions) addFlags(fs *pflag.FlagSet, external, openAPI string) {
	o.Externals = map[model.TypeName]string{}
	fs.Var(externalsValue(o.Externals), external,
		"existing apply configurations of types in other packages, in the form package.Type:package, "+
			"separated by commas")
	fs.StringVar(&o.OpenAPISchema, openAPI, "",
		"a file with an OpenAPI v2 document that has the types "+
			"(default: the schema follows from the Go types)")
}

// addFlags adds the flag of functions that set defaults.
func (o *DefaulterOptions) addFlags(fs *pflag.FlagSet) {
	fs.StringSliceVar(&o.Peers, "extra-peer-dirs", nil,
		"import paths of further packages with functions that set defaults, separated by commas")
}

// LintRules are the values of --lint-rules.
func LintRules() []string { return model.LintRules() }

// validateLint checks the values of --lint-rules.
func (c *Config) validateLint() error {
	for _, rule := range c.LintRules {
		if rules := model.LintRules(); !slices.Contains(rules, rule) {
			return fmt.Errorf("unrecognized rule in --lint-rules: %s; there are %s", rule,
				strings.Join(rules, ", "))
		}
	}
	return nil
}

// validateClientsetName requires a name that can be used in a package clause.
func validateClientsetName(name string) error {
	if !token.IsIdentifier(name) || name == "_" {
		return fmt.Errorf("--clientset-name %s is not a valid name for a Go package", name)
	}
	return nil
}

// packageInputs are the positional arguments as inputs. Without any it is the package in
// the working directory, as for all go commands.
func packageInputs(patterns []string) []Input {
	if len(patterns) == 0 {
		patterns = []string{"."}
	}
	var inputs []Input
	for _, pattern := range patterns {
		inputs = append(inputs, Input{Pattern: pattern})
	}
	return inputs
}

// externalsValue is the value of --external-applyconfigurations. The form, and the
// messages, are those of applyconfiguration-gen's externaltypes.go.
type externalsValue map[model.TypeName]string

// Type, String and Set implement [pflag.Value]. The type is "string", as upstream's help has it.
func (e externalsValue) Type() string { return "string" }

func (e externalsValue) String() string {
	var entries []string
	for name, pkg := range e {
		entries = append(entries, name.Path+"."+name.Name+":"+pkg)
	}
	slices.Sort(entries)
	return strings.Join(entries, ",")
}

func (e externalsValue) Set(value string) error {
	if value == "" {
		return nil
	}
	// One CSV record for each occurrence of the flag, like pflag's slices.
	entries, err := csv.NewReader(strings.NewReader(value)).Read()
	if err != nil {
		return err
	}
	defaults := defaultExternals()
	for _, entry := range entries {
		typ, pkg, ok := strings.Cut(entry, ":")
		if !ok || strings.Contains(pkg, ":") {
			return fmt.Errorf(
				"expected string of the form <package>.<typeName>:<applyconfiguration-package> but got %s",
				entry)
		}
		// The last dot: those before it are in the import path.
		dot := strings.LastIndex(typ, ".")
		if dot < 0 || dot == len(typ)-1 {
			return fmt.Errorf("expected package and type of the form <package>.<typeName> but got %s", typ)
		}
		name := model.TypeName{Path: typ[:dot], Name: typ[dot+1:]}
		if e[name] != "" || defaults[name] != "" {
			return fmt.Errorf("duplicate type found: %v", typ)
		}
		e[name] = pkg
	}
	return nil
}

// groupVersionInputs are the inputs of --input: group/version below --input-base, after
// any number of folders. Without a version the types are internal ones.
func groupVersionInputs(base string, values []string) []Input {
	var inputs []Input
	for _, value := range values {
		folder, groupVersion := "", value
		if parts := strings.Split(value, "/"); len(parts) > 2 {
			folder, groupVersion = path.Join(parts[:len(parts)-2]...), strings.Join(parts[len(parts)-2:], "/")
			if strings.HasPrefix(value, "/") {
				folder = "/" + folder
			}
		}
		group, version, _ := strings.Cut(groupVersion, "/")
		inputs = append(inputs, Input{
			Pattern:  path.Join(base, folder, model.NonEmptyGroup(group), version),
			Explicit: true, Group: group, Version: version,
		})
	}
	return inputs
}

// includedTypes parses --included-types-overrides.
func includedTypes(values []string) (map[string][]string, error) {
	included := map[string][]string{}
	for _, value := range values {
		parts := strings.Split(value, "/")
		switch len(parts) {
		case 2: // group/type
			parts = []string{parts[0], "", parts[1]}
		case 3: // group/version/type
		default:
			return nil, fmt.Errorf("--included-types-overrides: %q is not of the form group/version/type", value)
		}
		groupVersion := parts[0] + "/" + parts[1]
		included[groupVersion] = append(included[groupVersion], parts[2])
	}
	return included, nil
}
