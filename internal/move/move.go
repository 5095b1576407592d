// Package move moves a module from client-go's informers, caches and work queues to kubewright's, and back.
// It changes import paths and one option of controller-runtime's managers, in all hand-written files at
// once, checks the types of the whole module in memory, and puts back what doesn't compile. Nothing is
// written before that.
//
// Run is the way: go.mod as it will be (gomod.go), the packages with everything that they import (load.go,
// library.go), the edits of each file (edit.go, option.go), what can stay of them (check.go, structs.go,
// settle.go), what is left to people (findings.go), and the files (write.go).
package move

import (
	"context"
	"errors"
	"fmt"
	"go/ast"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"golang.org/x/mod/modfile"
	"golang.org/x/mod/semver"
)

// Options say what to move, and to what.
type Options struct {
	// Dir is a folder of the module.
	Dir string
	// Back moves to client-go's packages.
	Back bool
	// Write writes the changes. Without it Run only reports them.
	Write bool
	// Clone is a folder with a clone of kubewright, which replaces the modules to require. It is for use
	// before a release. By default it is the clone that the module's go.mod has.
	Clone string
	// Version is the version of kubewright to require, "" if it has none.
	Version string
	// Progress is called when a stage begins, which has a name for people.
	Progress func(stage string)
	// ClientGo and ControllerRuntime are the versions that this version of kubewright is for.
	ClientGo, ControllerRuntime string
}

// mover is a run of Run.
type mover struct {
	Options
	*module
	mod    *modfile.File
	report *Report
	paths  map[string]string // of imports, from and to
	git    *repository
	// oldWork is the go.work to restore, nil for none.
	oldWork []byte
	// gets are the lines of the literals that get the option, by file.
	gets map[string][]int
	temp string
}

// Run moves a module, or reports what that would change. An error means that nothing was written.
func Run(ctx context.Context, o Options) (_ *Report, err error) {
	module, err := findModule(ctx, o.Dir)
	if err != nil {
		return nil, err
	}
	m := &mover{Options: o, module: module, report: &Report{Wrote: o.Write}, paths: movesOf(o.Back)}
	if m.mod, err = m.parse(m.goMod); err != nil {
		return nil, err
	}
	if path := m.mod.Module.Mod.Path; isOwn(path) || slices.Contains(below, path) {
		return nil, fmt.Errorf("%s: kubewright is built on this module, so it can't move", path)
	}
	if o.Write {
		if m.git = findRepository(ctx, m.root); m.git == nil {
			return nil, errNoRepository
		}
	}
	if m.temp, err = os.MkdirTemp("", "kubewright-move"); err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(m.temp)) }()
	if o.Back {
		err = m.back(ctx)
	} else {
		err = m.forward(ctx)
	}
	if err != nil {
		return nil, err
	}
	m.report.sort()
	return m.report, nil
}

// below are the modules on which kubewright is built.
var below = []string{clientGo, "k8s.io/api", "k8s.io/apimachinery"}

// forward moves to our packages.
func (m *mover) forward(ctx context.Context) error {
	managed := requirement(m.mod, controllers) != ""
	if requirement(m.mod, clientGo) == "" && !managed {
		m.report.Unmoved = "go.mod requires neither " + clientGo + " nor " + controllers
		return nil
	}
	if err := m.findClone(); err != nil {
		return err
	}
	modules := []string{own}
	if managed {
		modules = append(modules, ownManagers)
	}
	p, err := m.raised(m.module, modules)
	if err != nil {
		return err
	}
	imports := p.withExtra(managed)
	m.stage("go mod tidy with the modules raised")
	if err := p.tidy(ctx); err != nil {
		return m.untidyError(ctx, err)
	}
	g, before, err := m.check(ctx, p, imports)
	if err != nil {
		return err
	}
	s := &structs{paths: m.paths, library: g.library, local: g.local}
	literals := g.managerLiterals(before)
	changes, err := m.forwardChanges(g, literals)
	if err != nil {
		return err
	}
	settled := g.settle(changes, before, s)
	if err := m.findings(g, before, s, settled, literals); err != nil {
		return err
	}
	if len(settled.texts) == 0 && !m.raisesAlone() {
		return nil
	}
	final, err := m.raised(m.module, modulesOf(settled.texts))
	if err != nil {
		return err
	}
	final.files = settled.texts
	m.stage("go mod tidy")
	if err := final.tidy(ctx); err != nil {
		return err
	}
	return m.finish(ctx, final)
}

// untidyError explains an error of go mod tidy with the modules raised: that causes it, or the module fails
// without it, too.
func (m *mover) untidyError(ctx context.Context, raised error) error {
	p, err := m.newPlan(m.temp, m.goMod)
	if err == nil {
		err = p.tidy(ctx)
	}
	if err != nil && ctx.Err() == nil {
		return fmt.Errorf("nothing can be checked, because the module fails without any change: %w", err)
	}
	if found := m.replaced(); len(found) > 0 {
		return fmt.Errorf("%s:%d: %s; raise or remove the replacements of Kubernetes' modules: %w",
			m.relative(m.path("go.mod")), found[0].Syntax.Start.Line, m.describe(found[0]), raised)
	}
	return fmt.Errorf("with all modules raised, nothing can be checked: %w", raised)
}

