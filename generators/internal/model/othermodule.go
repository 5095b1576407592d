package model

import (
	"context"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"
)

// inOtherModule returns advice for the path of a folder in a module that isn't a main module:
// "in the module ...", "" for any other pattern. The go command's own messages give no advice.
func inOtherModule(ctx context.Context, dir, pattern string) string {
	folder, wildcard, ok := localFolder(dir, pattern)
	if !ok {
		return ""
	}
	module, err := FindModule(ctx, folder)
	if err != nil {
		return ""
	}
	known, err := goListModules(ctx, dir, module.Path)
	if err != nil || len(known) == 0 || !sameFolder(known[0].Dir, module.Dir) {
		advice := "which go.mod doesn't require; run kubewright in its folder, with --output-dir"
		if _, ok := FindWorkspace(dir); ok {
			advice = "which go.work doesn't list; to list it: go work use " + relativeTo(dir, module.Dir)
		}
		return fmt.Sprintf("in the module %s, %s", module.Path, advice)
	}
	importPath, err := ImportPath(ctx, folder)
	if known[0].Main || err != nil {
		return ""
	}
	return fmt.Sprintf("in the module %s; write its import path, %s", module.Path,
		path.Join(importPath, wildcard))
}

// nestedModule returns the command that generates the helpers of a package in another module on this disk, ""
// for a package of the main module or of a downloaded one.
func (s *session) nestedModule(p *candidate) string {
	if m := p.listed.Module; s.cfg.Strict && !p.own() && m.Replace != nil && m.Replace.Version == "" {
		return "in " + relativeTo(s.cfg.Dir, m.Dir) + ", kubewright generate ./..."
	}
	return ""
}

// inNestedModule is inOtherModule for the modules below a pattern that matches no packages, as
// ... doesn't go into other modules.
func inNestedModule(ctx context.Context, dir, pattern string) string {
	folder, wildcard, ok := localFolder(dir, pattern)
	if !ok || wildcard == "" {
		return ""
	}
	message := ""
	filepath.WalkDir(folder, func(name string, d fs.DirEntry, err error) error {
		switch base := d.Name(); {
		case err != nil || ctx.Err() != nil:
			return filepath.SkipAll
		case d.IsDir() && name != folder && (base == "vendor" || strings.HasPrefix(base, ".")):
			return filepath.SkipDir
		case base == "go.mod" && filepath.Dir(name) != folder:
			below := relativeTo(dir, filepath.Dir(name)) + "/..."
			if other := inOtherModule(ctx, dir, below); other != "" {
				message = "; " + below + " is " + other
				return filepath.SkipAll
			}
		}
		return nil
	})
	return message
}

// localFolder returns the folder of a pattern that is a path, and its wildcard.
func localFolder(dir, pattern string) (folder, wildcard string, ok bool) {
	folder, rest, found := strings.Cut(filepath.ToSlash(pattern), "...")
	if found {
		wildcard = "..." + rest
	}
	if filepath.IsAbs(pattern) {
		return folder, wildcard, true
	}
	return filepath.Join(dir, folder), wildcard, strings.HasPrefix(pattern, ".")
}

// relativeTo returns the path of a folder as people would write it in dir: "./folder".
func relativeTo(dir, folder string) string {
	base, err := filepath.Abs(dir)
	abs, absErr := filepath.Abs(folder)
	if err != nil || absErr != nil {
		return folder
	}
	rel, err := filepath.Rel(base, abs)
	if err != nil {
		return folder
	}
	if rel = filepath.ToSlash(rel); !strings.HasPrefix(rel, ".") {
		rel = "./" + rel
	}
	return rel
}

// sameFolder reports whether two paths, one of which may be "", lead to one folder.
func sameFolder(a, b string) bool {
	infoA, err := os.Stat(a)
	if err != nil {
		return false
	}
	infoB, err := os.Stat(b)
	return err == nil && os.SameFile(infoA, infoB)
}
