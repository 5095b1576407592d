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

// maxManifest is the largest size of a file: more than all definitions of a cluster, and little enough for
// the memory that its syntax tree takes.
const maxManifest = 32 << 20

// Manifests reads files, the files of folders at any depth whose names end in .yaml, .yml or .json, and stdin
// for "-". It doesn't follow links in folders, nor enter those whose names begin with a dot.
func Manifests(from []string, stdin io.Reader) ([]Manifest, error) {
	var all []Manifest
	abs, seen := absolute(), map[string]bool{}
	add := func(name string, from io.Reader) error {
		text, err := io.ReadAll(io.LimitReader(from, maxManifest+1))
		switch {
		case err != nil:
			return fmt.Errorf("can't read %s: %w", name, reason(err))
		case len(text) > maxManifest:
			return fmt.Errorf("%s has more than %d MB; split it", name, maxManifest>>20)
		}
		all = append(all, Manifest{name, text})
		return nil
	}
	for _, path := range from {
		if path == "-" {
			if err := add("<stdin>", stdin); err != nil {
				return nil, err
			}
			continue
		}
		files, err := manifestFiles(path)
		if err != nil {
			return nil, fmt.Errorf("can't read %s: %w", path, reason(err))
		}
		for _, file := range files {
			if seen[abs(file)] {
				continue
			}
			seen[abs(file)] = true
			f, err := os.Open(file)
			if err != nil {
				return nil, fmt.Errorf("can't read %s: %w", file, reason(err))
			}
			err = add(file, f)
			f.Close()
			if err != nil {
				return nil, err
			}
		}
	}
	return all, nil
}

// manifestFiles returns the files to read for a path: those of a folder, or the path itself.
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
