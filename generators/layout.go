package generators

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/pflag"

	"github.com/kubewright/kubewright/generators/internal/model"
	"github.com/kubewright/kubewright/generators/internal/output"
)

// Layout is the configuration of all generators at once, as the command kubewright takes
// it: one output folder, from which all others follow, and import paths from go.mod. The zero
// value is ready for AddFlags, which has to be called before Resolve.
type Layout struct {
	Config
	client   ClientOptions
	lister   ListerOptions
	informer InformerOptions
	apply    ApplyOptions
	helpers  helperOptions
	crds     DefinitionOptions
	// withApply adds apply configurations.
	withApply bool
	// dir and pkg are the output folder and its import path. The other folders are
	// below it by default.
	dir, pkg                                    string
	clientsets, listers, informers, applyFolder string
	clientsetName                               string
	overrides                                   []string
	flags                                       *pflag.FlagSet
}

// AddFlags adds the flags of kubewright generate, check and import.
func (l *Layout) AddFlags(fs *pflag.FlagSet) {
	l.flags = fs
	fs.StringVar(&l.dir, "output-dir", "",
		"the folder for clientset/, listers/, informers/ and applyconfiguration/ (default pkg/client in "+
			"the module's root)")
	fs.StringVar(&l.pkg, "output-pkg", "", "the import path of --output-dir (default: according to go.mod)")
	fs.StringVar(&l.clientsets, "clientsets-dir", "",
		"the folder for the clientset's folder (default clientset in --output-dir)")
	fs.StringVar(&l.listers, "listers-dir", "", "the folder for listers (default listers in --output-dir)")
	fs.StringVar(&l.informers, "informers-dir", "",
		"the folder for informers (default informers in --output-dir)")
	fs.StringVarP(&l.clientsetName, "clientset-name", "n", "versioned", "the name of the clientset's package")
	fs.BoolVar(&l.withApply, "with-applyconfig", false,
		"also generate apply configurations, and clients that apply them")
	fs.StringVar(&l.applyFolder, "applyconfig-dir", "",
		"the folder for apply configurations (default applyconfiguration in --output-dir)")
	fs.BoolVar(&l.Prune, "prune", false,
		"also remove generated files whose API packages exist and are not named, and those that don't say what "+
			"they were made from")
	includedTypesFlag(fs, &l.overrides)
	l.client.addFlags(fs)
	l.lister.addFlags(fs)
	l.informer.addFlags(fs)
	l.apply.addFlags(fs, "applyconfig-externals", "applyconfig-openapi-schema")
	l.helpers.addFlags(fs)
	l.crds.addFlags(fs)
	l.Config.AddFlags(fs)
}

// Resolve returns the configuration for the packages that patterns name: it finds the
// folders and import paths that the flags leave open.
func (l Layout) Resolve(ctx context.Context, patterns []string) (Config, error) {
	if err := l.validate(patterns); err != nil {
		return Config{}, err
	}
	if err := l.findBase(ctx); err != nil {
		return Config{}, err
	}
	// No script relies on kubewright to accept input that has no meaning.
	cfg := l.Config
	cfg.Strict = true
	cfg.Inputs = packageInputs(patterns)
	var err error
	if cfg.IncludedTypes, err = includedTypes(l.overrides); err != nil {
		return Config{}, err
	}
	if err := l.checkPackage(ctx); err != nil {
		return Config{}, err
	}
	at, err := l.findOutputFolders(ctx)
	if err != nil {
		return Config{}, err
	}
	cfg.Client, cfg.Lister, cfg.Informer = &l.client, &l.lister, &l.informer
	cfg.Client.Dir = filepath.Join(at.clientsets.dir, l.clientsetName)
	cfg.Client.Package = path.Join(at.clientsets.pkg, l.clientsetName)
	cfg.Lister.Dir, cfg.Lister.Package = at.listers.dir, at.listers.pkg
	cfg.Informer.Dir, cfg.Informer.Package = at.informers.dir, at.informers.pkg
	cfg.Informer.Listers = at.listers.pkg
	cfg.Informer.VersionedClientset = cfg.Client.Package
	if cfg.Informer.InternalClientset == "" {
		cfg.Informer.InternalClientset = cfg.Client.Package
	}
	if l.withApply { // the clients use the apply configurations of this run
		cfg.Apply = &l.apply
		cfg.Apply.Dir, cfg.Apply.Package = at.applyConfigs.dir, at.applyConfigs.pkg
		cfg.Client.ApplyConfigurationPackage = at.applyConfigs.pkg
	}
	l.helpers.apply(&cfg)
	if l.crds.Dir != "" {
		cfg.Definitions = &l.crds
	}
	if err := cfg.validateFolders(); err != nil {
		return Config{}, err
	}
	cfg.orphans = l.orphans(at)
	cfg.goGenerate = os.Getenv("GOFILE") != ""
	return cfg, nil
}

