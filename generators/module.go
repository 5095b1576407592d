package generators

import (
	"errors"
	"fmt"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/pflag"

	"github.com/kubewright/kubewright/generators/output"
)

// Layout is the configuration of all generators at once, as kubewright takes it:
// one base folder, everything else follows from it and from go.mod.
type Layout struct {
	Config
	client   ClientOptions
	lister   ListerOptions
	informer InformerOptions
	apply    ApplyOptions
	// withApply asks for apply configurations, too.
	withApply bool
	// dir and pkg are the base; clientsets, listers, informers and applyConfigs
	// the folders, by default below the base.
	dir, pkg                         string
	clientsets, listers, informers   string
	applyConfigs                     string
	clientsetName, internalClientset string
	overrides                        []string
	flags                            *pflag.FlagSet
}

// AddFlags adds the flags of kubewright generate.
func (l *Layout) AddFlags(fs *pflag.FlagSet) {
	l.flags = fs
	fs.StringVar(&l.dir, "output-dir", "", "the folder for clientset/, listers/, informers/ and applyconfiguration/ (default pkg/client in the module's root)")
	fs.StringVar(&l.pkg, "output-pkg", "", "the import path of --output-dir (default as go.mod has it)")
	fs.StringVar(&l.clientsets, "clientsets-dir", "", "the folder for the clientset's folder (default clientset in --output-dir)")
	fs.StringVar(&l.listers, "listers-dir", "", "the folder for listers (default listers in --output-dir)")
	fs.StringVar(&l.informers, "informers-dir", "", "the folder for informers (default informers in --output-dir)")
	fs.StringVarP(&l.clientsetName, "clientset-name", "n", "versioned", "the name of the clientset's package")
	fs.StringVar(&l.client.APIPath, "clientset-api-path", "/apis", "the path that requests begin with")
	fs.BoolVar(&l.client.Fake, "fake-clientset", true, "make a fake clientset for tests, too")
	fs.StringVar(&l.client.ApplyConfigurationPackage, "apply-configuration-package", "", "the import path of apply configurations; without it there are no Apply methods")
	fs.BoolVar(&l.client.PrefersProtobuf, "prefers-protobuf", false, "send and ask for protobuf by default (not for custom resources: they have none)")
	fs.BoolVar(&l.client.Lean, "lean", false, leanUsage)
	fs.StringSliceVar(&l.overrides, "included-types-overrides", nil, "types in the form group/version/type; for the group versions among them these types get a client, and no others")
	fs.BoolVar(&l.informer.SingleDirectory, "single-directory", false, "leave out the folder externalversions of the informers")
	fs.BoolVar(&l.informer.Metadata, "metadata-informers", false, metadataUsage)
	fs.BoolVar(&l.lister.ReadOnlyViews, "read-only-views", false, viewsUsage)
	fs.StringVar(&l.internalClientset, "internal-clientset-package", "", "the import path of the clientset that informers of internal types use (default the one generated)")
	fs.BoolVar(&l.withApply, "with-applyconfig", false, "make apply configurations, and clients that apply them, too")
	fs.StringVar(&l.applyConfigs, "applyconfig-dir", "", "the folder for apply configurations (default applyconfiguration in --output-dir)")
	l.apply.addFlags(fs, "applyconfig-externals", "applyconfig-openapi-schema")
	l.Config.AddFlags(fs)
}

