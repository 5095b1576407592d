package move

import (
	"bytes"
	"context"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"

	"golang.org/x/mod/modfile"
)

// back moves to client-go's packages.
func (m *mover) back(ctx context.Context) error {
	if requirement(m.mod, own) == "" && requirement(m.mod, ownManagers) == "" {
		m.report.Unmoved = "go.mod doesn't require " + own
		return nil
	}
	p, err := m.newPlan(m.temp, m.goMod)
	if err != nil {
		return err
	}
	imports := p.withExtra(requirement(m.mod, ownManagers) != "")
	g, before, err := m.check(ctx, p, imports)
	if err != nil {
		return err
	}
	s := &structs{paths: m.paths, library: g.library, local: g.local}
	repository := findRepository(ctx, m.root)
	changes, err := g.changes(func(s *source) ([]byte, error) {
		found, err := back(s.name, s.text)
		if err != nil || bytes.Equal(found[0], s.text) || repository == nil {
			return append(found, nil)[0], err
		}
		head := repository.head(ctx, s.name)
		for _, text := range found {
			if bytes.Equal(text, head) {
				return text, nil
			}
		}
		return found[0], nil
	})
	if err != nil {
		return err
	}
	settled := g.settle(changes, before, s)
	if err := m.backFindings(g, settled); err != nil {
		return err
	}
	stays := m.ownImports(g, settled)
	if len(settled.texts) == 0 && stays {
		return nil
	}
	return m.finishBack(ctx, settled.texts, stays)
}

// finishBack writes the files, and a go.mod without our modules, unless something of them stays.
func (m *mover) finishBack(ctx context.Context, texts map[string][]byte, stays bool) error {
	if !stays {
		old, err := m.beforeMove(ctx)
		if err != nil {
			return err
		}
		if old != nil { // its go.mod and go.sum fit together, so they stay as they are
			p, err := old.newPlan(m.temp, old.goMod)
			if err != nil {
				return err
			}
			p.files = texts
			return m.finish(ctx, p)
		}
	}
	mod, err := m.parse(m.goMod)
	if err != nil {
		return err
	}
	if !stays {
		if err := dropOurs(mod); err != nil {
			return err
		}
	}
	text, err := formatted(mod)
	if err != nil {
		return err
	}
	p, err := m.newPlan(m.temp, text)
	if err != nil {
		return err
	}
	p.files = texts
	if err := p.tidy(ctx); err != nil {
		return err
	}
	return m.finish(ctx, p)
}

// beforeMove returns the module as the last commit has it, if the move was made since and nothing else was
// done to go.mod and go.sum: they are what the move writes. Otherwise it returns nil.
func (m *mover) beforeMove(ctx context.Context) (*module, error) {
	repository := findRepository(ctx, m.root)
	if repository == nil {
		return nil, nil
	}
	old := *m.module
	old.goMod = repository.head(ctx, m.path("go.mod"))
	old.goSum = repository.head(ctx, m.path("go.sum"))
	mod, err := m.parse(old.goMod)
	if old.goMod == nil || err != nil || requirement(mod, own) != "" || requirement(mod, ownManagers) != "" {
		return nil, nil
	}
	m.Clone, m.Version = cloneOf(m.mod), requirement(m.mod, own)
	var modules []string
	for _, path := range []string{own, ownManagers, ownMetrics} {
		if requirement(m.mod, path) != "" && !isIndirect(m.mod, path) {
			modules = append(modules, path)
		}
	}
	p, err := m.raised(&old, modules)
	if err != nil {
		return nil, nil // client-go is newer there
	}
	if err := p.tidy(ctx); err != nil {
		return nil, fmt.Errorf("what the move wrote can't be compared: %w", err)
	}
	for name, text := range map[string][]byte{"go.mod": m.goMod, "go.sum": m.goSum} {
		if planned, err := p.read(name); err != nil || !bytes.Equal(planned, text) {
			return nil, err
		}
	}
	if m.workspace != "" {
		return &old, m.findOldWork(p, repository.head(ctx, m.workspace))
	}
	return &old, nil
}

// findOldWork finds out whether go.work is as a plan has changed that of the last commit.
func (m *mover) findOldWork(p *plan, head []byte) error {
	if head == nil {
		return nil
	}
	planned, err := p.workTextOf(head, false)
	if err != nil {
		return err
	}
	current, err := os.ReadFile(m.workspace)
	if bytes.Equal(planned, current) {
		m.oldWork = head
	}
	return err
}

func isIndirect(mod *modfile.File, path string) bool {
	return slices.ContainsFunc(mod.Require, func(r *modfile.Require) bool {
		return r.Mod.Path == path && r.Indirect
	})
}

// ownImports reports whether something in the module needs our modules when these texts are written, and says
// what.
func (m *mover) ownImports(g *program, settled *settlement) (stays bool) {
	for _, tool := range m.mod.Tool {
		if isOwn(tool.Path) {
			stays = true
			m.report.byHand(m.relative(m.path("go.mod")), tool.Syntax.Start.Line,
				"the tool "+tool.Path+" keeps the requirement of kubewright")
		}
	}
	for _, name := range slices.Sorted(maps.Keys(g.sources)) {
		s := g.sources[name]
		if text, ok := settled.texts[name]; ok {
			var err error
			if s, err = parseSource(name, text); err != nil {
				continue // it was made from a file that parses
			}
		}
		for _, spec := range s.syntax.Imports {
			if path := pathOf(spec); isOwn(path) && g.inModule(name) {
				stays = true
				if m.paths[path] == "" {
					m.report.byHand(m.relative(name), s.line(spec.Pos()), strings.TrimPrefix(path, own+"/")+
						" of kubewright has no counterpart that this command knows; its requirement stays")
				}
			}
		}
	}
	return stays
}

// inModule reports whether a file is in one of the module's packages.
func (g *program) inModule(file string) bool {
	return slices.ContainsFunc(g.units, func(u *unit) bool { return slices.Contains(u.files, file) })
}