// check loads a plan's packages and checks them as they are on the disk.
func (m *mover) check(ctx context.Context, p *plan, imports []string) (*program, *checked, error) {
	m.stage("compile what the module imports")
	g, err := p.load(ctx, imports)
	if err != nil {
		return nil, nil, err
	}
	m.stage("check types")
	return g, g.check(nil), nil
}

func (m *mover) stage(name string) {
	if m.Progress != nil {
		m.Progress(name)
	}
}

// raisesAlone reports whether the module uses our packages already, but other modules have to be raised.
func (m *mover) raisesAlone() bool {
	raises, err := Raises(m.mod, m.ClientGo, m.ControllerRuntime)
	return err == nil && len(raises) > 0 && requirement(m.mod, own) != ""
}

// findClone checks the clone, and that there is one or a version to require.
func (m *mover) findClone() error {
	if m.Clone == "" {
		m.Clone = cloneOf(m.mod)
		if m.Clone == "" && m.Version == "" && requirement(m.mod, own) == "" {
			return errors.New("this kubewright is no release that a go.mod could require; name a clone of it " +
				"with --kubewright DIR")
		}
		return nil
	}
	folder, err := filepath.Abs(filepath.Join(m.Dir, m.Clone))
	if filepath.IsAbs(m.Clone) {
		folder, err = m.Clone, nil
	}
	if err != nil {
		return err
	}
	text, err := os.ReadFile(filepath.Join(folder, "go.mod"))
	if err != nil || modfile.ModulePath(text) != own {
		return fmt.Errorf("--kubewright %s: there is no go.mod of %s", m.Clone, own)
	}
	if !filepath.IsAbs(m.Clone) {
		if m.Clone, err = filepath.Rel(m.root, folder); err != nil {
			return err
		}
	}
	return nil
}

// raised plans a module whose go.mod is raised and requires our modules. It isn't tidy.
func (m *mover) raised(of *module, modules []string) (*plan, error) {
	mod, err := of.parse(of.goMod)
	if err != nil {
		return nil, err
	}
	raises, err := Raises(mod, m.ClientGo, m.ControllerRuntime)
	if err != nil {
		return nil, err
	}
	for _, r := range raises {
		if err := r.apply(mod); err != nil {
			return nil, err
		}
	}
	version := m.Version
	if m.Clone != "" {
		version = "v0.0.0"
	}
	if known := requirement(m.mod, own); semver.Compare(known, version) > 0 {
		version = known
	}
	if err := requireOurs(mod, version, m.Clone, modules); err != nil {
		return nil, err
	}
	text, err := formatted(mod)
	if err != nil {
		return nil, err
	}
	return of.newPlan(m.temp, text)
}

// forwardChanges returns the new texts of the files that could move, by unit and file.
func (m *mover) forwardChanges(g *program, literals []managerLiteral) (map[string]map[string][]byte, error) {
	braces := map[string][]int{}
	m.gets = map[string][]int{}
	for _, l := range literals {
		if l.has == nil && l.brace > 0 {
			braces[l.file] = append(braces[l.file], l.brace)
			m.gets[l.file] = append(m.gets[l.file], l.line)
		}
	}
	return g.changes(func(s *source) ([]byte, error) {
		text, err := there(s.name, s.text, braces[s.name])
		if errors.Is(err, errNameTaken) {
			for _, line := range m.gets[s.name] {
				m.report.byHand(m.relative(s.name), line, err.Error())
			}
			delete(m.gets, s.name)
			return there(s.name, s.text, nil)
		}
		return text, err
	})
}

// changes returns the texts that a function makes of hand-written files, by unit and file, where they differ.
func (g *program) changes(edit func(*source) ([]byte, error)) (map[string]map[string][]byte, error) {
	changes := map[string]map[string][]byte{}
	for _, u := range g.units {
		for _, name := range u.files {
			s := g.sources[name]
			if ast.IsGenerated(s.syntax) {
				continue
			}
			text, err := edit(s)
			if err != nil {
				return nil, err
			}
			if string(text) == string(s.text) {
				continue
			}
			if changes[u.path] == nil {
				changes[u.path] = map[string][]byte{}
			}
			changes[u.path][name] = text
		}
	}
	return changes, nil
}

// modulesOf returns those of our modules that files import.
func modulesOf(texts map[string][]byte) []string {
	found := map[string]bool{}
	for name, text := range texts {
		s, err := parseSource(name, text)
		if err != nil {
			continue // it was made from a file that parses
		}
		for _, spec := range s.syntax.Imports {
			path, module := pathOf(spec), own
			if !isOwn(path) {
				continue
			}
			for _, other := range []string{ownManagers, ownMetrics} {
				if path == other || strings.HasPrefix(path, other+"/") {
					module = other
				}
			}
			found[module] = true
		}
	}
	return slices.Sorted(maps.Keys(found))
}