// validateFolders requires that each generator has a folder of its own. Otherwise one would overwrite
// files of another.
func (c *Config) validateFolders() error {
	folders := []struct{ dir, flag string }{{c.Client.Dir, "--clientsets-dir with --clientset-name"},
		{c.Lister.Dir, "--listers-dir"}, {c.Informer.Dir, "--informers-dir"}}
	if c.Apply != nil {
		folders = append(folders, struct{ dir, flag string }{c.Apply.Dir, "--applyconfig-dir"})
	}
	for i, folder := range folders {
		for _, other := range folders[:i] {
			if sameFolder(other.dir, folder.dir) {
				return fmt.Errorf("%s and %s are the same folder, %s; give each a folder of its own", other.flag,
					folder.flag, folder.dir)
			}
		}
	}
	return nil
}

// sameFolder reports whether two paths, of which one may be absolute, name one folder.
func sameFolder(a, b string) bool {
	absA, errA := filepath.Abs(a)
	absB, errB := filepath.Abs(b)
	return errA == nil && errB == nil && absA == absB
}

// validate checks the flags and the patterns, before anything is read.
func (l *Layout) validate(patterns []string) error {
	if l.clientsetName == "" {
		return errors.New("--clientset-name must not be empty")
	}
	if err := validateClientsetName(l.clientsetName); err != nil {
		return err
	}
	if slices.Contains([]string{"internal", "main", "vendor"}, l.clientsetName) {
		return fmt.Errorf(
			"--clientset-name %s: Go doesn't let informers and programs import a package in a folder"+
				" of that name", l.clientsetName)
	}
	if l.withApply && l.client.ApplyConfigurationPackage != "" {
		return errors.New(
			"--with-applyconfig generates apply configurations and --apply-configuration-package" +
				" names existing ones; give one of the two")
	}
	if l.client.Lean && (l.withApply || l.client.ApplyConfigurationPackage != "") {
		return errors.New("--lean leaves the Apply methods out of the clientset, so that apply configurations" +
			" have no use; leave out --lean or the flags of apply configurations")
	}
	if err := errors.Join(l.validateLint(), l.helpers.validate(), l.crds.validate(l.flags)); err != nil {
		return err
	}
	for _, name := range []string{"applyconfig-dir", "applyconfig-externals", "applyconfig-openapi-schema"} {
		if !l.withApply && l.flags.Changed(name) {
			return fmt.Errorf("--%s has no effect without --with-applyconfig; give both or neither", name)
		}
	}
	for _, pattern := range patterns {
		if err := validatePattern(pattern); err != nil {
			return err
		}
	}
	for _, name := range []string{"output-dir", "clientsets-dir", "listers-dir", "informers-dir",
		"applyconfig-dir"} {
		// Usually a variable that the script forgot to set.
		if flag := l.flags.Lookup(name); flag.Changed && flag.Value.String() == "" {
			return fmt.Errorf("--%s is empty; leave the flag out for the default", name)
		}
	}
	return nil
}

