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
	read := func(path string) error {
		if seen[clean(path)] {
			return nil
		}
		seen[clean(path)] = true
		text, err := os.ReadFile(path)
		if err != nil {
			return fmt.Errorf("can't read %s: %w", path, reason(err))
		}
		all = append(all, Manifest{path, text})
		return nil
	}
	for _, path := range from {
		if path == "-" {
			text, err := io.ReadAll(stdin)
			if err != nil {
				return nil, fmt.Errorf("can't read standard input: %w", err)
			}
			all = append(all, Manifest{"<stdin>", text})
			continue
		}
		info, err := os.Stat(path)
		if err == nil && !info.IsDir() {
			err = read(path)
		} else if err == nil {
			err = filepath.WalkDir(path, func(file string, d fs.DirEntry, err error) error {
				switch {
				case err != nil:
					return err
				case d.IsDir() && file != path && strings.HasPrefix(d.Name(), "."):
					return filepath.SkipDir
				case d.Type().IsRegular() &&
					slices.Contains([]string{".yaml", ".yml", ".json"}, filepath.Ext(file)):
					return read(file)
				}
				return nil
			})
		}
		if err != nil {
			return nil, fmt.Errorf("can't read %s: %w", path, reason(err))
		}
	}
	return all, nil
}
