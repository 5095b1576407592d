package output

import (
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// Manifest is a file that was read.
type Manifest struct {
	Name string
	Text []byte
}

// Manifests reads files, the files of folders at any depth whose names end in .yaml, .yml or .json, and stdin
// for "-". It doesn't follow links in folders, nor enter those whose names begin with a dot.
func Manifests(from []string, stdin io.Reader) ([]Manifest, error) {
	var all []Manifest
	seen := map[string]bool{}
	for _, path := range from {
		if path == "-" {
			text, err := io.ReadAll(stdin)
			if err != nil {
				return nil, fmt.Errorf("can't read standard input: %w", err)
			}
			all = append(all, Manifest{"<stdin>", text})
			continue
		}
		files, err := manifestFiles(path)
		if err != nil {
			return nil, fmt.Errorf("can't read %s: %w", path, reason(err))
		}
		for _, file := range files {
			if seen[clean(file)] {
				continue
			}
			seen[clean(file)] = true
			text, err := os.ReadFile(file)
			if err != nil {
				return nil, fmt.Errorf("can't read %s: %w", file, reason(err))
			}
			all = append(all, Manifest{file, text})
		}
	}
	return all, nil
}

// manifestFiles returns the files to read for a path: itself if it is none of a folder.
func manifestFiles(path string) ([]string, error) {
	if info, err := os.Stat(path); err != nil || !info.IsDir() {
		return []string{path}, err
	}
	var files []string
	err := filepath.WalkDir(path, func(file string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && file != path && strings.HasPrefix(d.Name(), "."):
			return filepath.SkipDir
		case d.Type().IsRegular() && slices.Contains([]string{".yaml", ".yml", ".json"}, filepath.Ext(file)):
			files = append(files, file)
		}
		return nil
	})
	return files, err
}
