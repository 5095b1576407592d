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

// checkPaths returns an error for the first path at which no file may be: there is something else than a
// file, or a link leads out of the folder that the path belongs to. Both may come with the repository, so
// neither reading nor writing there is safe.
func (s Set) checkPaths(paths []string) error {
	p := &pathChecker{abs: absolute(), roots: slices.Concat(s.Folders, s.Trees),
		opened: map[string]*os.Root{}, folders: map[string]folder{}}
	defer p.close()
	for _, path := range paths {
		if err := p.check(path); err != nil {
			return err
		}
	}
	return nil
}

// pathChecker checks paths. It caches the results for folders: an output has thousands of files in hundreds
// of them.
type pathChecker struct {
	abs     func(path string) string
	roots   []string            // as in the Set
	opened  map[string]*os.Root // by the path of the root; nil if there is nothing yet
	folders map[string]folder   // by path
}

// folder is what is known about a folder of files.
type folder struct {
	root  *os.Root // nil if there is nothing yet
	dir   string   // of root
	below string   // the path of the folder in root
	// safe is true if the folder is in the root, or isn't there and no link is in the place of it.
	safe bool
}

func (p *pathChecker) close() {
	for _, root := range p.opened {
		if root != nil {
			root.Close()
		}
	}
}

// check returns an error if a file can't be at path.
func (p *pathChecker) check(path string) error {
	name := filepath.Dir(path)
	f, known := p.folders[name]
	if !known {
		f = p.folder(name)
		p.folders[name] = f
	}
	if f.root == nil {
		return nil
	}
	if f.safe {
		// From a safe folder only a link leads out.
		info, err := os.Lstat(path)
		if err == nil && info.Mode().IsRegular() || errors.Is(err, fs.ErrNotExist) {
			return nil
		}
	}
	return checkPlace(f.root, f.dir, filepath.Join(f.below, filepath.Base(path)), path)
}

// folder finds out about a folder of files.
func (p *pathChecker) folder(name string) folder {
	f := folder{dir: p.rootOf(name)}
	opened := false
	if f.root, opened = p.opened[f.dir]; !opened {
		f.root, _ = os.OpenRoot(f.dir) // On an error there is nothing yet, or Compare reports why.
		p.opened[f.dir] = f.root
	}
	var err error
	if f.below, err = filepath.Rel(p.abs(f.dir), p.abs(name)); err != nil || f.root == nil {
		return folder{} // They are on two disks, which rootOf excludes.
	}
	for at := f.below; ; at = filepath.Dir(at) {
		info, err := f.root.Stat(at) // It doesn't follow links out of the root.
		if errors.Is(err, fs.ErrNotExist) && at != "." {
			if _, err = f.root.Lstat(at); err != nil {
				continue // A missing folder may be created if its parent is safe.
			}
			return f // It is a link that leads to nothing.
		}
		f.safe = err == nil && info.IsDir()
		return f
	}
}

// rootOf returns the folder that the files of a folder must not leave: the outermost of the output folders
// and trees that it is or is in, or the folder itself.
func (p *pathChecker) rootOf(name string) string {
	outermost, abs := "", p.abs(name)+string(filepath.Separator)
	for _, root := range p.roots {
		if strings.HasPrefix(abs, p.abs(root)+string(filepath.Separator)) &&
			(outermost == "" || len(p.abs(root)) < len(p.abs(outermost))) {
			outermost = root
		}
	}
	if outermost == "" {
		return name
	}
	return outermost
}

// checkPlace returns an error if no file may be at path. below is path in root, dir the path of root.
func checkPlace(root *os.Root, dir, below, path string) error {
	for at := below; ; at = filepath.Dir(at) {
		info, err := root.Stat(at) // It doesn't follow links out of the root.
		if errors.Is(err, fs.ErrNotExist) && at != "." {
			if _, err = root.Lstat(at); err != nil {
				continue // A missing file may be written if its folder is in the root.
			}
			return linkError(dir, at, path) // It leads to nothing.
		}
		if err == nil && at == below && !info.IsDir() && !info.Mode().IsRegular() {
			return fmt.Errorf("%s is %s, not a file; remove it", path, kindOf(info.Mode()))
		}
		if err != nil {
			return linkError(dir, at, path)
		}
		return nil
	}
}

// linkError returns the error for a link on the way to a file, nil if there is none: then Compare reports
// why the file can't be read.
func linkError(dir, below, path string) error {
	name := link(dir, below)
	if name == "" {
		return nil
	}
	to, err := os.Readlink(name)
	if err != nil {
		return fmt.Errorf("can't read %s: %w", name, reason(err))
	}
	return fmt.Errorf("%s would be written through the link %s, which leads to %s, out of %s; remove the link",
		path, name, to, dir)
}

// link returns the first link on the way from dir to a path below it, "" if there is none.
func link(dir, below string) string {
	at := dir
	for element := range strings.SplitSeq(filepath.ToSlash(below), "/") {
		at = filepath.Join(at, element)
		if info, err := os.Lstat(at); err == nil && info.Mode()&fs.ModeSymlink != 0 {
			return at
		}
	}
	return ""
}

// kindOf describes the mode of something that is no file.
func kindOf(mode fs.FileMode) string {
	switch {
	case mode&fs.ModeNamedPipe != 0:
		return "a named pipe"
	case mode&fs.ModeSocket != 0:
		return "a socket"
	case mode&fs.ModeDevice != 0:
		return "a device"
	}
	return "something special"
}
