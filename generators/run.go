package generators

import (
	"context"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/kubewright/kubewright/generators/internal/marker"
	"github.com/kubewright/kubewright/generators/internal/model"
	"github.com/kubewright/kubewright/generators/internal/output"
	"github.com/kubewright/kubewright/generators/internal/render"
	"github.com/kubewright/kubewright/templates"
)

// Changes are the files that a run writes and removes.
type Changes = output.Plan

// Problems are the problems of the input, sorted by position.
type Problems = marker.Problems

// FileState is the effect of a run on a file.
type FileState = output.FileState

// The states of files.
const (
	Current = output.Current
	Changed = output.Changed
	Stale   = output.Stale
)

// The stages of [Plan], as passed to Config.Progress.
const (
	StageLoad    = "load"
	StageRender  = "render"
	StageCompare = "compare"
)

// Plan reads the API packages, generates everything in memory, and compares it with the
// disk. It writes nothing; Changes.Apply does.
//
// The problems are those of the input. If one of them is not just a warning, the changes
// are nil. The error is about anything else, such as flags and the disk.
//
// Plan is safe for concurrent use. Concurrent calls may also call Config.Progress concurrently.
func Plan(ctx context.Context, cfg Config) (*Changes, Problems, error) {
	cfg.progress(StageLoad)
	headers, problems, err := newHeaders(cfg.HeaderFile, cfg.buildTag(), cfg.Strict)
	if err != nil || problems.Fatal() {
		return nil, problems, err
	}
	api, problems, err := cfg.load(ctx)
	if err != nil || problems.Fatal() {
		return nil, problems, err
	}

	cfg.progress(StageRender)
	definitions, more := cfg.makeDefinitions(api)
	if problems = append(problems, more...).Sort(); problems.Fatal() {
		return nil, problems, nil
	}
	gens, err := cfg.generators(ctx, api)
	if err != nil {
		return nil, problems, err
	}
	for _, gen := range gens {
		if apply, ok := gen.(*applyGen); ok {
			problems = append(problems, apply.check(cfg.Strict)...).Sort()
		}
	}
	if problems.Fatal() {
		return nil, problems, nil
	}
	contents, err := renderFiles(files(gens, headers))
	if err != nil {
		return nil, problems, err
	}

	if err := cfg.addDefinitions(contents, definitions); err != nil {
		return nil, problems, err
	}

	cfg.progress(StageCompare)
	set := output.Set{
		Files: contents, Roots: treeRoots(),
		Headers: generatedLines(generatorNames[:]), Replaceable: generatedLines(cfg.replaceable()),
		KeepOthers: cfg.Strict, Folders: cfg.folders(), RemoveUnrecorded: cfg.Prune,
	}
	if cfg.Definitions != nil {
		set.Headers, set.Manifests = append(set.Headers, definitionLine), cfg.Definitions.Dir
		set.Annotation = versionAnnotation
		set.ReplaceAnnotated = cfg.DeepCopy != nil && cfg.DeepCopy.ReplaceControllerGen
	}
	set.Trees = cfg.trees(gens, set, api)
	changes, err := set.Compare()
	if changes != nil {
		problems = append(problems, cfg.orphanWarnings(set, changes.Stale, api)...)
		problems = append(problems, cfg.forgottenDefinitions(ctx, set, api)...)
	}
	if err != nil || !cfg.Strict { // the compatible binaries remove nothing
		return changes, problems, err
	}
	problems = append(problems, unrecorded(changes.Unrecorded)...)
	if !cfg.Prune {
		problems = append(problems, cfg.refusals(ctx, changes, api, set.Trees)...)
		problems = append(problems, cfg.lostVersions(ctx, changes, api, set.Trees)...)
	}
	if problems.Fatal() {
		return nil, problems, nil
	}
	return changes, append(problems, expansionWarnings(changes.Stale)...), nil
}

func (c *Config) progress(stage string) {
	if c.Progress != nil {
		c.Progress(stage)
	}
}

// load reads the packages.
func (c *Config) load(ctx context.Context) (*model.API, Problems, error) {
	cfg, err := c.model()
	if err != nil {
		return nil, nil, err
	}
	api, problems := model.Load(ctx, cfg)
	if api != nil {
		problems = append(problems, c.unimportable(api)...)
	}
	return api, problems, nil
}

// folders are the output folders.
func (c *Config) folders() []string {
	var folders []string
	if c.Client != nil {
		folders = append(folders, c.Client.Dir)
	}
	if c.Lister != nil {
		folders = append(folders, c.Lister.Dir)
	}
	if c.Informer != nil {
		folders = append(folders, c.Informer.Dir)
	}
	if c.Apply != nil {
		folders = append(folders, c.Apply.Dir)
	}
	if c.Definitions != nil {
		folders = append(folders, c.Definitions.Dir)
	}
	return folders
}

// generator makes the files of one output tree.
type generator interface {
	// files lists the files; their views are built when they are rendered.
	files(headers) []render.File
	// tree is the folder that belongs to this generator: a generated file in it
	// that the generator doesn't list is stale. It is "" for generators that write
	// into the folders of others.
	tree() string
}

