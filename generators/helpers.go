package generators

import (
	"errors"
	"path/filepath"
	"slices"

	"github.com/spf13/pflag"

	"github.com/kubewright/kubewright/generators/internal/model"
	"github.com/kubewright/kubewright/generators/internal/render"
)

// helperGen is a generator that writes one file into each of some API packages.
type helperGen struct {
	// name is that of upstream's binary, as in the generated line.
	name, template string
	packages       []helperPackage
}

// helperPackage is one of them.
type helperPackage struct {
	model.HelperPackage
	view func() any
}

// add adds a package, with a function that builds the view of its file.
func (g *helperGen) add(p model.HelperPackage, view func() any) {
	g.packages = append(g.packages, helperPackage{p, view})
}

// tree is none: the folders belong to the packages.
func (g *helperGen) tree() string { return "" }

func (g *helperGen) files(h headers) []render.File {
	var files []render.File
	for _, p := range g.packages {
		files = append(files, render.File{
			Path:         shorten(filepath.Join(p.Dir, p.File)),
			Package:      p.Path,
			Header:       h.plain[g.name],
			Template:     g.template,
			View:         p.view,
			NamesImports: true,
		})
	}
	return files
}

// controllerGenName is the generator whose deep copies --replace-controller-gen replaces.
const controllerGenName = "controller-gen"

// replaceable are the generators whose files in API packages a run may replace.
func (c *Config) replaceable() []string {
	names := helperNames[:]
	if c.DeepCopy != nil && c.DeepCopy.ReplaceControllerGen {
		names = append(slices.Clone(names), controllerGenName)
	}
	return names
}

// newHelperTool returns a command that writes one file into each of the packages that its arguments
// name. defaultFile is the default of --output-file; set puts the name of the file into the
// configuration.
func newHelperTool(name, defaultFile, missingFile string, set func(*Config, string)) *Tool {
	t := newTool(name)
	var c Config
	var file string
	t.flags.StringVar(&file, "output-file", defaultFile, "the name of the file to write in each package")
	c.addInputFlags(t.flags)
	t.config = func(patterns []string) (Config, error) {
		if file == "" {
			return Config{}, errors.New(missingFile)
		}
		c.Inputs = packageInputs(patterns)
		set(&c, file)
		return c, c.validateLint()
	}
	return t
}

// NewDeepCopyGen returns the command deepcopy-gen.
func NewDeepCopyGen() *Tool {
	return newHelperTool(deepCopyGenName, "generated.deepcopy.go", "--output-file must be specified",
		func(c *Config, file string) { c.DeepCopy = &DeepCopyOptions{File: file} })
}

// NewRegisterGen returns the command register-gen.
func NewRegisterGen() *Tool {
	return newHelperTool(registerGenName, "generated.register.go", "output file base name cannot be empty",
		func(c *Config, file string) { c.Register = &RegisterOptions{File: file} })
}

// NewDefaulterGen returns the command defaulter-gen.
func NewDefaulterGen() *Tool {
	o := DefaulterOptions{BuildTag: new(string)}
	t := newHelperTool(defaulterGenName, "generated.defaults.go", "--output-file must be specified",
		func(c *Config, file string) {
			o.File = file
			c.Defaulter = &o
		})
	o.addFlags(t.flags)
	t.flags.StringVar(o.BuildTag, "build-tag", defaultBuildTag,
		"the tag in the build constraint of the files, by which the next run doesn't read them")
	return t
}

// helperOptions are the flags of kubewright for the code in API packages.
type helperOptions struct {
	on, replaceControllerGen bool
	defaulter                DefaulterOptions
}

// addFlags adds them.
func (o *helperOptions) addFlags(fs *pflag.FlagSet) {
	fs.BoolVar(&o.on, "helpers", true,
		"also write deep copies, registration and functions that set defaults, into the API packages that ask "+
			"for them")
	fs.BoolVar(&o.replaceControllerGen, "replace-controller-gen", false,
		"also write deep copies where controller-gen has written them, and replace its file")
	o.defaulter.addFlags(fs)
}

// validate checks the flags.
func (o *helperOptions) validate() error {
	switch {
	case o.on:
	case o.replaceControllerGen:
		return errors.New("--replace-controller-gen has no effect with --helpers=false; leave out one of them")
	case len(o.defaulter.Peers) > 0:
		return errors.New("--extra-peer-dirs has no effect with --helpers=false; leave out one of them")
	}
	return nil
}

// apply adds the generators.
func (o *helperOptions) apply(c *Config) {
	if o.on {
		c.DeepCopy = &DeepCopyOptions{ReplaceControllerGen: o.replaceControllerGen}
		c.Register = &RegisterOptions{}
		c.Defaulter = &o.defaulter
	}
}
