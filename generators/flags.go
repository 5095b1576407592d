package generators

import (
	"encoding/csv"
	"errors"
	"fmt"
	"go/token"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/pflag"

	"github.com/kubewright/kubewright/generators/model"
)

// common are the flags that all of code-generator's binaries have.
type common struct {
	dir, pkg string
	Config
}

func (c *common) add(fs *pflag.FlagSet) {
	c.addOutput(fs)
	c.addPlurals(fs)
}

// addOutput adds those of them that have nothing to do with resources.
func (c *common) addOutput(fs *pflag.FlagSet) {
	fs.StringVar(&c.dir, "output-dir", "", "the folder to write to")
	fs.StringVar(&c.pkg, "output-pkg", "", "the import path of that folder")
	c.addInput(fs)
}

// AddFlags adds the flags that say how to read the input, whatever is made of it.
func (c *Config) AddFlags(fs *pflag.FlagSet) {
	c.addInput(fs)
	c.addPlurals(fs)
}

func (c *Config) addPlurals(fs *pflag.FlagSet) {
	fs.StringSliceVar(&c.PluralExceptions, "plural-exceptions", nil, "plurals that the rules of English get wrong, in the form Type:PluralizedType, separated by commas")
}

func (c *Config) addInput(fs *pflag.FlagSet) {
	fs.StringVar(&c.HeaderFile, "go-header-file", "", "a file with text for the top of each file; YEAR in it becomes the current year")
	fs.StringSliceVar(&c.LintRules, "lint-rules", nil, "rules to check tags by, separated by commas: "+strings.Join(model.LintRules(), ", "))
}

// validate checks what upstream checks, in its order.
func (c *common) validate(required ...requirement) error {
	for _, r := range append([]requirement{{"output-dir", c.dir}, {"output-pkg", c.pkg}}, required...) {
		if r.value == "" {
			return fmt.Errorf("--%s must be specified", r.flag)
		}
	}
	return c.validateLint()
}

type requirement struct{ flag, value string }

func (c *Config) validateLint() error {
	for _, rule := range c.LintRules {
		if !slices.Contains(model.LintRules(), rule) {
			return fmt.Errorf("unrecognized rule in --lint-rules: %s; there are %s", rule, strings.Join(model.LintRules(), ", "))
		}
	}
	return nil
}

// validateClientsetName wants a name that can stand in a package clause.
func validateClientsetName(name string) error {
	if !token.IsIdentifier(name) || name == "_" {
		return fmt.Errorf("--clientset-name %s is no name for a Go package", name)
	}
	return nil
}

// packageInputs are the positional arguments as inputs. Without any it is the
// package in the working directory, as for all go commands.
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

// leanUsage is the help of a flag that upstream doesn't have.
const leanUsage = "leave Discovery and the Apply methods out of the clientset, which halves the size of small programs"

// NewClientGen returns the command client-gen.
func NewClientGen() *Tool {
	t := newTool(clientGenName)
	var c common
	var o ClientOptions
	var base, name string
	var inputs, overrides []string
	c.add(t.flags)
	t.flags.StringSliceVar(&inputs, "input", nil, "the group versions to make clients for, in the form group1/version1,group2/version2")
	t.flags.StringVar(&base, "input-base", "k8s.io/kubernetes/pkg/apis", "the path below which --input is looked for")
	t.flags.StringSliceVar(&overrides, "included-types-overrides", nil, "types in the form group/version/type, separated by commas; for the group versions among them these types get a client, and no others")
	t.flags.StringVarP(&name, "clientset-name", "n", "internalclientset", "the name of the clientset's package")
	t.flags.StringVar(&o.APIPath, "clientset-api-path", "/apis", "the path that requests begin with, beginning with / and not ending in it")
	t.flags.BoolVar(&o.ClientsetOnly, "clientset-only", false, "leave out the typed clients")
	t.flags.BoolVar(&o.Fake, "fake-clientset", true, "make a fake clientset for tests, too")
	t.flags.StringVar(&o.ApplyConfigurationPackage, "apply-configuration-package", "", "the import path of apply configurations, made by applyconfiguration-gen; without it there are no Apply methods")
	t.flags.BoolVar(&o.PrefersProtobuf, "prefers-protobuf", false, "send and ask for protobuf by default")
	t.flags.BoolVar(&o.Lean, "lean", false, leanUsage)
	t.flags.SetNormalizeFunc(func(_ *pflag.FlagSet, flag string) pflag.NormalizedName {
		if flag == "clientset-path" { // its name of old
			flag = "output-pkg"
		}
		return pflag.NormalizedName(flag)
	})
	t.config = func([]string) (Config, error) {
		if err := c.validate(requirement{"clientset-name", name}); err != nil {
			return Config{}, err
		}
		if err := validateClientsetName(name); err != nil {
			return Config{}, err
		}
		if o.APIPath == "" {
			return Config{}, errors.New("--clientset-api-path cannot be empty")
		}
		c.Inputs = groupVersionInputs(base, inputs)
		var err error
		if c.IncludedTypes, err = includedTypes(overrides); err != nil {
			return Config{}, err
		}
		if len(inputs) == 0 {
			return Config{}, errors.New("no packages given; name group versions with --input, as in --input=example/v1, and the path before them with --input-base")
		}
		o.Dir, o.Package = filepath.Join(c.dir, name), path.Join(c.pkg, name)
		c.Client = &o
		return c.Config, nil
	}
	return t
}

