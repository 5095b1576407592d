package model

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/kubewright/kubewright/generators/internal/marker"
)

// patternHint suggests another form of a pattern that the go command can't resolve: ./ before
// the path of a folder, which would be an import path without it, or /... after a folder that
// has packages only below it. message is the error of the go command.
func patternHint(dir, pattern, message string) string {
	local := filepath.IsAbs(pattern) || strings.HasPrefix(pattern, ".")
	folder, _, _ := strings.Cut(pattern, "...")
	info, err := os.Stat(filepath.Join(dir, filepath.FromSlash(folder)))
	if !local && err == nil && info.IsDir() {
		return "; for the folder of that name write ./" + pattern
	}
	if local && strings.HasPrefix(message, "no Go files in ") {
		return "; for the packages below it write " + strings.TrimSuffix(pattern, "/") + "/..."
	}
	return ""
}

// noMatch returns what to add to the error for a pattern that matches no packages.
func noMatch(ctx context.Context, dir, pattern string) string {
	if hint := patternHint(dir, pattern, ""); hint != "" {
		return hint
	}
	_, _, local := localFolder(dir, pattern)
	if first, _, _ := strings.Cut(pattern, "/"); !local && !strings.Contains(first, ".") {
		pattern = "./" + pattern // Only the standard library has such import paths.
	}
	if message := noFolder(ctx, dir, pattern); message != "" {
		return "; " + message
	}
	return inNestedModule(ctx, dir, pattern)
}

// noFolder returns a message for a pattern whose folder doesn't exist, "" for any other: a path, or an import
// path in the module of dir. The go command's own message would be that of a system call, or tell people to
// go get the module that they are in.
func noFolder(ctx context.Context, dir, pattern string) string {
	name, _, _ := strings.Cut(pattern, "...")
	name = strings.TrimSuffix(name, "/")
	folder, _, local := localFolder(dir, name)
	where := ""
	if !local {
		module, err := FindModule(ctx, dir)
		if err != nil {
			return ""
		}
		below, ok := strings.CutPrefix(name, module.Path+"/")
		if !ok {
			return ""
		}
		name, where = below, " in the module "+module.Path
		folder = filepath.Join(module.Dir, filepath.FromSlash(below))
	}
	exists := func(folder string) bool { _, err := os.Stat(folder); return err == nil }
	if exists(folder) {
		return ""
	}
	// The outermost one that is missing may be misspelt.
	for !exists(filepath.Dir(folder)) {
		folder = filepath.Dir(folder)
	}
	var siblings []string
	entries, _ := os.ReadDir(filepath.Dir(folder)) // on an error there is no suggestion
	for _, entry := range entries {
		if entry.IsDir() {
			siblings = append(siblings, entry.Name())
		}
	}
	return fmt.Sprintf("there is no folder %s%s%s", name, where, marker.Suggest(filepath.Base(folder), siblings))
}
