package generators

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"path"
	"path/filepath"

	"github.com/spf13/pflag"
	"k8s.io/klog/v2"
)

// Tool is a command with the flags and the behaviour of one of code-generator's binaries.
// It never removes a file. A Tool can be run only once, as its flags keep their values.
type Tool struct {
	name   string
	flags  *pflag.FlagSet
	config func(patterns []string) (Config, error)
}

// newTool returns a command without flags of its own. The caller adds those, and config.
func newTool(name string) *Tool {
	t := &Tool{name: name, flags: pflag.NewFlagSet(name, pflag.ContinueOnError)}
	// Upstream's binaries have klog's flags, and scripts pass them, above all -v.
	logging := flag.NewFlagSet(name, flag.ContinueOnError)
	klog.InitFlags(logging)
	t.flags.AddGoFlagSet(logging)
	return t
}

// Run parses the arguments, generates, and reports problems to stderr. It returns the exit
// status: 1 if there was a problem other than warnings, in which case nothing was written.
func (t *Tool) Run(ctx context.Context, args []string, stderr io.Writer) int {
	t.flags.SetOutput(stderr)
	if err := HelpError(args); err != nil {
		return t.fail(stderr, err)
	}
	switch err := t.flags.Parse(args); {
	case errors.Is(err, pflag.ErrHelp): // pflag has printed it
		return 0
	case err != nil:
		return t.fail(stderr, FlagError(t.flags, err))
	}
	cfg, err := t.config(t.flags.Args())
	if err != nil {
		return t.fail(stderr, err)
	}
	changes, problems, err := Plan(ctx, cfg)
	if len(problems) > 0 {
		fmt.Fprintln(stderr, problems.Error())
	}
	if changes != nil && err == nil {
		// Upstream's binaries never delete: several runs may share an output folder.
		err = changes.Apply(false)
	}
	switch {
	case err != nil:
		return t.fail(stderr, err)
	case problems.Fatal():
		return 1
	}
	return 0
}

func (t *Tool) fail(stderr io.Writer, err error) int {
	fmt.Fprintf(stderr, "%s: %v\n", t.name, err)
	return 1
}

// commonFlags are the flags that the binaries with an output folder share.
type commonFlags struct {
	dir, pkg string
	Config
}

// addOutputFlags adds the flags for the output folder.
func (c *commonFlags) addOutputFlags(fs *pflag.FlagSet) {
	fs.StringVar(&c.dir, "output-dir", "", "the folder to write to")
	fs.StringVar(&c.pkg, "output-pkg", "", "the import path of that folder")
}

// requirement is a flag that must have a value.
type requirement struct{ flag, value string }

// validate makes the checks of Validate in code-generator's args, in the same order.
func (c *commonFlags) validate(required ...requirement) error {
	for _, r := range append([]requirement{{"output-dir", c.dir}, {"output-pkg", c.pkg}}, required...) {
		if r.value == "" {
			return fmt.Errorf("--%s must be specified", r.flag)
		}
	}
	return c.validateLint()
}

// NewClientGen returns the command client-gen.
func NewClientGen() *Tool {
	t := newTool(clientGenName)
	var c commonFlags
	var o ClientOptions
	var base, name string
	var inputs, overrides []string
	c.addOutputFlags(t.flags)
	c.AddFlags(t.flags)
	o.addFlags(t.flags)
	includedTypesFlag(t.flags, &overrides)
	t.flags.StringSliceVar(&inputs, "input", nil,
		"the group versions to generate clients for, in the form group1/version1,group2/version2")
	t.flags.StringVar(&base, "input-base", "k8s.io/kubernetes/pkg/apis",
		"the path below which the group versions of --input are")
	t.flags.StringVarP(&name, "clientset-name", "n", "internalclientset",
		"the name of the clientset's package")
	t.flags.BoolVar(&o.ClientsetOnly, "clientset-only", false, "leave out the typed clients")
	t.flags.SetNormalizeFunc(func(_ *pflag.FlagSet, flag string) pflag.NormalizedName {
		if flag == "clientset-path" { // the former name, which upstream still accepts
			flag = "output-pkg"
		}
		return pflag.NormalizedName(flag)
	})
	// Positional arguments are ignored, as they are upstream: the input is in --input.
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
			return Config{}, errors.New(
				"no packages given; name group versions with --input, as in --input=example/v1, and the " +
					"path before them with --input-base")
		}
		o.Dir, o.Package = filepath.Join(c.dir, name), path.Join(c.pkg, name)
		c.Client = &o
		return c.Config, nil
	}
	return t
}

// NewListerGen returns the command lister-gen.
func NewListerGen() *Tool {
	t := newTool(listerGenName)
	var c commonFlags
	var o ListerOptions
	c.addOutputFlags(t.flags)
	c.AddFlags(t.flags)
	o.addFlags(t.flags)
	t.config = func(patterns []string) (Config, error) {
		c.Inputs = packageInputs(patterns)
		o.Dir, o.Package = c.dir, c.pkg
		c.Lister = &o
		return c.Config, c.validate()
	}
	return t
}

// NewInformerGen returns the command informer-gen.
func NewInformerGen() *Tool {
	t := newTool(informerGenName)
	var c commonFlags
	var o InformerOptions
	c.addOutputFlags(t.flags)
	c.AddFlags(t.flags)
	o.addFlags(t.flags)
	t.flags.StringVar(&o.VersionedClientset, "versioned-clientset-package", "",
		"the import path of the clientset")
	t.flags.StringVar(&o.Listers, "listers-package", "", "the import path of the listers")
	t.config = func(patterns []string) (Config, error) {
		c.Inputs = packageInputs(patterns)
		o.Dir, o.Package = c.dir, c.pkg
		c.Informer = &o
		return c.Config, c.validate(requirement{"versioned-clientset-package", o.VersionedClientset},
			requirement{"listers-package", o.Listers})
	}
	return t
}

// NewApplyConfigurationGen returns the command applyconfiguration-gen.
func NewApplyConfigurationGen() *Tool {
	t := newTool(applyGenName)
	var c commonFlags
	var o ApplyOptions
	c.addOutputFlags(t.flags)
	c.addInputFlags(t.flags) // upstream's has no --plural-exceptions
	o.addFlags(t.flags, "external-applyconfigurations", "openapi-schema")
	t.config = func(patterns []string) (Config, error) {
		c.Inputs = packageInputs(patterns)
		o.Dir, o.Package = c.dir, c.pkg
		c.Apply = &o
		return c.Config, c.validate()
	}
	return t
}
