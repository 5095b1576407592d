package move

import (
	"errors"
	"os"
	"path/filepath"
	"slices"

	"golang.org/x/mod/modfile"
	"golang.org/x/mod/semver"
)

// siblings returns the other modules of the workspace that the plan's go.mod doesn't replace, with their
// folders.
func (p *plan) siblings() (map[string]string, error) {
	if p.workspace == "" {
		return nil, nil
	}
	work, err := p.parseWork()
	if err != nil {
		return nil, err
	}
	mod, err := p.parsePlanned()
	if err != nil {
		return nil, err
	}
	if err := makeAbsolute(work, filepath.Dir(p.workspace)); err != nil {
		return nil, err
	}
	found := map[string]string{}
	for _, use := range work.Use {
		text, err := os.ReadFile(filepath.Join(use.Path, "go.mod"))
		if err != nil {
			return nil, err
		}
		path := modfile.ModulePath(text)
		replaces := func(r *modfile.Replace) bool { return r.Old.Path == path }
		if path != mod.Module.Mod.Path && !slices.ContainsFunc(mod.Replace, replaces) {
			found[path] = use.Path
		}
	}
	return found, nil
}

// parsePlanned parses the plan's go.mod.
func (p *plan) parsePlanned() (*modfile.File, error) {
	text, err := p.read("go.mod")
	if err != nil {
		return nil, err
	}
	return p.parse(text)
}

func (p *plan) parseWork() (*modfile.WorkFile, error) {
	text, err := os.ReadFile(p.workspace)
	if err != nil {
		return nil, err
	}
	return modfile.ParseWork(p.workspace, text, nil)
}

// work writes a go.work to the temporary folder: the workspace's, with absolute paths, and with the Go
// version that the plan's go.mod asks for.
func (p *plan) work() (string, error) {
	text, err := p.workText(true)
	if err != nil {
		return "", err
	}
	name := filepath.Join(p.temp, "go.work")
	sums, err := os.ReadFile(p.workspace + ".sum")
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		return "", err
	}
	return name, errors.Join(os.WriteFile(name, text, 0o666), os.WriteFile(name+".sum", sums, 0o666))
}

// workText returns the workspace's go.work with at least the Go version of the plan's go.mod.
func (p *plan) workText(absolute bool) ([]byte, error) {
	old, err := os.ReadFile(p.workspace)
	if err != nil {
		return nil, err
	}
	return p.workTextOf(old, absolute)
}

// workTextOf is workText for another text of go.work.
func (p *plan) workTextOf(old []byte, absolute bool) ([]byte, error) {
	work, err := modfile.ParseWork(p.workspace, old, nil)
	if err != nil {
		return nil, err
	}
	mod, err := p.parsePlanned()
	if err != nil {
		return nil, err
	}
	changed := absolute
	if mod.Go != nil && (work.Go == nil || semver.Compare("v"+work.Go.Version, "v"+mod.Go.Version) < 0) {
		changed = true
		if err := work.AddGoStmt(mod.Go.Version); err != nil {
			return nil, err
		}
	}
	if !changed {
		return old, nil
	}
	if absolute {
		if err := makeAbsolute(work, filepath.Dir(p.workspace)); err != nil {
			return nil, err
		}
	}
	work.Cleanup()
	return modfile.Format(work.Syntax), nil
}

// makeAbsolute makes the folders of a go.work absolute.
func makeAbsolute(work *modfile.WorkFile, dir string) error {
	uses := slices.Clone(work.Use)
	for _, use := range uses {
		if !filepath.IsAbs(use.Path) {
			path := use.Path
			if err := errors.Join(work.DropUse(path), work.AddUse(filepath.Join(dir, path), "")); err != nil {
				return err
			}
		}
	}
	for _, r := range slices.Clone(work.Replace) {
		if r.New.Version == "" && !filepath.IsAbs(r.New.Path) {
			if err := work.AddReplace(r.Old.Path, r.Old.Version, filepath.Join(dir, r.New.Path), ""); err != nil {
				return err
			}
		}
	}
	work.Cleanup()
	return nil
}