// viewsUsage is the help of another.
const viewsUsage = "make listers of read-only views of objects, too"

// NewListerGen returns the command lister-gen.
func NewListerGen() *Tool {
	t := newTool(listerGenName)
	var c common
	var o ListerOptions
	c.add(t.flags)
	t.flags.BoolVar(&o.ReadOnlyViews, "read-only-views", false, viewsUsage)
	t.config = func(patterns []string) (Config, error) {
		c.Inputs = packageInputs(patterns)
		o.Dir, o.Package = c.dir, c.pkg
		c.Lister = &o
		return c.Config, c.validate()
	}
	return t
}

// metadataUsage is the help of another.
const metadataUsage = "make informers and listers that keep only the metadata of objects, too"

// NewInformerGen returns the command informer-gen.
func NewInformerGen() *Tool {
	t := newTool(informerGenName)
	var c common
	var o InformerOptions
	c.add(t.flags)
	t.flags.StringVar(&o.InternalClientset, "internal-clientset-package", "", "the import path of the clientset for internal types")
	t.flags.StringVar(&o.VersionedClientset, "versioned-clientset-package", "", "the import path of the clientset")
	t.flags.StringVar(&o.Listers, "listers-package", "", "the import path of the listers")
	t.flags.BoolVar(&o.Metadata, "metadata-informers", false, metadataUsage)
	t.flags.BoolVar(&o.SingleDirectory, "single-directory", false, "leave out the folders internalversion and externalversions")
	t.config = func(patterns []string) (Config, error) {
		c.Inputs = packageInputs(patterns)
		o.Dir, o.Package = c.dir, c.pkg
		c.Informer = &o
		return c.Config, c.validate(requirement{"versioned-clientset-package", o.VersionedClientset}, requirement{"listers-package", o.Listers})
	}
	return t
}

// NewApplyConfigurationGen returns the command applyconfiguration-gen.
func NewApplyConfigurationGen() *Tool {
	t := newTool(applyGenName)
	var c common
	var o ApplyOptions
	c.addOutput(t.flags)
	o.addFlags(t.flags, "external-applyconfigurations", "openapi-schema")
	t.config = func(patterns []string) (Config, error) {
		c.Inputs = packageInputs(patterns)
		o.Dir, o.Package = c.dir, c.pkg
		c.Apply = &o
		return c.Config, c.validate()
	}
	return t
}

// addFlags adds the flags that go by other names in kubewright.
func (o *ApplyOptions) addFlags(fs *pflag.FlagSet, external, openAPI string) {
	o.Externals = map[model.TypeName]string{}
	fs.Var(externals(o.Externals), external, "where the apply configurations of other packages' types are, in the form package.Type:package, separated by commas")
	fs.StringVar(&o.OpenAPISchema, openAPI, "", "a file with an OpenAPI v2 document that has the types (default: the schema follows from the Go types)")
}

// externals is the value of --external-applyconfigurations.
type externals map[model.TypeName]string

func (e externals) Type() string { return "string" }

func (e externals) String() string {
	var entries []string
	for name, pkg := range e {
		entries = append(entries, name.Path+"."+name.Name+":"+pkg)
	}
	slices.Sort(entries)
	return strings.Join(entries, ",")
}

func (e externals) Set(value string) error {
	if value == "" {
		return nil
	}
	entries, err := csv.NewReader(strings.NewReader(value)).Read()
	if err != nil {
		return err
	}
	defaults := defaultExternals()
	for _, entry := range entries {
		typ, pkg, ok := strings.Cut(entry, ":")
		if !ok || strings.Contains(pkg, ":") {
			return fmt.Errorf("expected string of the form <package>.<typeName>:<applyconfiguration-package> but got %s", entry)
		}
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

// groupVersionInputs are the inputs that --input names: group/version below the
// base, with as many folders before them as one likes. Without a version the
// types are internal ones.
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
		element := group
		if element == "" {
			element = "core"
		}
		inputs = append(inputs, Input{
			Pattern:  path.Join(base, folder, element, version),
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
			return nil, fmt.Errorf("invalid value: %s, should be of the form group/version/type", value)
		}
		groupVersion := parts[0] + "/" + parts[1]
		included[groupVersion] = append(included[groupVersion], parts[2])
	}
	return included, nil
}
