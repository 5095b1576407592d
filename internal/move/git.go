package move

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
)

// repository is the git repository around the module.
type repository struct{ root string }

// findRepository returns the repository, nil if there is none or no git command.
func findRepository(ctx context.Context, dir string) *repository {
	out, err := git(ctx, dir, "rev-parse", "--show-toplevel")
	if err != nil {
		return nil
	}
	return &repository{strings.TrimSpace(string(out))}
}

func git(ctx context.Context, dir string, args ...string) ([]byte, error) {
	cmd := exec.CommandContext(ctx, "git", args...)
	cmd.Dir = dir
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		return nil, fmt.Errorf("git %s: %w\n%s", args[0], err, bytes.TrimSpace(stderr.Bytes()))
	}
	return out, nil
}

// uncommitted returns those of the files whose state on the disk isn't in the last commit: they were
// changed, or git doesn't track them.
func (r *repository) uncommitted(ctx context.Context, files []string) (found []string, err error) {
	for part := range slices.Chunk(files, 200) { // the length of a command is limited
		names := map[string]string{}
		args := []string{"--ignored", "--"}
		for _, file := range part {
			name, err := r.name(file)
			if err != nil {
				return nil, err
			}
			names[name] = file
			args = append(args, name)
		}
		changed, err := r.status(ctx, args...)
		if err != nil {
			return nil, err
		}
		for _, name := range changed {
			if names[name] == "" { // a folder that git ignores
				names[name] = filepath.Join(r.root, filepath.FromSlash(name))
			}
			found = append(found, names[name])
		}
	}
	return found, nil
}

// changed returns the files in a folder that aren't committed, without those that git is told to ignore.
func (r *repository) changed(ctx context.Context, folder string) (found []string, err error) {
	name, err := r.name(folder)
	if err != nil {
		return nil, err
	}
	return r.status(ctx, "--", name)
}

func (r *repository) status(ctx context.Context, args ...string) (names []string, err error) {
	out, err := git(ctx, r.root, append([]string{"status", "--porcelain=v1", "-z", "--no-renames",
		"--untracked-files=all"}, args...)...)
	for entry := range strings.SplitSeq(string(out), "\x00") {
		if len(entry) > 3 {
			names = append(names, entry[3:])
		}
	}
	return names, err
}

// name returns the name that git has for a file or folder.
func (r *repository) name(file string) (string, error) {
	dir, err := filepath.EvalSymlinks(filepath.Dir(file))
	if err != nil {
		return "", err
	}
	name, err := filepath.Rel(r.root, filepath.Join(dir, filepath.Base(file)))
	if err == nil && !filepath.IsLocal(name) {
		err = fmt.Errorf("%s is outside of the git repository %s, which can't restore it", file, r.root)
	}
	return filepath.ToSlash(name), err
}

// head returns a file of the last commit, nil if it isn't there.
func (r *repository) head(ctx context.Context, file string) []byte {
	name, err := r.name(file)
	if err != nil {
		return nil
	}
	out, err := git(ctx, r.root, "show", "HEAD:"+name)
	if err != nil {
		return nil
	}
	return out
}

// errNoRepository is the error of -w outside of git.
var errNoRepository = errors.New("-w changes only files that git can restore, and there is no git " +
	"repository here, or no git command; commit the module first")

// uncommittedError is the error of -w when it would change these files.
type uncommittedError []string

func (e uncommittedError) Error() string {
	return "nothing is written: -w changes only files that are committed, so that git can restore them; " +
		"commit or stash these:\n    " + strings.Join(e, "\n    ")
}
