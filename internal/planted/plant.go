package planted

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"
)

// edit is the replacement of a part of a file.
type edit struct {
	bug      string
	from, to int
	text     string
}

// plant returns the files, by absolute path, that differ from those on disk once all bugs are planted.
func plant(root string, bugs map[string]Bug) (map[string]string, error) {
	functions, err := functionsBelow(root)
	if err != nil {
		return nil, err
	}
	edits := map[*source][]edit{}
	var errs []error
	for _, name := range slices.Sorted(maps.Keys(bugs)) {
		for _, p := range bugs[name].places {
			f, at, err := p.find(functions)
			if err != nil {
				errs = append(errs,
					fmt.Errorf("bug %q: %w below %s; where should the bug be now?", name, err, root))
				continue
			}
			text := strings.ReplaceAll(p.new, "BUG", fmt.Sprintf("planted(%q)", name))
			edits[f.source] = append(edits[f.source], edit{name, f.from + at.from, f.from + at.to, text})
		}
	}
	changed := map[string]string{}
	for source, edits := range edits {
		text, err := source.with(edits)
		errs = append(errs, err)
		changed[source.path] = text
		changed[filepath.Join(filepath.Dir(source.path), "planted.go")] = "package " + source.pkg + `

import "os"

var plantedBug = os.Getenv("PLANTED_BUG")

func planted(bug string) bool { return bug == plantedBug }
`
	}
	return changed, errors.Join(errs...)
}

// find returns the function that the place names, and where the text is in it.
func (p place) find(functions map[string][]function) (function, span, error) {
	switch named := functions[p.function]; {
	case len(named) == 0:
		return function{}, span{}, fmt.Errorf("there is no function %s", p.function)
	case len(named) > 1:
		return function{}, span{}, fmt.Errorf("%d functions are named %s, in %s and %s",
			len(named), p.function, named[0].source.path, named[1].source.path)
	default:
		found := occurrences(named[0].text(), p.old)
		if len(found) != 1 {
			return function{}, span{}, fmt.Errorf("%q is %d times in %s", p.old, len(found), p.function)
		}
		return named[0], found[0], nil
	}
}

// with returns the text of the file after the edits.
func (s *source) with(edits []edit) (string, error) {
	slices.SortFunc(edits, func(a, b edit) int { return cmp.Compare(a.from, b.from) })
	var text strings.Builder
	end := 0
	for i, e := range edits {
		if e.from < end {
			return "", fmt.Errorf("bugs %q and %q replace the same text", edits[i-1].bug, e.bug)
		}
		text.WriteString(s.text[end:e.from] + e.text)
		end = e.to
	}
	return text.String() + s.text[end:], nil
}
