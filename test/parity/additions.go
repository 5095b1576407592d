package main

import (
	"bufio"
	"fmt"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
)

// addition is a pattern of what generated code may have beyond upstream's: in
// which packages, and which change as apidiff words it, both as globs.
type addition struct{ pkg, change string }

type additions []addition

// readAdditions reads the patterns from the table in the documentation, so that
// nothing is allowed that isn't documented: rows that begin with two cells in
// backquotes.
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
			listed = append(listed, addition{m[1], m[2]})
		}
	}
	return listed, nil
}

var additionRow = regexp.MustCompile("^\\| `([^`]+)` \\| `([^`]+)` \\|")

// has reports whether a change is listed. In a pattern for packages a star
// stands for any number of path elements.
func (a additions) has(pkg, change string) bool {
	return slices.ContainsFunc(a, func(l addition) bool {
		flat := func(s string) string { return strings.ReplaceAll(s, "/", ".") }
		inPkg, _ := path.Match(flat(l.pkg), flat(pkg))
		same, _ := path.Match(l.change, change)
		return inPkg && same
	})
}

// compare compares the exported API of what theirs has, as far as it compiles,
// with ours. Nothing may be missing or incompatible, which a method added to an
// interface is; what is there beyond has to be listed.
func (r *run) compare(theirs, ours *scratch, listed additions) (string, error) {
	args := append([]string{"-missing", "-partial", "-max", "1000000", "-old", theirs.dir, "-new", ours.dir}, theirs.patterns()...)
	cmd := exec.Command(filepath.Join(r.work, "bin", "apidiff"), args...)
	cmd.Env = append(os.Environ(), "GOWORK=off", "GOFLAGS=-mod=mod")
	out, diffErr := cmd.CombinedOutput()
	var breaks []string
	found, broken, unlisted := 0, 0, []string{}
	summary := ""
	for line := range strings.Lines(string(out)) {
		line = strings.TrimSpace(line)
		if m := compatible.FindStringSubmatch(line); m != nil {
			found++
			if !listed.has(strings.TrimPrefix(m[1], ours.path()+"/"), m[2]) {
				unlisted = append(unlisted, line)
			}
		} else if s, ok := strings.CutPrefix(line, "apidiff: "); ok {
			summary, _, _ = strings.Cut(s, " (")
		} else if strings.HasPrefix(line, "left out: ") {
			broken++
		} else {
			breaks = append(breaks, line)
		}
	}
	if diffErr != nil {
		return "", fmt.Errorf("apidiff: %w\n%s", diffErr, strings.Join(breaks, "\n"))
	}
	if len(unlisted) > 0 {
		return "", fmt.Errorf("not in docs/additions.md:\n%s", strings.Join(unlisted, "\n"))
	}
	if found > 0 {
		summary += fmt.Sprintf(", %d listed additions", found)
	}
	if broken > 0 {
		summary += fmt.Sprintf("; %d more of upstream's don't compile, ours do", broken)
	}
	return summary, nil
}

var compatible = regexp.MustCompile(`^(\S+): \(compatible\) (.*)$`)

// types are the names of the types with +genclient in the row's packages.
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

// unnamed are the names that don't occur in text as words.
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
