package output

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// temporary is in the name of a file that is not complete yet. Go's tools
// ignore names that begin with a dot.
const temporary = ".kubewright-tmp-"

func isTemporary(name string) bool {
	return strings.HasPrefix(name, ".") && strings.Contains(name, temporary)
}

// Apply writes the changed files, and with prune removes the stale ones and
// the folders that are empty without them.
//
// All files are written under temporary names first and renamed when every one
// of them is complete. So an error leaves everything as it was, and a process
// that is killed leaves each file either old or new; the next run does the
// rest and removes the temporary files.
func (p *Plan) Apply(prune bool) error {
	st := &staging{temps: make([]string, len(p.Changed))}
	if err := st.write(p.Changed, p.set.Files); err != nil {
		st.undo()
		return err
	}
	for i, path := range p.Changed {
		if err := os.Rename(st.temps[i], path); err != nil {
			st.undo()
			return fmt.Errorf("can't replace %s: %w", path, err)
		}
		st.temps[i] = ""
	}
	for _, path := range p.leftovers {
		if err := remove(path); err != nil {
			return err
		}
	}
	if !prune {
		return nil
	}
	for _, path := range p.Stale {
		if err := remove(path); err != nil {
			return err
		}
		p.removeEmpty(filepath.Dir(path))
	}
	return nil
}

func remove(path string) error {
	if err := os.Remove(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("can't remove %s: %w", path, reason(err))
	}
	return nil
}

// removeEmpty removes dir and the folders above it, as far as they are empty
// and inside one of the trees. Removing a folder that is not empty fails, and
// that is where it ends.
func (p *Plan) removeEmpty(dir string) {
	for {
		inside := slices.ContainsFunc(p.set.Trees, func(tree string) bool {
			return strings.HasPrefix(clean(dir), clean(tree)+string(filepath.Separator))
		})
		if !inside || os.Remove(dir) != nil {
			return
		}
		dir = filepath.Dir(dir)
	}
}

// staging is what has to go again if not everything can be written.
type staging struct {
	temps []string // by index of the file; "" where there is none
	dirs  []string // folders made, the outer ones first
}

// write puts the content of each path into a temporary file beside it.
func (st *staging) write(paths []string, contents map[string][]byte) error {
	made := map[string]bool{}
	for _, path := range paths {
		dir := filepath.Dir(path)
		if made[dir] {
			continue
		}
		made[dir] = true
		if err := st.mkdir(dir); err != nil {
			return fmt.Errorf("can't make the folder %s: %w", dir, reason(err))
		}
	}
	errs := make([]error, len(paths))
	inParallel(len(paths), func(i int) {
		if err := st.writeOne(i, paths[i], contents[paths[i]]); err != nil {
			errs[i] = fmt.Errorf("can't write %s: %w", paths[i], reason(err))
		}
	})
	// One message is enough: where one file can't be written, others can't either.
	for _, err := range errs {
		if err != nil {
			return err
		}
	}
	return nil
}

func (st *staging) writeOne(i int, path string, content []byte) error {
	// What is there keeps its mode; a new file gets the usual one.
	mode := fs.FileMode(0o644)
	if info, err := os.Stat(path); err == nil {
		if info.IsDir() {
			return errors.New("it is a folder")
		}
		mode = info.Mode().Perm()
	}
	f, err := os.CreateTemp(filepath.Dir(path), "."+filepath.Base(path)+temporary)
	if err != nil {
		return err
	}
	st.temps[i] = f.Name()
	_, err = f.Write(content)
	return errors.Join(err, f.Chmod(mode), f.Close())
}

// mkdir makes dir and what is missing above it, and remembers what it made.
func (st *staging) mkdir(dir string) error {
	var missing []string
	for d := filepath.Clean(dir); ; d = filepath.Dir(d) {
		if _, err := os.Stat(d); !errors.Is(err, fs.ErrNotExist) {
			break // it exists, or making the folder below it says why not
		}
		missing = append(missing, d)
	}
	for _, d := range slices.Backward(missing) {
		switch err := os.Mkdir(d, 0o755); {
		case errors.Is(err, fs.ErrExist):
			// Another run made it in between, and will remove it if it has to.
		case err != nil:
			return err
		default:
			st.dirs = append(st.dirs, d)
		}
	}
	if info, err := os.Stat(dir); err != nil {
		return err
	} else if !info.IsDir() {
		return errors.New("there is a file of that name")
	}
	return nil
}

func (st *staging) undo() {
	for _, temp := range st.temps {
		if temp != "" {
			os.Remove(temp)
		}
	}
	for _, dir := range slices.Backward(st.dirs) {
		os.Remove(dir)
	}
}
