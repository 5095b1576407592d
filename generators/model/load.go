package model

import (
	"context"
	"errors"
	"fmt"
	"go/scanner"
	"go/token"
	"path/filepath"
	"slices"
	"strings"

	"github.com/kubewright/kubewright/generators/marker"
)

// Load reads the packages that cfg names and works out what to generate.
//
// It looks at syntax only: one call of go list for all patterns, a parse of
// the packages' files, and a look at other packages only where a tag, an
// alias or an embedded struct leads there. Nothing is compiled, so that it
// works on packages whose imports are not there yet.
//
// It reports every problem that it finds, sorted; when one of them is more
// than a warning the API is nil.
func Load(ctx context.Context, cfg Config) (*API, marker.Problems) {
	l := newLoader(ctx, cfg)
	packages := l.find()
	l.parse(packages)
	packages = slices.DeleteFunc(packages, func(p *candidate) bool { return p.broken })
	for _, p := range packages {
		l.describe(p)
	}
	l.resolveMethods(packages)
	api := l.assemble(packages)
	l.checkNames(api)
	if cfg.has(ApplyConfigurations) {
		api.Apply = l.apply(packages)
	}
	if cfg.has(Views) {
		api.Types = l.types(packages)
	}
	l.checkEmpty(packages)
	l.checkPlurals(packages)
	l.checkIncluded(packages)
	if err := context.Cause(ctx); err != nil {
		l.fail(token.Position{}, "%v", err)
	}
	problems := l.problems.Sort()
	if problems.Fatal() {
		return nil, problems
	}
	return api, problems
}

// loader is the state of one Load.
type loader struct {
	cfg Config
	sources
	namers   namers
	problems marker.Problems
}

// candidate is a package of the input on its way to a Package.
type candidate struct {
	input    Input
	wildcard bool
	listed   listed
	src      *source
	broken   bool
	tags     marker.Package
	pkg      *Package
	kinds    []*Kind
	bare     []*Kind // those of them without ObjectMeta
	// internal is true for hub types; see Version.Internal.
	internal bool
}

func newLoader(ctx context.Context, cfg Config) *loader {
	cfg.Inputs = slices.Clone(cfg.Inputs)
	for i := range cfg.Inputs {
		cfg.Inputs[i].Pattern = cleanPattern(cfg.Inputs[i].Pattern)
	}
	base, err := filepath.Abs(cfg.Dir)
	if err != nil {
		base = cfg.Dir // there is no working directory; messages get longer
	}
	return &loader{cfg: cfg, namers: newNamers(cfg.PluralExceptions),
		sources: sources{ctx: ctx, dir: cfg.Dir, base: base, fset: token.NewFileSet(), byPath: map[string]*source{}}}
}

// find asks go list for the packages. Those of explicit inputs come in the
// order of the inputs, the others by import path.
func (l *loader) find() []*candidate {
	patterns := l.cfg.patterns()
	if len(patterns) == 0 {
		l.fail(token.Position{}, "no packages given")
		return nil
	}
	packages, err := goList(l.ctx, l.cfg.Dir, patterns)
	if err != nil {
		l.fail(token.Position{}, "%v", err)
		return nil
	}
	var found []*candidate
	for _, input := range l.cfg.Inputs {
		matches := 0
		for _, p := range packages {
			if !slices.Contains(p.Match, input.Pattern) || input.Explicit && matches > 0 {
				continue
			}
			matches++
			same := func(c *candidate) bool {
				return c.listed.ImportPath == p.ImportPath && c.input.Explicit == input.Explicit
			}
			if i := slices.IndexFunc(found, same); i >= 0 && !input.Explicit {
				found[i].wildcard = found[i].wildcard && wildcard(input.Pattern)
				continue
			}
			found = append(found, &candidate{input: input, wildcard: wildcard(input.Pattern), listed: p})
		}
		if matches == 0 {
			l.lax(token.Position{Filename: input.Pattern}, "the pattern matches no packages%s", l.patternHint(input.Pattern, ""))
		}
	}
	slices.SortStableFunc(found, func(a, b *candidate) int {
		if a.input.Explicit || b.input.Explicit {
			return 0
		}
		return strings.Compare(a.listed.ImportPath, b.listed.ImportPath)
	})
	return found
}

func wildcard(pattern string) bool { return strings.Contains(pattern, "...") }

// parse parses the packages and reports those that can't be used.
func (l *loader) parse(packages []*candidate) {
	var sources []*source
	for _, p := range packages {
		if p.src = l.byPath[p.listed.ImportPath]; p.src != nil {
			continue
		}
		p.src = newSource(p.listed, l.fset, l.base)
		l.byPath[p.listed.ImportPath] = p.src
		sources = append(sources, p.src)
	}
	if len(sources) > 0 {
		parseAll(sources)
	}
	for _, p := range packages {
		before := len(l.problems)
		for _, f := range p.src.files {
			l.syntax(f)
		}
		if e := p.listed.Error; e != nil && len(l.problems) == before {
			where := token.Position{Filename: p.input.Pattern}
			if e.Pos != "" {
				where.Filename = e.Pos
			}
			message := strings.TrimPrefix(oneLine(e.Err), "pattern "+p.input.Pattern+": ")
			if own := l.noFolder(p.input.Pattern); own != "" && strings.Contains(message, "go get") {
				message = own
			}
			l.fail(where, "%s%s", message, l.patternHint(p.input.Pattern, message))
		}
		p.broken = len(l.problems) > before || p.listed.Error != nil
	}
}

// syntax reports what is wrong with a file, every error of it.
func (l *loader) syntax(f *file) {
	var list scanner.ErrorList
	switch {
	case f.err == nil:
	case errors.As(f.err, &list):
		for _, e := range list {
			l.fail(e.Pos, "%s", e.Msg)
		}
	default:
		l.fail(token.Position{Filename: f.name}, "%v", f.err)
	}
}

// fail reports what upstream refuses too, or generates broken code for.
func (l *loader) fail(pos token.Position, format string, args ...any) {
	l.problems = append(l.problems, marker.Problem{Pos: pos, Message: fmt.Sprintf(format, args...)})
}

// lax reports what upstream accepts and compiles: an error only for the strict.
func (l *loader) lax(pos token.Position, format string, args ...any) {
	l.report(!l.cfg.Strict, pos, format, args...)
}

// warn reports what nobody refuses.
func (l *loader) warn(pos token.Position, format string, args ...any) {
	l.report(true, pos, format, args...)
}

// failFor reports what is broken in the output of some generators only: an
// error when one of them is to run.
func (l *loader) failFor(g Generators, pos token.Position, format string, args ...any) {
	l.report(!l.cfg.Strict && !l.cfg.has(g), pos, format, args...)
}

func (l *loader) report(warning bool, pos token.Position, format string, args ...any) {
	l.problems = append(l.problems, marker.Problem{Pos: pos, Message: fmt.Sprintf(format, args...), Warning: warning})
}
