package model

import (
	"context"
	"errors"
	"go/scanner"
	"go/token"
	"path/filepath"
	"slices"
	"strings"

	"github.com/kubewright/kubewright/generators/internal/marker"
)

// Load reads the packages that cfg names and derives the model from them.
//
// It reads syntax only: one call of go list for all patterns, a parse of the files,
// and a look at other packages only where a tag, an alias or an embedded struct
// refers to one. Nothing is type-checked, so Load is fast and works on packages
// whose dependencies are missing or don't compile.
//
// Load reports every problem that it finds, sorted. If one of them is not just a
// warning, the API is nil. If ctx ends, the problems have its cause.
//
// Load is safe for concurrent use. The API isn't changed afterwards.
func Load(ctx context.Context, cfg Config) (*API, marker.Problems) {
	s := newSession(ctx, cfg)
	packages := s.parse(s.find())
	s.checkVendor(packages)
	api := &API{}
	if cfg.makes(Registrations) { // first, as other checks depend on it
		api.Registrations = s.readRegistrations(packages)
	}
	if cfg.makes(DeepCopies) {
		api.Copies = s.readCopies(packages)
	}
	s.checkRegistrations(api.Registrations)
	if cfg.makes(Defaults) {
		api.Defaults = s.readDefaults(packages)
	}
	if cfg.Generators&^helpers != 0 || cfg.Generators == 0 {
		s.readAPI(api, packages)
	} else {
		s.lintAll(packages)
		if cfg.makes(Definitions) {
			api.CRDs = s.readCRDs(packages)
		}
	}
	if err := context.Cause(ctx); err != nil {
		s.Errorf(token.Position{}, "%v", err)
	}
	problems := s.Problems.Sort()
	if problems.Fatal() {
		if api.CRDs != nil { // whose problems are otherwise reported with those of the definitions
			problems = append(problems, atOtherPlaces(api.CRDs.Problems, problems)...).Sort()
		}
		return nil, problems
	}
	return api, problems
}

// atOtherPlaces returns the problems at whose places others has no error, from which they may follow.
func atOtherPlaces(problems, others marker.Problems) marker.Problems {
	return slices.DeleteFunc(slices.Clone(problems), func(p marker.Problem) bool {
		return slices.ContainsFunc(others, func(other marker.Problem) bool {
			return other.Pos == p.Pos && !other.Warning
		})
	})
}

// readAPI adds groups, versions, kinds, and all that follows from them.
func (s *session) readAPI(api *API, packages []*candidate) {
	all := packages
	packages = s.leaveOutHubs(packages)
	kinds := kindReader{session: s, namers: newNamers(s.cfg.PluralExceptions)}
	for _, p := range packages {
		kinds.readPackage(p)
	}
	s.checkRegisteredGroups(packages)
	// After all packages: methods refer to types of each other's packages.
	kinds.resolveMethods(packages)
	(&grouper{s}).group(api, packages)
	check := checker{s}
	check.names(api)
	if s.cfg.has(ApplyConfigurations) {
		api.Apply = (&applyReader{s}).read(packages)
	}
	if s.cfg.Strict && s.cfg.has(Clients) {
		(&applyReader{s}).findInputs(packages, api.Apply)
	}
	if s.cfg.has(Views) {
		api.Types = s.viewedTypes(packages)
	}
	s.checkImports(packages)      // now it's known which ones matter
	if s.cfg.makes(Definitions) { // after all that stand-ins are enough for, as it reads the packages themselves
		api.CRDs = s.readCRDs(all)
	}
	// Last: it reports that nothing is generated only if nothing else is wrong.
	check.inputs(api, packages)
}

// lintAll checks tags by the rules of [Config.LintRules] if no resources are read.
func (s *session) lintAll(packages []*candidate) {
	for _, p := range packages {
		p.pkg = &Package{Pos: p.position(s.base)}
		(&linter{s}).lint(p)
	}
}

// session is what the stages of one [Load] share: the configuration, the packages
// that were read so far, and the problems that were found.
type session struct {
	cfg *Config
	*sources
	marker.Reporter
	// nested are packages whose registration is to be generated in another module first.
	nested map[*source]bool
	// copied are the DeepCopy methods that this run generates, as "path.Type.Method", replaced the files that it
	// writes them to.
	copied   map[string]bool
	replaced map[*source]string
	// uncopied are types, as "path.Type", whose +k8s:deepcopy-gen:interfaces has no effect.
	uncopied map[string]bool
	// noFolders are the results of noOwnFolder.
	noFolders map[string]string
	// hubs are the packages with +genclient that leaveOutHubs has removed.
	hubs []*candidate
}

// candidate is a package of the input. The stages of [Load] fill it in.
type candidate struct {
	input Input
	// wildcard is true if only patterns with "..." match the package: nobody
	// named it, so it isn't an error if nothing is to be generated for it.
	wildcard bool
	listed   listed
	src      *source
	tags     marker.Package
	// elsewhere are tags of packages in other files than doc.go, where they have no effect.
	elsewhere []marker.Tag
	// registered is the group and version that the types are registered in.
	registered registeredGroup
	// misregistered is true if it was reported that the group isn't that of the model.
	misregistered bool
	pkg           *Package
	kinds         []*Kind
	bare          []*Kind // the kinds without ObjectMeta
	// only is true for a package without kinds and with a +genclient that no type owns: its group gets a client
	// without methods.
	only bool
	// internal is true for hub types; see Version.Internal.
	internal bool
	// registers is true if generated code registers the types, helped if any code is
	// generated into the package.
	registers, helped bool
}

