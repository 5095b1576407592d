package output

import (
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// temporary is part of the names of incomplete files. They also begin with a dot, so that the
// go command ignores them.
const temporary = ".kubewright-tmp-"

// isTemporary reports whether a file is one that a killed run left behind.
func isTemporary(name string) bool {
	return strings.HasPrefix(name, ".") && strings.Contains(name, temporary)
}

// Apply writes the changed files. If prune is true it also removes the stale ones, and the
// folders that become empty.
//
// It writes all files under temporary names before it renames the first one. So an error while writing
// leaves the disk unchanged, and a process that is killed leaves each file either old or new, and
// temporary files. The next run removes those that are in the trees. Two runs at a time that write the
// same folder don't corrupt files, but one may remove the other's temporary files and thereby make it
// fail.
func (p *Plan) Apply(prune bool) error {
	st := &staging{temps: make([]string, len(p.Changed))}
	err := st.write(p.Changed, p.set.Files, p.old)
	if err == nil {
		err = st.rename(p.Changed)
	}
	if err != nil {
		st.undo()
		return err
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

// remove removes a file, which may be gone already.
func remove(path string) error {
	if err := os.Remove(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("can't remove %s: %w", path, reason(err))
	}
	return nil
}

// removeEmpty removes dir and its parents as far as they are empty and inside one of the
// trees. It stops at the first folder that can't be removed because it isn't empty.
func (p *Plan) removeEmpty(dir string) {
	abs := absolute()
	for {
		inside := slices.ContainsFunc(p.set.Trees, func(tree string) bool {
			return strings.HasPrefix(abs(dir), abs(tree)+string(filepath.Separator))
		})
		if !inside || os.Remove(dir) != nil {
			return
		}
		dir = filepath.Dir(dir)
	}
}

// staging are the files and folders that have to be removed if one can't be written.
type staging struct {
	temps []string // temporary files by index of the file; "" for none
	dirs  []string // new folders, the outer ones first
}

// write writes the content of each path to a temporary file beside it. old has the files that exist.
func (st *staging) write(paths []string, contents, old map[string][]byte) error {
	// Folders first and one after the other: they may be inside each other.
	made := map[string]bool{}
	for _, path := range paths {
		dir := filepath.Dir(path)
		if made[dir] {
			continue
		}
		made[dir] = true
		if err := st.mkdir(dir); err != nil {
			return fmt.Errorf("can't create the folder %s: %w", dir, reason(err))
		}
	}
	return inParallel(len(paths), func(i int) error {
		_, exists := old[paths[i]]
		if err := st.writeOne(i, paths[i], contents[paths[i]], exists); err != nil {
			return fmt.Errorf("can't write %s: %w", paths[i], reason(err))
		}
		return nil
	})
}

// writeOne writes a temporary file. Calls with different indexes may run concurrently.
func (st *staging) writeOne(i int, path string, content []byte, exists bool) error {
	f, err := createTemp(path)
	if err != nil {
		return err
	}
	st.temps[i] = f.Name()
	_, err = f.Write(content)
	if exists { // The file keeps its mode.
		info, statErr := os.Stat(path)
		if err = errors.Join(err, statErr); err == nil {
			err = f.Chmod(info.Mode().Perm())
		}
	}
	return errors.Join(err, f.Close())
}

// rename gives the temporary files their names. A rename within a folder is atomic: no reader sees half a
// file.
func (st *staging) rename(paths []string) error {
	return inParallel(len(paths), func(i int) error {
		if err := os.Rename(st.temps[i], paths[i]); err != nil {
			return fmt.Errorf("can't replace %s: %w", paths[i], err)
		}
		st.temps[i] = "" // nothing left to undo
		return nil
	})
}

// createTemp creates a temporary file beside path: a rename across file systems would fail. Unlike a file
// of os.CreateTemp, it has the mode of a new file, less the umask.
func createTemp(path string) (*os.File, error) {
	for {
		name := fmt.Sprintf(".%s%s%d", filepath.Base(path), temporary, rand.Uint32())
		f, err := os.OpenFile(filepath.Join(filepath.Dir(path), name), os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o644)
		if !errors.Is(err, fs.ErrExist) {
			return f, err
		}
	}
}

// mkdir creates dir and its missing parents, and records the ones that it created.
func (st *staging) mkdir(dir string) error {
	var missing []string
	for d := filepath.Clean(dir); ; d = filepath.Dir(d) {
		if _, err := os.Stat(d); !errors.Is(err, fs.ErrNotExist) {
			break // it exists, or Mkdir fails below and says why
		}
		missing = append(missing, d)
	}
	for _, d := range slices.Backward(missing) {
		switch err := os.Mkdir(d, 0o755); {
		case errors.Is(err, fs.ErrExist):
			// Another process created it in the meantime, so it isn't ours to remove.
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

// undo removes the temporary files and the new folders.
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