// validatePattern reports arguments that look like packages to the go command only, or to other tools.
func validatePattern(pattern string) error {
	// The go command would make a package of the file, without its other files.
	if info, err := os.Stat(pattern); err == nil && info.Mode().IsRegular() {
		return fmt.Errorf("%s is a file; name its package, such as ./... or ./folder", pattern)
	}
	option, value, ok := strings.Cut(pattern, "=")
	advice := "flags begin with --"
	switch {
	case !ok: // no import path has an equals sign
		return nil
	case option == "paths": // of controller-gen, like object:headerFile=...
		advice = "write " + value + " alone"
	case strings.HasSuffix(option, "headerFile"):
		advice = "write --go-header-file " + value
	}
	return fmt.Errorf("%s is not a package; %s", pattern, advice)
}

// findBase sets the output folder if no flag does.
func (l *Layout) findBase(ctx context.Context) error {
	if l.dir != "" {
		return nil
	}
	module, err := model.FindModule(ctx, ".")
	if errors.Is(err, model.ErrNoModule) {
		if modules := workspace(); modules != "" {
			return fmt.Errorf("%w, only a go.work; run kubewright in one of its modules%s, or say where to"+
				" write with --output-dir", model.ErrNoModule, modules)
		}
		return fmt.Errorf("%w; run kubewright in a Go module, or say where to write with --output-dir and"+
			" --output-pkg", model.ErrNoModule)
	}
	if err != nil {
		return err
	}
	l.dir = shorten(filepath.Join(module.Dir, "pkg", "client"))
	return nil
}

// workspace returns the modules of the workspace in brackets, for a message, "" if there is
// none.
func workspace() string {
	w, ok := model.FindWorkspace(".")
	if !ok {
		return ""
	}
	var modules []string
	for _, dir := range w.Modules {
		if !filepath.IsAbs(dir) {
			dir = filepath.Join(filepath.Dir(w.File), dir)
		}
		modules = append(modules, shorten(dir))
	}
	return " (" + strings.Join(modules, ", ") + ")"
}

// shorten makes a path relative to the working directory if that is shorter.
func shorten(abs string) string {
	if wd, err := filepath.Abs("."); err == nil {
		if rel, err := filepath.Rel(wd, abs); err == nil && len(rel) < len(abs) {
			return rel
		}
	}
	return abs
}

// outputFolder is an output folder and its import path.
type outputFolder struct{ dir, pkg string }

// outputFolders are the output folders of a run.
type outputFolders struct{ clientsets, listers, informers, applyConfigs outputFolder }

// findOutputFolders finds the output folders. That of apply configurations is found even if there are
// none in this run: the folder may be an orphan.
func (l *Layout) findOutputFolders(ctx context.Context) (at outputFolders, err error) {
	for _, p := range []struct {
		found       *outputFolder
		dir, folder string
	}{
		{&at.clientsets, l.clientsets, "clientset"},
		{&at.listers, l.listers, "listers"},
		{&at.informers, l.informers, "informers"},
		{&at.applyConfigs, l.applyFolder, "applyconfiguration"},
	} {
		if *p.found, err = l.findOutputFolder(ctx, p.dir, p.folder); err != nil {
			return outputFolders{}, err
		}
	}
	return at, nil
}

// checkPackage reports an --output-pkg that isn't the import path of --output-dir: neither other
// packages nor the generated ones could import the generated code. Folders that the go command ignores
// are fine, since their content is moved or copied.
func (l *Layout) checkPackage(ctx context.Context) error {
	if l.pkg == "" {
		return nil
	}
	pkg, err := model.ImportPath(ctx, l.dir)
	switch {
	case errors.Is(err, model.ErrNoModule):
		return nil
	case err != nil:
		return err
	case pkg == l.pkg:
		return nil
	}
	for element := range strings.SplitSeq(pkg, "/") {
		if element == "vendor" || element == "testdata" || strings.HasPrefix(element, "_") ||
			strings.HasPrefix(element, ".") {
			return nil
		}
	}
	return fmt.Errorf("--output-pkg %s is not the import path of %s, which is %s according to go.mod; leave out"+
		" --output-pkg, or give the right one", l.pkg, l.dir, pkg)
}

