package output

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
)

// keeps returns an error about a file that was not generated, and stays as it is. header is the line that it
// would have. A definition of another tool may be replaced on request.
func (s Set) keeps(path string, old []byte, header string) error {
	where, advice := "package clause", "move it or remove it"
	if isYAML(path) {
		where = "first ---"
		if s.Annotation != "" && bytes.Contains(old, []byte("\n    "+s.Annotation+": ")) {
			if s.ReplaceAnnotated {
				return nil
			}
			advice += ", or give --replace-controller-gen"
		}
	}
	return fmt.Errorf("%s was not generated: there is no line %q above its %s; %s", path, header, where, advice)
}

// lost notes the packages that a definition was made from, and isn't any more.
func (p *Plan) lost(path string, old, now *Record) {
	if old == nil || now == nil {
		return
	}
	packages := slices.DeleteFunc(slices.Clone(old.Packages), func(pkg string) bool {
		return slices.Contains(now.Packages, pkg)
	})
	if len(packages) > 0 {
		p.Lost[path] = &Record{Packages: packages, Type: old.Type}
	}
}

// staleManifests searches the folder of definitions for those that aren't in the set.
func (p *Plan) staleManifests(wanted map[string]bool, resolve func(string) string) error {
	if p.set.Manifests == "" {
		return nil
	}
	entries, err := os.ReadDir(p.set.Manifests)
	if errors.Is(err, fs.ErrNotExist) { // the first run creates it
		return nil
	}
	for _, entry := range entries {
		path := filepath.Join(p.set.Manifests, entry.Name())
		switch {
		case !entry.Type().IsRegular():
		case isTemporary(entry.Name()):
			p.leftovers = append(p.leftovers, path)
		case isYAML(path) && !wanted[resolve(path)]:
			if err := p.stale(path); err != nil {
				return err
			}
		}
	}
	return err
}
