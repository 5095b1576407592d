package model

import (
	"context"
	"errors"
	"fmt"
	"go/build"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"

	"golang.org/x/mod/modfile"
)

// Looked is the result of looking up a package that a run doesn't name.
type Looked struct {
	// Dir is the folder with its Go files, "" if the package doesn't exist.
	Dir string
	// LeftOut is one of the Go files if the go command leaves out all of them, and Why is the reason
	// for this one.
	LeftOut, Why string
	// Err is the reason if it isn't known whether the package exists.
	Err error
}

// LookUp finds packages by their import paths. A package exists if it has a folder with Go
// files: in a main module, of which a workspace has several, or in a module that one of their
// go.mod files names. dir is the working directory of the go command, "" for that of the process.
//
// The go command looks up modules, not packages: whether it finds a package depends on -mod and on
// the network, and only the text of its errors shows why it doesn't.
func LookUp(ctx context.Context, dir string, importPaths []string) map[string]Looked {
	found := make(map[string]Looked, len(importPaths))
	modules, err := modulesWith(ctx, dir, importPaths)
	for _, p := range importPaths {
		found[p] = lookUp(ctx, dir, modules, p)
		if err != nil && found[p].Dir == "" {
			found[p] = Looked{Err: err}
		}
	}
	return found
}

// lookUp finds a package in one of the modules.
func lookUp(ctx context.Context, dir string, modules []listedModule, importPath string) Looked {
	var looked Looked
	for _, m := range modules {
		below, ok := strings.CutPrefix(importPath+"/", m.Path+"/")
		switch {
		case !ok:
		case m.Dir != "":
			folder := filepath.Join(m.Dir, filepath.FromSlash(below))
			switch file, err := firstGoFile(folder); {
			case err != nil:
				looked.Err = err
			case file != "" && leftOut(folder):
				return Looked{Dir: folder, LeftOut: file, Why: whyLeftOut(filepath.Base(file))}
			case file != "":
				return Looked{Dir: folder}
			}
		default: // vendored, or not downloaded
			packages, err := goList(ctx, dir, buildTag, []string{importPath})
			switch {
			case err != nil:
				looked.Err = err
			case len(packages) == 1 && packages[0].Dir != "":
				return Looked{Dir: packages[0].Dir}
			default:
				looked.Err = fmt.Errorf("it isn't vendored, and its module %s isn't downloaded", m.Path)
			}
		}
	}
	return looked
}

// firstGoFile returns the first Go file of a folder, tests included, "" if there is none, or no such
// folder.
func firstGoFile(dir string) (string, error) {
	entries, err := os.ReadDir(dir)
	if errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ENOTDIR) {
		return "", nil
	}
	for _, entry := range entries {
		if name := entry.Name(); strings.HasSuffix(name, ".go") && !strings.HasPrefix(name, ".") {
			return filepath.Join(dir, name), nil
		}
	}
	return "", err
}

// leftOut reports whether the go command leaves out all Go files of a folder: constraints exclude
// them, or they are tests.
func leftOut(dir string) bool {
	context := build.Default
	context.BuildTags = []string{buildTag}
	p, err := context.ImportDir(dir, 0)
	if _, none := errors.AsType[*build.NoGoError](err); none {
		return true
	}
	return err == nil && len(p.GoFiles)+len(p.CgoFiles) == 0
}

// modulesWith returns the main modules, and those modules in their go.mod files that may have
// one of the packages.
func modulesWith(ctx context.Context, dir string, importPaths []string) ([]listedModule, error) {
	mains, err := goListModules(ctx, dir)
	if err != nil {
		return nil, err
	}
	var wanted []string
	for _, main := range mains {
		text, err := os.ReadFile(main.GoMod)
		if err != nil {
			return mains, err
		}
		mod, err := modfile.ParseLax(main.GoMod, text, nil)
		if err != nil {
			return mains, err
		}
		for _, r := range mod.Require {
			for _, p := range importPaths {
				if strings.HasPrefix(p+"/", r.Mod.Path+"/") {
					wanted = append(wanted, r.Mod.Path)
					break
				}
			}
		}
	}
	if len(wanted) == 0 {
		return mains, nil
	}
	others, err := goListModules(ctx, dir, wanted...)
	if err == nil && slices.ContainsFunc(others, func(m listedModule) bool { return m.Dir == "" }) {
		// With a vendor folder the go command doesn't report the folders of other modules.
		if unvendored, err := goListModules(ctx, dir, append([]string{"-mod=readonly"}, wanted...)...); err == nil {
			others = unvendored
		}
	}
	return append(mains, others...), err
}