// Resolve fills in what was left open, for the packages that patterns name.
func (l Layout) Resolve(patterns []string) (Config, error) {
	if l.clientsetName == "" {
		return Config{}, errors.New("--clientset-name must not be empty")
	}
	if err := validateClientsetName(l.clientsetName); err != nil {
		return Config{}, err
	}
	if slices.Contains([]string{"internal", "main", "vendor"}, l.clientsetName) {
		return Config{}, fmt.Errorf("--clientset-name %s: Go doesn't let informers and programs import a package in a folder of that name", l.clientsetName)
	}
	if l.withApply && l.client.ApplyConfigurationPackage != "" {
		return Config{}, errors.New("--with-applyconfig makes what --apply-configuration-package says is there: give one of the two")
	}
	if err := l.validateLint(); err != nil {
		return Config{}, err
	}
	for _, name := range []string{"applyconfig-dir", "applyconfig-externals", "applyconfig-openapi-schema"} {
		if !l.withApply && l.flags.Changed(name) {
			return Config{}, fmt.Errorf("--%s says how to make apply configurations: give --with-applyconfig, too, or leave it out", name)
		}
	}
	for _, pattern := range patterns {
		if info, err := os.Stat(pattern); err == nil && info.Mode().IsRegular() {
			return Config{}, fmt.Errorf("%s is a file: name its package, as ./... or ./folder", pattern)
		}
	}
	if err := l.base(); err != nil {
		return Config{}, err
	}
	cfg := l.Config
	cfg.Strict = true
	cfg.Inputs = packageInputs(patterns)
	var err error
	if cfg.IncludedTypes, err = includedTypes(l.overrides); err != nil {
		return Config{}, err
	}
	clients, err := l.place(l.clientsets, "clientset")
	if err != nil {
		return Config{}, err
	}
	listers, err := l.place(l.listers, "listers")
	if err != nil {
		return Config{}, err
	}
	informers, err := l.place(l.informers, "informers")
	if err != nil {
		return Config{}, err
	}
	cfg.Client, cfg.Lister, cfg.Informer = &l.client, &l.lister, &l.informer
	cfg.Client.Dir, cfg.Client.Package = filepath.Join(clients.dir, l.clientsetName), path.Join(clients.pkg, l.clientsetName)
	cfg.Lister.Dir, cfg.Lister.Package = listers.dir, listers.pkg
	cfg.Informer.Dir, cfg.Informer.Package = informers.dir, informers.pkg
	cfg.Informer.Listers = listers.pkg
	cfg.Informer.VersionedClientset = cfg.Client.Package
	cfg.Informer.InternalClientset = l.internalClientset
	if l.internalClientset == "" {
		cfg.Informer.InternalClientset = cfg.Client.Package
	}
	configs, err := l.place(l.applyConfigs, "applyconfiguration")
	if err != nil {
		return Config{}, err
	}
	if l.withApply {
		cfg.Apply = &l.apply
		cfg.Apply.Dir, cfg.Apply.Package = configs.dir, configs.pkg
		cfg.Client.ApplyConfigurationPackage = configs.pkg
	}
	cfg.others = l.others(clients.dir, listers.dir, informers.dir, configs.dir)
	if cfg.Client.ApplyConfigurationPackage == configs.pkg {
		// Another run makes them, and this one uses them.
		cfg.others = slices.DeleteFunc(cfg.others, func(other otherTree) bool { return other.dir == configs.dir })
	}
	return cfg, nil
}

// base finds the base folder.
func (l *Layout) base() error {
	for _, name := range []string{"output-dir", "clientsets-dir", "listers-dir", "informers-dir", "applyconfig-dir"} {
		// Mostly a variable of a script that isn't set.
		if flag := l.flags.Lookup(name); flag.Changed && flag.Value.String() == "" {
			return fmt.Errorf("--%s names no folder; leave the flag out for the default", name)
		}
	}
	if l.dir != "" {
		return nil
	}
	root, _, err := output.Module(".")
	if errors.Is(err, output.ErrNoModule) {
		return fmt.Errorf("%w; run kubewright in a Go module, or say where to write with --output-dir and --output-pkg", err)
	}
	if err != nil {
		return err
	}
	l.dir = shorten(filepath.Join(root, "pkg", "client"))
	return nil
}

// shorten makes a path relative to the working directory where that is shorter.
func shorten(abs string) string {
	if wd, err := filepath.Abs("."); err == nil {
		if rel, err := filepath.Rel(wd, abs); err == nil && len(rel) < len(abs) {
			return rel
		}
	}
	return abs
}

type place struct{ dir, pkg string }

// place finds an output folder and its import path: below --output-pkg if that
// was given and the folder is in --output-dir, else what the module says that
// the folder is in.
func (l *Layout) place(dir, folder string) (place, error) {
	if dir == "" {
		dir = filepath.Join(l.dir, folder)
	}
	if l.pkg != "" {
		if rel, err := filepath.Rel(l.dir, dir); err == nil && filepath.IsLocal(rel) {
			return place{dir, path.Join(l.pkg, filepath.ToSlash(rel))}, nil
		}
	}
	_, pkg, err := output.Module(dir)
	if errors.Is(err, output.ErrNoModule) {
		return place{}, fmt.Errorf("the output directory %s is in no Go module: say what its import path is with --output-pkg", strings.TrimSuffix(dir, string(filepath.Separator)+folder))
	}
	return place{dir, pkg}, err
}
