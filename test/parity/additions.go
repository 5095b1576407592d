package main

import (
	"bufio"
	"cmp"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"regexp"
	"strings"
)

// addition allows generated code to have more than upstream's. It is a glob for packages and a glob for
// changes in apidiff's words.
type addition struct {
	pkg, change string
	seen        bool
}

type additions []addition

// readAdditions reads the patterns from the documentation's table: from the rows that begin with two cells in
// backquotes. So only documented additions are allowed.
func readAdditions(file string) (additions, error) {
	f, err := os.Open(file)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	var listed additions
	for in := bufio.NewScanner(f); in.Scan(); {
		if m := additionRow.FindStringSubmatch(in.Text()); m != nil {
			for _, pattern := range m[1:] {
				if _, err := path.Match(pattern, ""); err != nil {
					return nil, fmt.Errorf("%s: %s: %w", file, pattern, err)
				}
			}
			listed = append(listed, addition{pkg: m[1], change: m[2]})
		}
	}
	return listed, nil
}

var additionRow = regexp.MustCompile("^\\| `([^`]+)` \\| `([^`]+)` \\|")

// has reports whether a change is listed, and marks the pattern that lists it as used. In a pattern for
// packages, a star matches any number of path elements.
func (a additions) has(pkg, change string) (listed bool) {
	flat := func(s string) string { return strings.ReplaceAll(s, "/", ".") }
	for n := range a {
		inPkg, _ := path.Match(flat(a[n].pkg), flat(pkg))
		same, _ := path.Match(a[n].change, change)
		if inPkg && same {
			a[n].seen, listed = true, true
		}
	}
	return listed
}

// stale returns an error with the patterns that matched nothing.
func (a additions) stale() error {
	var errs []error
	for _, l := range a {
		if !l.seen {
			errs = append(errs,
				fmt.Errorf("docs/additions.md lists %s of %s, which no code has", l.change, l.pkg))
		}
	}
	return errors.Join(errs...)
}

// comparison is apidiff's result for two copies of a module.
type comparison struct {
	summary  string   // N of M packages
	tags     string   // N of M types
	listed   int      // documented additions
	leftOut  int      // packages of the original that don't compile
	problems []string // everything missing or incompatible, and additions that aren't listed
}

// read parses the output of apidiff for a module.
func (a additions) read(out []byte, module string) comparison {
	var c comparison
	for line := range strings.Lines(string(out)) {
		line = strings.TrimSpace(line)
		if m := compatible.FindStringSubmatch(line); m != nil &&
			a.has(strings.TrimPrefix(m[1], module+"/"), m[2]) {
			c.listed++
		} else if m != nil {
			c.problems = append(c.problems, line+", which is not in docs/additions.md")
		} else if s, ok := strings.CutPrefix(line, "apidiff: "); ok {
			c.summary, _, _ = strings.Cut(s, " (")
		} else if s, ok := strings.CutPrefix(line, "struct tags: "); ok {
			c.tags = s
		} else if strings.HasPrefix(line, "left out: ") {
			c.leftOut++
		} else {
			c.problems = append(c.problems, line)
		}
	}
	return c
}

var compatible = regexp.MustCompile(`^(\S+): \(compatible\) (.*)$`)

// compare compares the exported API of those of their packages that compile with ours. Nothing may be missing
// or incompatible; a method added to an interface is incompatible. Every other addition must be listed.
func (r *run) compare(theirs, ours *scratch, listed additions) (string, error) {
	c, err := r.changes(theirs, ours, listed)
	if err != nil || len(c.problems) > 0 {
		return "", fmt.Errorf("apidiff: %s; %w\n%s", c.summary, cmp.Or(err, errors.New("additions")),
			strings.Join(c.problems, "\n"))
	}
	if c.listed > 0 {
		c.summary += fmt.Sprintf(", %d listed additions", c.listed)
	}
	if c.leftOut > 0 {
		c.summary += fmt.Sprintf("; %d more of upstream's don't compile, ours do", c.leftOut)
	}
	return c.summary, nil
}

// changes runs apidiff on two copies of a module. It fails if something is missing or incompatible.
func (r *run) changes(before, after *scratch, listed additions) (comparison, error) {
	args := append([]string{"-missing", "-partial", "-max", "1000000", "-old", before.dir, "-new", after.dir},
		before.patterns()...)
	cmd := exec.Command(filepath.Join(r.work, "bin", "apidiff"), args...)
	cmd.Env = append(os.Environ(), "GOWORK=off", "GOFLAGS=-mod=mod")
	out, err := cmd.CombinedOutput()
	return listed.read(out, after.path()), err
}

// types returns the names of the types with +genclient in the row's packages.
func (s row) types(dir string) []string {
	var names []string
	for _, api := range s.apis {
		cmd := exec.Command("go", "list", "-mod=mod", "-f", "{{.Dir}}", api)
		cmd.Dir = dir
		out, err := cmd.Output()
		if err != nil {
			continue
		}
		files, _ := filepath.Glob(filepath.Join(strings.TrimSpace(string(out)), "*.go"))
		for _, file := range files {
			text, _ := os.ReadFile(file)
			for _, m := range genclient.FindAllStringSubmatch(string(text), -1) {
				names = append(names, m[1])
			}
		}
	}
	return names
}

var genclient = regexp.MustCompile(`(?m)^// \+genclient\n(?:\s*\n|//.*\n)*type (\w+)`)

// unnamed returns the names that don't occur in text as words.
func unnamed(text string, names []string) []string {
	var missing []string
	for _, name := range names {
		if !regexp.MustCompile(`\b` + name + `\b`).MatchString(text) {
			missing = append(missing, name)
		}
	}
	if len(names) == 0 {
		missing = append(missing, "any type")
	}
	return missing
}
