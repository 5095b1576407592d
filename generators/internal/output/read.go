package output

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// Read returns the text of a file that a flag names.
func Read(path string) (string, error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return "", fmt.Errorf("can't read %s: %w", path, reason(err))
	}
	return string(text), nil
}

// AnyLine reports whether a line of one of the Go files in a folder, but not in folders below it, is wanted.
// It returns false if dir doesn't exist.
func AnyLine(dir string, wanted func(line string) bool) (bool, error) {
	files, err := filepath.Glob(filepath.Join(dir, "*.go"))
	if err != nil {
		return false, err
	}
	for _, file := range files {
		if !IsFile(file) {
			continue
		}
		text, err := Read(file)
		if err != nil {
			return false, err
		}
		for line := range strings.Lines(text) {
			if wanted(line) {
				return true, nil
			}
		}
	}
	return false, nil
}

// Exists reports whether there is a file at path. It doesn't follow links: a broken link is
// there on purpose, too.
func Exists(path string) bool {
	_, err := os.Lstat(path)
	return err == nil
}

// IsFile reports whether path is a regular file: reading a device or a pipe may never end. It follows links.
func IsFile(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.Mode().IsRegular()
}

// Folders returns the names of the folders in dir, none if dir doesn't exist.
func Folders(dir string) []string {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil
	}
	var names []string
	for _, entry := range entries {
		if entry.IsDir() {
			names = append(names, entry.Name())
		}
	}
	return names
}
