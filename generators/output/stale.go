package output

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// findStale searches the trees for generated files that aren't in the set, and for temporary
// files of a run that was killed. It doesn't follow links to folders, which are outside of
// the tree.
func (p *Plan) findStale() error {
	wanted := make(map[string]bool, len(p.set.Files))
	own := map[string]bool{} // the folders of wanted files
	for path := range p.set.Files {
		wanted[clean(path)] = true
		own[filepath.Dir(clean(path))] = true
	}
	for _, tree := range p.set.Trees {
		err := filepath.WalkDir(tree, func(path string, d fs.DirEntry, err error) error {
			if err != nil {
				// The first run creates the tree.
				if path == tree && errors.Is(err, fs.ErrNotExist) {
					return filepath.SkipAll
				}
				return err
			}
			// Only generated Go files can be stale.
			switch {
			case d.IsDir():
				if path != tree && !own[clean(path)] && p.isRoot(path) {
					return filepath.SkipDir
				}
			case !d.Type().IsRegular():
			case isTemporary(d.Name()):
				p.leftovers = append(p.leftovers, path)
			case strings.HasSuffix(path, ".go") && !wanted[clean(path)]:
				generated, err := p.set.isGeneratedFile(path)
				if err != nil {
					return err
				}
				if generated {
					p.Stale = append(p.Stale, path)
				}
			}
			return nil
		})
		if err != nil {
			return fmt.Errorf("looking for stale files in %s: %w", tree, err)
		}
	}
	// Trees may contain each other.
	slices.Sort(p.Stale)
	p.Stale = slices.Compact(p.Stale)
	return nil
}

// isRoot reports whether a folder looks like the root of a tree; see Set.Roots.
func (p *Plan) isRoot(dir string) bool {
	return slices.ContainsFunc(p.set.Roots, func(names []string) bool {
		return !slices.ContainsFunc(names,
			func(name string) bool { return !Exists(filepath.Join(dir, name)) })
	})
}

// Has reports whether a folder has a generated file, with one of the set's headers, whose path
// matches a pattern.
func (s Set) Has(dir, pattern string) bool {
	names, err := fs.Glob(os.DirFS(dir), pattern)
	return err == nil && slices.ContainsFunc(names, func(name string) bool {
		generated, err := s.isGeneratedFile(filepath.Join(dir, filepath.FromSlash(name)))
		return err == nil && generated
	})
}

// isGeneratedFile is isGenerated for a file on the disk.
func (s Set) isGeneratedFile(path string) (bool, error) {
	f, err := os.Open(path)
	if err != nil {
		return false, err
	}
	defer f.Close()
	return s.isGenerated(f), nil
}

// isGenerated reports whether a line before the package clause of the file is one of the
// set's headers, or one of the others.
func (s Set) isGenerated(file io.Reader, others ...string) bool {
	// Only the start of the file is read, which in a big tree saves most of the time.
	for lines := bufio.NewScanner(file); lines.Scan(); {
		line := lines.Text()
		if slices.Contains(s.Headers, line) || slices.Contains(others, line) {
			return true
		}
		if strings.HasPrefix(line, "package ") {
			return false
		}
	}
	return false // a line that is too long for a header, or no Go file
}
