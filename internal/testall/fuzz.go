package main

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
)

// fuzzTarget matches the declaration of a fuzz target.
var fuzzTarget = regexp.MustCompile(`(?m)^func (Fuzz\w*)\(\w+ \*testing\.F\)`)

// fuzzing returns the steps of make fuzz: each fuzz target at and below root in turn. limit is a time, or a
// number of executions such as 100x. If a target fails, go test leaves the input in the target's testdata.
func fuzzing(root, limit string) ([]step, error) {
	var steps []step
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && path != root && (strings.HasPrefix(d.Name(), ".") || d.Name() == "testdata"):
			return filepath.SkipDir
		case d.IsDir() || !strings.HasSuffix(path, "_test.go"):
			return nil
		}
		text, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		for _, target := range fuzzTarget.FindAllSubmatch(text, -1) {
			dir, name := filepath.Dir(path), string(target[1])
			steps = append(steps, step{
				name: "fuzz " + filepath.ToSlash(dir) + " " + name,
				run: command(dir, "go", "test",
					"-run", "^$", "-fuzz", "^"+name+"$", "-fuzztime", limit, "."),
			})
		}
		return nil
	})
	if err == nil && len(steps) == 0 {
		err = errors.New("there is no fuzz target")
	}
	return steps, err
}
