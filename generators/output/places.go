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

// checkPlaces returns an error for the first path that no file can have: where there is something else than a
// file, or outside of the folder that it belongs to, behind a link. What is there may come with the
// repository, so that neither reading nor writing it is safe.
func (s Set) checkPlaces(paths []string) error {
	roots := map[string]*os.Root{}
	defer func() {
		for _, root := range roots {
			if root != nil {
				root.Close()
			}
		}
	}()
	for _, path := range paths {
		dir := s.rootOf(path)
		root, opened := roots[dir]
		if !opened {
			root, _ = os.OpenRoot(dir) // If it fails there is nothing yet, or Compare says why.
			roots[dir] = root
		}
		if root == nil {
			continue
		}
		if err := checkPlace(root, dir, path); err != nil {
			return err
		}
	}
	return nil
}

// rootOf returns the folder that a file must not leave: the outermost of the output folders and trees that it
// is in, or the file's own folder.
func (s Set) rootOf(path string) string {
	root := ""
	for _, dir := range slices.Concat(s.Folders, s.Trees) {
		if strings.HasPrefix(clean(path), clean(dir)+string(filepath.Separator)) &&
			(root == "" || len(clean(dir)) < len(clean(root))) {
			root = dir
		}
	}
	if root == "" {
		return filepath.Dir(path)
	}
	return root
}

func checkPlace(root *os.Root, dir, path string) error {
	below, err := filepath.Rel(clean(dir), clean(path))
	if err != nil {
		return nil // They are on two disks, which rootOf excludes.
	}
	for at := below; ; at = filepath.Dir(at) {
		info, err := root.Stat(at) // It doesn't follow links out of the root.
		if errors.Is(err, fs.ErrNotExist) && at != "." {
			if _, err = root.Lstat(at); err != nil {
				continue // What isn't there may be written, if its folder is in the root.
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

// linkError returns the error for a link on the way to a file, nil if there is none: Compare says then why
// the file can't be read.
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

// kindOf names what is no file.
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