// findOutputFolder returns an output folder, by default one of that name in --output-dir. Its import
// path is below --output-pkg, if that is given and the folder is in --output-dir, and
// otherwise follows from the module that contains the folder.
func (l *Layout) findOutputFolder(ctx context.Context, dir, folder string) (outputFolder, error) {
	if dir == "" {
		dir = filepath.Join(l.dir, folder)
	}
	// --output-pkg overrides go.mod.
	if l.pkg != "" {
		if rel, err := filepath.Rel(l.dir, dir); err == nil && filepath.IsLocal(rel) {
			return outputFolder{dir, path.Join(l.pkg, filepath.ToSlash(rel))}, nil
		}
	}
	pkg, err := model.ImportPath(ctx, dir)
	if errors.Is(err, model.ErrNoModule) {
		out := strings.TrimSuffix(dir, string(filepath.Separator)+folder)
		if modules := workspace(); modules != "" {
			return outputFolder{}, fmt.Errorf("the output directory %s is in no module of go.work%s; put it into one,"+
				" or give its import path with --output-pkg", out, modules)
		}
		return outputFolder{}, fmt.Errorf("the output directory %s is not in a Go module; give its import path"+
			" with --output-pkg", out)
	}
	return outputFolder{dir, pkg}, err
}

// orphan is a folder that a run with other flags writes to.
type orphan struct {
	// dir is the folder, file a pattern of a generated file that such a run writes.
	dir, file string
	// content is the kind of output, remedy the flag that would update it; both are
	// for the warning.
	content, remedy string
}

// orphans are the folders that runs with other flags write to, given those of this run.
func (l *Layout) orphans(at outputFolders) []orphan {
	orphans := l.applyOrphans(at.applyConfigs)
	// The two layouts of informers are in different folders.
	if l.informer.SingleDirectory {
		orphans = append(orphans, orphan{filepath.Join(at.informers.dir, "externalversions"), "factory.go",
			"informers", "leave out --single-directory"})
	} else {
		orphans = append(orphans, orphan{at.informers.dir, "factory.go", "informers",
			"give --single-directory"})
		orphans = append(orphans, orphan{filepath.Join(at.informers.dir, "internalversion"), "factory.go",
			"informers of internal types", "name the package of those"})
	}
	for _, name := range output.Folders(at.clientsets.dir) {
		if name != l.clientsetName {
			orphans = append(orphans, orphan{filepath.Join(at.clientsets.dir, name), "clientset.go",
				"a clientset", "give --clientset-name " + name})
		}
	}
	if dir, ok := l.moved("clientset", at.clientsets); ok {
		orphans = append(orphans, orphan{dir, "*/clientset.go", "a clientset", "leave out --clientsets-dir"})
	}
	if dir, ok := l.moved("listers", at.listers); ok {
		orphans = append(orphans, orphan{dir, "*/*/expansion_generated.go", "listers",
			"leave out --listers-dir"})
	}
	if dir, ok := l.moved("informers", at.informers); ok {
		for _, tree := range []string{dir, filepath.Join(dir, "externalversions")} {
			orphans = append(orphans, orphan{tree, "factory.go", "informers", "leave out --informers-dir"})
		}
	}
	return orphans
}

// applyOrphans is the folder of apply configurations, unless this run writes them or names
// them with --apply-configuration-package: another run updates the latter.
func (l *Layout) applyOrphans(configs outputFolder) []orphan {
	if l.withApply || l.client.ApplyConfigurationPackage == configs.pkg {
		return nil
	}
	remedy := "give --with-applyconfig"
	if l.client.ApplyConfigurationPackage == "" && !l.client.Lean {
		remedy += " (without it the clientset has no Apply methods, and its fake no NewClientset)"
	}
	return []orphan{{configs.dir, "utils.go", "apply configurations", remedy}}
}

// moved returns the default of a folder that a flag has put elsewhere, ok false if none has.
func (l *Layout) moved(folder string, to outputFolder) (dir string, ok bool) {
	dir = filepath.Join(l.dir, folder)
	rel, err := filepath.Rel(dir, to.dir)
	return dir, err == nil && !filepath.IsLocal(rel)
}