// own reports whether the package is in the main module or the workspace: others aren't ours to
// write to.
func (p *candidate) own() bool { return p.listed.Module == nil || p.listed.Module.Main }

// newSession returns a session without any packages.
func newSession(ctx context.Context, cfg Config) *session {
	cfg.Inputs = slices.Clone(cfg.Inputs)
	for i := range cfg.Inputs {
		cfg.Inputs[i].Pattern = cleanPattern(cfg.Inputs[i].Pattern)
	}
	base, err := filepath.Abs(cfg.Dir)
	if err != nil {
		base = cfg.Dir // no working directory: messages have longer paths
	}
	tag := buildTag
	if cfg.BuildTag != nil {
		tag = *cfg.BuildTag
	}
	fset := token.NewFileSet()
	return &session{cfg: &cfg, Reporter: marker.Reporter{Strict: cfg.Strict}, noFolders: map[string]string{},
		sources: &sources{ctx: ctx, dir: cfg.Dir, base: base, fset: fset, buildTag: tag,
			byPath: map[string]*source{}, found: map[string]listed{}, standIns: standIns(fset)},
		nested: map[*source]bool{}}
}

// GeneratorErrorf reports input that breaks the output of some generators only. It
// is an error in strict mode, and otherwise if one of the generators is to run.
func (s *session) GeneratorErrorf(g Generators, pos token.Position, format string, args ...any) {
	s.Report(!s.cfg.Strict && !s.cfg.has(g), pos, format, args...)
}

// find lists the packages of the inputs. Packages of explicit inputs are in the order of the
// inputs, others by import path.
func (s *session) find() []*candidate {
	patterns := s.cfg.patterns()
	if len(patterns) == 0 {
		s.Errorf(token.Position{}, "no packages given")
		return nil
	}
	// One call for all patterns: to start the go command takes longer than to list a package.
	packages, err := goList(s.ctx, s.cfg.Dir, s.buildTag, patterns)
	if err != nil {
		s.Errorf(token.Position{}, "%s", listError(err))
		return nil
	}
	var found []*candidate
	for _, input := range s.cfg.Inputs {
		matches := 0
		for _, p := range packages {
			// An explicit input is one group version, so only its first match counts.
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
			s.StrictErrorf(token.Position{Filename: input.Pattern}, "the pattern matches no packages%s",
				noMatch(s.ctx, s.cfg.Dir, input.Pattern))
		}
	}
	// By import path the output doesn't depend on the order of arguments. Client-gen keeps
	// the order of --input within a group.
	slices.SortStableFunc(found, func(a, b *candidate) int {
		if a.input.Explicit || b.input.Explicit {
			return 0
		}
		return strings.Compare(a.listed.ImportPath, b.listed.ImportPath)
	})
	return found
}

// wildcard reports whether a pattern can match packages that nobody named.
func wildcard(pattern string) bool { return strings.Contains(pattern, "...") }

// parse parses the packages, reports those that can't be used, and returns the
// others.
func (s *session) parse(packages []*candidate) []*candidate {
	var sources []*source
	for _, p := range packages {
		if p.src = s.byPath[p.listed.ImportPath]; p.src != nil {
			continue
		}
		p.src = newSource(p.listed, s.fset, s.base)
		s.byPath[p.listed.ImportPath] = p.src
		sources = append(sources, p.src)
	}
	if len(sources) > 0 {
		parseAll(sources)
	}
	return slices.DeleteFunc(packages, func(p *candidate) bool { return !s.usable(p) })
}

// usable reports whether go list and the parser accept a package. It reports their errors as
// problems.
func (s *session) usable(p *candidate) bool {
	before := len(s.Problems)
	for _, f := range p.src.files {
		s.syntaxErrors(f)
	}
	switch e := p.listed.Error; {
	case len(s.Problems) > before:
		// go list reports the first of these errors, too.
		return false
	case e != nil:
		where := token.Position{Filename: p.input.Pattern}
		if e.Pos != "" {
			where.Filename = e.Pos
		}
		// The position has the pattern already.
		message := strings.TrimPrefix(oneLine(e.Err), "pattern "+p.input.Pattern+": ")
		if own := noFolder(s.ctx, s.cfg.Dir, p.input.Pattern); own != "" {
			s.Errorf(token.Position{Filename: p.input.Pattern}, "%s", own)
			return false
		}
		if own := inOtherModule(s.ctx, s.cfg.Dir, p.input.Pattern); own != "" {
			s.Errorf(token.Position{Filename: p.input.Pattern}, "it is %s", own)
			return false
		}
		s.Errorf(where, "%s%s", message, patternHint(s.cfg.Dir, p.input.Pattern, message))
		return false
	}
	for _, decl := range p.src.doubled {
		first := s.at(p.src.types[decl.name].spec)
		s.Errorf(s.at(decl.spec), "type %s is declared in %s:%d, too; rename or remove one", decl.name,
			first.Filename, first.Line)
	}
	return true
}

// syntaxErrors reports all errors of a file that can't be read or parsed.
func (s *session) syntaxErrors(f *file) {
	var list scanner.ErrorList
	switch {
	case f.err == nil:
	case errors.As(f.err, &list):
		for _, e := range list {
			s.Errorf(e.Pos, "%s", e.Msg)
		}
	default:
		s.Errorf(token.Position{Filename: f.name}, "%v", f.err)
	}
}