// generators returns the generators that the options select.
func (c *Config) generators(ctx context.Context, api *model.API) ([]generator, error) {
	var gens []generator
	if c.DeepCopy != nil {
		gens = append(gens, newDeepCopyGen(api.Copies))
	}
	if c.Register != nil {
		gens = append(gens, newRegisterGen(api.Registrations))
	}
	if c.Defaulter != nil {
		gens = append(gens, newDefaulterGen(api.Defaults))
	}
	clients := c.hasClients(api)
	if c.Client != nil && clients {
		gens = append(gens, newClientGen(*c.Client, api))
	}
	if c.Lister != nil && clients {
		gens = append(gens, newListerGen(*c.Lister, api))
	}
	if c.Informer != nil && clients {
		informers, err := newInformerGens(*c.Informer, api)
		if err != nil {
			return nil, err
		}
		for _, gen := range informers {
			gens = append(gens, gen)
		}
	}
	if c.Apply != nil && (clients || len(api.Apply.Packages) > 0) {
		gen, err := newApplyGen(*c.Apply, api)
		if err != nil {
			return nil, err
		}
		if !c.Strict { // code-generator's has a function Parser, whose type is the library's
			gen.typed = model.TypedPackage(ctx, c.Apply.Dir)
		}
		gens = append(gens, gen)
	}
	return gens, nil
}

// hasClients reports whether there are clients, listers or informers to generate. kubewright makes
// no empty clientset beside the code in API packages, or beside apply configurations.
func (c *Config) hasClients(api *model.API) bool { return !c.Strict || len(api.Groups) > 0 }

// trees are the output folders of the generators. If there is no client to generate, the folders of
// clients may belong to a run for other packages. They are included only if a file in them was made
// from a package of this run: its tags are gone, so the file is stale.
func (c *Config) trees(gens []generator, set output.Set, api *model.API) []string {
	var trees []string
	for _, gen := range gens {
		if tree := gen.tree(); tree != "" {
			trees = append(trees, tree)
		}
	}
	if c.hasClients(api) {
		return trees
	}
	var idle []string
	if c.Client != nil {
		idle = append(idle, c.Client.Dir)
	}
	if c.Lister != nil {
		idle = append(idle, c.Lister.Dir)
	}
	if c.Informer != nil {
		dir, _ := c.Informer.output(false)
		idle = append(idle, dir)
	}
	if c.Apply != nil && len(api.Apply.Packages) == 0 {
		idle = append(idle, c.Apply.Dir)
	}
	for _, tree := range idle {
		for record := range set.Records(tree) {
			if record != nil && madeFrom(record, api) {
				return append(trees, idle...)
			}
		}
	}
	return trees
}

// madeFrom reports whether a record names a package of the API.
func madeFrom(record *output.Record, api *model.API) bool {
	return slices.ContainsFunc(api.Packages,
		func(p *model.Package) bool { return slices.Contains(record.Packages, p.Path) })
}

// files lists the files of all generators.
func files(gens []generator, h headers) []render.File {
	var files []render.File
	for _, gen := range gens {
		files = append(files, gen.files(h)...)
	}
	return files
}

// treeRoots are the names that the root folders of clientsets, of informers and of apply
// configurations have, by which a tree of another run is recognized inside one of this run.
func treeRoots() [][]string {
	return [][]string{{"clientset.go", "scheme"}, {"factory.go", "internalinterfaces"}, {"utils.go", "internal"}}
}

// renderFiles returns the content of the files by path. An error is a bug of a template or
// a view, never a mistake of the user.
func renderFiles(files []render.File) (map[string][]byte, error) {
	parsed, err := render.Parse(templates.Files, packages())
	if err != nil {
		return nil, fmt.Errorf("kubewright's own templates: %w", err)
	}
	contents, err := parsed.Render(files)
	if err != nil {
		return nil, fmt.Errorf("kubewright's own templates: %w", err)
	}
	return contents, nil
}

// orphanWarnings warns of output that this run doesn't update: it gets out of date, and
// one day it won't compile. What the run removes isn't worth a warning.
func (c *Config) orphanWarnings(set output.Set, stale []string, api *model.API) Problems {
	var problems Problems
	for _, o := range c.orphans {
		removed := slices.ContainsFunc(stale, func(file string) bool {
			return strings.HasPrefix(file, filepath.Clean(o.dir)+string(filepath.Separator))
		})
		if !removed && !slices.Contains(set.Trees, o.dir) && set.Has(o.dir, o.file) &&
			ownOutput(set, o.dir, api) {
			problems = append(problems, marker.Problem{Warning: true,
				Message: fmt.Sprintf("%s has %s that this run doesn't update; %s, or remove it", o.dir,
					o.content, o.remedy)})
		}
	}
	return problems
}

// ownOutput reports whether a run for these packages, though with other flags, may have written to a
// folder: without a record, a file may be from any run.
func ownOutput(set output.Set, dir string, api *model.API) bool {
	for record := range set.Records(dir) {
		if record == nil || madeFrom(record, api) {
			return true
		}
	}
	return false
}

// expansionWarnings warns of hand-written expansions of stale files, which don't compile
// without those.
func expansionWarnings(stale []string) Problems {
	var problems Problems
	for _, path := range stale {
		expansion := strings.TrimSuffix(path, ".go") + "_expansion.go"
		if output.Exists(expansion) && !slices.Contains(stale, expansion) {
			problems = append(problems, marker.Problem{Warning: true,
				Message: fmt.Sprintf(
					"%s extends a type that is no longer generated; remove it, or its package won't compile",
					expansion)})
		}
	}
	return problems
}
