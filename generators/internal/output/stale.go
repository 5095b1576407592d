package output

import (
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"
)

// findStale searches the trees for generated files that aren't in the set, and for temporary files
// of a run that was killed. A tree may be a link to a folder. Links inside of trees aren't
// followed, as their targets are outside.
func (p *Plan) findStale() error {
	resolve := resolver(p.set.Trees)
	wanted := make(map[string]bool, len(p.set.Files))
	own := map[string]bool{} // the folders of wanted files
	for path := range p.set.Files {
		path = resolve(path)
		wanted[path], own[filepath.Dir(path)] = true, true
	}
	for _, tree := range p.set.Trees {
		// With the separator, WalkDir enters a tree that is a link.
		root := filepath.Clean(tree) + string(filepath.Separator)
		err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
			if err != nil {
				// The first run creates the tree.
				if path == root && errors.Is(err, fs.ErrNotExist) {
					return filepath.SkipAll
				}
				return err
			}
			// Only generated Go files can be stale.
			switch {
			case d.IsDir():
				if path != root && (!own[resolve(path)] && p.isRoot(path) ||
					foreign(path) && !hasAny(resolve(path), own)) {
					return filepath.SkipDir
				}
			case !d.Type().IsRegular():
			case isTemporary(d.Name()):
				p.leftovers = append(p.leftovers, path)
			case strings.HasSuffix(path, ".go") && !wanted[resolve(path)]:
				return p.stale(path)
			}
			return nil
		})
		if err != nil {
			return fmt.Errorf("looking for stale files in %s: %w", tree, err)
		}
	}
	if err := p.staleManifests(wanted, resolve); err != nil {
		return fmt.Errorf("looking for stale files in %s: %w", p.set.Manifests, err)
	}
	// Trees may contain each other.
	for _, files := range []*[]string{&p.Stale, &p.Unrecorded} {
		slices.Sort(*files)
		*files = slices.Compact(*files)
	}
	return nil
}

// stale notes a file that isn't in the set, if it is generated.
func (p *Plan) stale(path string) error {
	h, err := p.set.headOf(path)
	switch {
	case err != nil:
		return err
	case h.header == "":
	case h.record == nil && !p.set.RemoveUnrecorded:
		p.Unrecorded = append(p.Unrecorded, path)
	default:
		p.Stale = append(p.Stale, path)
		p.Records[path] = h.record
	}
	return nil
}

// resolver returns a function that makes the paths of files in the trees comparable: absolute,
// and in the folders that the trees are links to.
func resolver(trees []string) func(path string) string {
	abs, targets := absolute(), map[string]string{}
	for _, tree := range trees {
		if target, err := filepath.EvalSymlinks(abs(tree)); err == nil { // else it isn't there yet
			targets[abs(tree)] = target
		}
	}
	return func(path string) string {
		path = abs(path)
		for dir := path; dir != filepath.Dir(dir); dir = filepath.Dir(dir) {
			if target, ok := targets[dir]; ok { // the innermost tree
				return target + path[len(dir):]
			}
		}
		return path
	}
}

// hasAny reports whether one of the folders is dir or in it.
func hasAny(dir string, folders map[string]bool) bool {
	for folder := range folders {
		if folder == dir || strings.HasPrefix(folder, dir+string(filepath.Separator)) {
			return true
		}
	}
	return false
}

// isRoot reports whether a folder looks like the root of a tree; see Set.Roots.
func (p *Plan) isRoot(dir string) bool {
	return slices.ContainsFunc(p.set.Roots, func(names []string) bool {
		return !slices.ContainsFunc(names,
			func(name string) bool { return !Exists(filepath.Join(dir, name)) })
	})
}

// foreign reports whether a folder is a vendor folder or the root of another module.
func foreign(dir string) bool {
	return filepath.Base(dir) == "vendor" || Exists(filepath.Join(dir, "go.mod"))
}
