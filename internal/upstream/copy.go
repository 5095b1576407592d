package main

import (
	"bytes"
	"crypto/sha256"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

// copied is a copy of the repository.
type copied struct {
	version
	// dir is its root. It stays in the user's cache folder under a fixed path: at another path the compiler
	// would have to start from scratch.
	dir  string
	laid laid
}

// laid counts what was laid over a copy: files, their lines, and how many of the files replace one.
type laid struct{ files, lines, replaced int }

// newCopy copies the files that git tracks, as they are on the disk, lays the files for the minor over the
// copy and edits its go.mod files.
func newCopy(v version) (*copied, error) {
	root, err := filepath.Abs(".")
	if err != nil {
		return nil, err
	}
	cache, err := os.UserCacheDir()
	if err != nil {
		return nil, err
	}
	// Each checkout and version has a folder of its own.
	hash := sha256.Sum256([]byte(root + " " + v.name))
	work := filepath.Join(cache, "kubewright", fmt.Sprintf("upstream-%.6x", hash))
	c := &copied{version: v, dir: filepath.Join(work, "kubewright")}
	if err := os.RemoveAll(work); err != nil {
		return nil, err
	}
	names, err := exec.Command("git", "ls-files", "-z").Output()
	if err != nil {
		return nil, fmt.Errorf("git ls-files: %w: run this in a checkout", err)
	}
	for name := range strings.SplitSeq(strings.TrimSuffix(string(names), "\x00"), "\x00") {
		if strings.HasPrefix(name, "upstream/") && name != "upstream/versions" {
			continue
		}
		err := copyFile(filepath.Join(c.dir, name), name)
		if err != nil && !errors.Is(err, fs.ErrNotExist) { // a file that was deleted, but not from the index
			return nil, err
		}
	}
	if err := c.layOver(filepath.Join("upstream", v.minor)); err != nil {
		return nil, err
	}
	// Tests ask git which files there are.
	for _, args := range [][]string{{"init", "-q"}, {"add", "-A"}} {
		if _, err := c.output(".", "git", args...); err != nil {
			return nil, err
		}
	}
	return c, c.editModules()
}

// layOver copies the files of a folder over the copy. The folder need not exist.
func (c *copied) layOver(folder string) error {
	err := filepath.WalkDir(folder, func(file string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		name, err := filepath.Rel(folder, file)
		if err != nil {
			return err
		}
		text, err := os.ReadFile(file)
		if err != nil {
			return err
		}
		c.laid.files++
		c.laid.lines += bytes.Count(text, []byte("\n"))
		to := filepath.Join(c.dir, name)
		if _, err := os.Stat(to); err == nil {
			c.laid.replaced++
		}
		return copyFile(to, file)
	})
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return err
}

// copyFile copies a file or a symbolic link, and creates the folder.
func copyFile(to, from string) error {
	info, err := os.Lstat(from)
	if err != nil {
		return err
	}
	if err := os.MkdirAll(filepath.Dir(to), 0o755); err != nil {
		return err
	}
	if info.Mode()&fs.ModeSymlink != 0 {
		target, err := os.Readlink(from)
		if err != nil {
			return err
		}
		return os.Symlink(target, to)
	}
	text, err := os.ReadFile(from)
	if err != nil {
		return err
	}
	return os.WriteFile(to, text, info.Mode().Perm()|0o600)
}

// command returns a command that runs in a folder of the copy.
func (c *copied) command(folder, name string, args ...string) *exec.Cmd {
	cmd := exec.Command(name, args...)
	cmd.Dir = filepath.Join(c.dir, filepath.FromSlash(folder))
	return cmd
}

// output runs a command in a folder of the copy and returns its standard output.
func (c *copied) output(folder, name string, args ...string) (string, error) {
	cmd := c.command(folder, name, args...)
	var stderr strings.Builder
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		err = fmt.Errorf("%s: %s %s: %w\n%s", cmd.Dir, name, strings.Join(args, " "), err, stderr.String())
	}
	return string(out), err
}
