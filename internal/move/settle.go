package move

import (
	"maps"
	"slices"
	"strings"
)

// putBack is a unit that stays as it is, and why.
type putBack struct {
	unit   string
	reason problem
	// through is the connection to the unit that fails, "" if the unit fails itself.
	through string
	// anyway is true if the unit that fails also does without the move.
	anyway bool
}

// settlement is what a move comes to: the texts that change, by file, and the units that can't.
type settlement struct {
	texts map[string][]byte
	back  []putBack
}

// settle finds out which units can change. It checks all changes together, puts back what fails, with what is
// connected to it by a type that differs, and repeats this until nothing fails that didn't before.
//
// changes are the new texts of each unit's files, before is the result without them.
func (g *program) settle(changes map[string]map[string][]byte, before *checked, types *structs) *settlement {
	links, deep := types.links(before, false), types.links(before, true)
	s := &settlement{texts: map[string][]byte{}}
	remaining := maps.Clone(changes)
	anyway := true
	put := func(unit string, reason problem, through string) bool {
		if remaining[unit] == nil {
			return false
		}
		delete(remaining, unit)
		s.back = append(s.back, putBack{unit, reason, through, anyway})
		return true
	}
	putAll := func(unit string, reason problem) (some bool) {
		some = put(unit, reason, "")
		others := connected(unit, links)
		for _, other := range slices.Sorted(maps.Keys(others)) {
			if put(other, reason, typeName(others[other].changes)) {
				some = true
			}
		}
		return some
	}
	for _, u := range g.units {
		if failed := append(u.problems, before.problems[u.path]...); len(failed) > 0 {
			putAll(u.path, failed[0])
		}
	}
	anyway = false
	for len(remaining) > 0 {
		texts := map[string][]byte{}
		for _, files := range remaining {
			maps.Copy(texts, files)
		}
		after := g.check(texts)
		some := false
		for _, unit := range slices.Sorted(maps.Keys(after.problems)) {
			reason, isNew := newProblem(after.problems[unit], before.problems[unit])
			if isNew && !putAll(unit, reason) {
				// It stays as it is, so what it fails with has to: of that it knows a type, or imports it.
				isNew = putDirect(unit, deep, func(l link, path string) bool {
					return put(path, reason, typeName(l.changes))
				}) || g.putImports(unit, func(path string) bool { return put(path, reason, "an import") })
			}
			some = some || isNew
		}
		if !some {
			s.texts = texts
			break
		}
	}
	slices.SortFunc(s.back, func(a, b putBack) int { return strings.Compare(a.unit, b.unit) })
	return s
}

// putDirect puts back the units that have a link with a unit.
func putDirect(unit string, links []link, put func(l link, path string) bool) (some bool) {
	for _, l := range links {
		switch unit {
		case l.from:
			some = put(l, l.to) || some
		case l.to:
			some = put(l, l.from) || some
		}
	}
	return some
}

// newProblem returns the first problem that wasn't there before.
func newProblem(after, before []problem) (problem, bool) {
	for _, p := range after {
		if !slices.Contains(before, p) {
			return p, true
		}
	}
	return problem{}, false
}

// putImports puts back the units that a unit imports, directly or not, until there is one to put back.
func (g *program) putImports(unit string, put func(path string) bool) (some bool) {
	seen := map[string]bool{unit: true}
	for next := []string{unit}; len(next) > 0 && !some; {
		var after []string
		for _, pkg := range g.packages {
			if !slices.Contains(next, unitOf(pkg)) {
				continue
			}
			for _, i := range pkg.Imports {
				if path := unitOf(i); g.local[path] && !seen[path] {
					seen[path] = true
					after = append(after, path)
				}
			}
		}
		slices.Sort(after)
		for _, path := range after {
			some = put(path) || some
		}
		next = after
	}
	return some
}
