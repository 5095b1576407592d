package output

import (
	"fmt"
	"os"
)

// Read returns the text of a file that the user named.
func Read(path string) (string, error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return "", fmt.Errorf("can't read %s: %w", path, reason(err))
	}
	return string(text), nil
}

// Exists reports whether there is something at path: a hand-written file that
// generated ones make room for.
func Exists(path string) bool {
	_, err := os.Lstat(path)
	return err == nil
}
