package generators

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/kubewright/kubewright/generators/marker"
	"github.com/kubewright/kubewright/generators/model"
	"github.com/kubewright/kubewright/generators/output"
	"github.com/kubewright/kubewright/generators/render"
	"github.com/kubewright/kubewright/templates"
)

// Changes are what a run comes to: files to write, files to remove.
type Changes = output.Plan

// Problems are what is wrong with the input, sorted by place.
type Problems = marker.Problems

// FileState says what becomes of a file of a plan.
type FileState = output.FileState

// The states of a plan's files.
const (
	Current = output.Current
	Changed = output.Changed
	Stale   = output.Stale
)

// The stages of [Plan], as Config.Progress is told.
const (
	StageLoad    = "load"
	StageRender  = "render"
	StageCompare = "compare"
)

// Plan reads the API packages and works out what the configured generators make
// of them, and how that differs from what is on the disk. It changes nothing.
//
// The problems are those of the input. If one of them is more than a warning
// the plan is nil; the error is about everything else.
func Plan(ctx context.Context, cfg Config) (*Changes, Problems, error) {
	progress := cfg.Progress
	if progress == nil {
		progress = func(string) {}
	}
	progress(StageLoad)
	header, err := newHeader(cfg.HeaderFile)
	if problems, ok := errors.AsType[Problems](err); ok {
		return nil, problems, nil
	}
	if err != nil {
		return nil, nil, err
	}
	load, err := cfg.model()
	if err != nil {
		return nil, nil, err
	}
	api, problems := model.Load(ctx, load)
	if problems.Fatal() {
		return nil, problems, nil
	}
	progress(StageRender)
	parsed, err := render.Parse(templates.Files, packages())
	if err != nil {
		return nil, problems, fmt.Errorf("kubewright's own templates: %w", err)
	}
	files, err := cfg.files(api, header)
	if err != nil {
		return nil, problems, err
	}
	contents, err := parsed.Render(files)
	if err != nil {
		return nil, problems, fmt.Errorf("kubewright's own templates: %w", err)
	}
	progress(StageCompare)
	set := output.Set{Files: contents, Trees: cfg.trees(api), Roots: treeRoots(), Headers: generatedLines(), KeepOthers: cfg.Strict}
	problems = append(problems, cfg.warnOfOthers(set)...)
	plan, err := set.Compare()
	if plan != nil && cfg.Strict {
		problems = append(problems, leftBehind(plan.Stale)...)
	}
	return plan, problems, err
}

// leftBehind warns of hand-written expansions of what is removed: they don't
// compile without it.
func leftBehind(stale []string) Problems {
	var problems Problems
	for _, path := range stale {
		expansion := strings.TrimSuffix(path, ".go") + "_expansion.go"
		if output.Exists(expansion) && !slices.Contains(stale, expansion) {
			problems = append(problems, marker.Problem{Warning: true,
				Message: fmt.Sprintf("%s extends what nothing generates any more; remove it, or it won't compile", expansion)})
		}
	}
	return problems
}

// files lists the files of all generators that are to run.
func (c Config) files(api *model.API, header header) ([]render.File, error) {
	var files []render.File
	if c.Client != nil {
		files = append(files, newClientGen(*c.Client, api).files(header)...)
	}
	if c.Lister != nil {
		files = append(files, newListerGen(*c.Lister, api).files(header)...)
	}
	if c.Informer != nil {
		for _, gen := range newInformerGens(*c.Informer, api) {
			if gen.clientset.Path == "" {
				// Upstream imports the package "", which doesn't compile.
				return nil, fmt.Errorf("--internal-clientset-package must be specified: %s has internal types", gen.versions[0].Package.Path)
			}
			files = append(files, gen.files(header)...)
		}
	}
	if c.Apply != nil {
		gen, err := newApplyGen(*c.Apply, api)
		if err != nil {
			return nil, err
		}
		files = append(files, gen.files(header)...)
	}
	return files, nil
}

// trees are the folders that belong to this run alone. Of the two folders of
// informers it is those that the run writes to: the other may be another run's.
func (c Config) trees(api *model.API) []string {
	var trees []string
	if c.Client != nil {
		trees = append(trees, c.Client.Dir)
	}
	if c.Lister != nil {
		trees = append(trees, c.Lister.Dir)
	}
	if c.Informer != nil {
		gens := newInformerGens(*c.Informer, api)
		for _, gen := range gens {
			trees = append(trees, gen.dir)
		}
		if len(gens) == 0 {
			dir, _ := c.Informer.tree(false)
			trees = append(trees, dir)
		}
	}
	if c.Apply != nil {
		trees = append(trees, c.Apply.Dir)
	}
	return trees
}

// treeRoots are what the roots of clientsets and of informers have.
func treeRoots() [][]string {
	return [][]string{{"clientset.go", "scheme"}, {"factory.go", "internalinterfaces"}}
}
