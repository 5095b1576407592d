package main

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
)

// row is what the corpus check needs of a line of corpus.tsv; corpus.sh reads
// the rest.
type row struct {
	name     string
	applyDir string // folder of the apply configurations
}

// corpus generates every row twice, in two scratch modules of one path, with
// upstream's tools and with ours, and compares the exported API.
func (r *run) corpus() error {
	rows, err := readCorpus(filepath.Join(r.here, "corpus.tsv"))
	if err != nil {
		return err
	}
	good, all := 0, 0
	var failed []error
	for _, row := range rows {
		if !r.wanted(row.name) {
			continue
		}
		all++
		verdict, err := r.corpusRow(row)
		if err != nil {
			failed = append(failed, fmt.Errorf("%s: %w", row.name, err))
			fmt.Printf("  %s: FAILS: %v\n", row.name, err)
			continue
		}
		good++
		fmt.Printf("  %s: %s\n", row.name, verdict)
	}
	fmt.Printf("check corpus: %d of %d rows\n", good, all)
	if all == 0 {
		return errors.New("corpus: no such row")
	}
	return errors.Join(failed...)
}

// corpusRow returns what is right with a row, or an error that says what isn't.
func (r *run) corpusRow(row row) (string, error) {
	ours, oursErr := r.generate(row.name, "ours", r.ours, "RUNTIME="+r.root)
	if row.name == "kyverno-cli" {
		// Types that can't have a client: an error that names them is right.
		if oursErr != nil && regexp.MustCompile(`\.go:\d+:\d+: `).MatchString(ours) {
			return "refused, with positions", nil
		}
	}
	if oursErr != nil {
		return "", fmt.Errorf("ours: %s", strings.TrimSpace(ours))
	}
	theirs, err := r.generate(row.name, "upstream", r.upstream)
	if err != nil {
		return "compiles; upstream's does not: " + firstLine(theirs), nil
	}
	if strings.Contains(ours, "NATIVE") {
		return "generated; not compiled, since the module needs an older client-go", nil
	}
	var patterns []string
	for _, dir := range []string{"clientset", "listers", "informers", row.applyDir} {
		if _, err := os.Stat(filepath.Join(r.scratch("upstream", row.name), dir)); err == nil {
			patterns = append(patterns, "./"+dir+"/...")
		}
	}
	args := append([]string{"-missing", "-old", r.scratch("upstream", row.name), "-new", r.scratch("ours", row.name)}, patterns...)
	out, err := exec.Command(filepath.Join(r.work, "bin", "apidiff"), args...).CombinedOutput()
	if err != nil {
		return "", fmt.Errorf("apidiff: %s", strings.TrimSpace(string(out)))
	}
	return strings.TrimSpace(lastLine(string(out))), nil
}

func (r *run) scratch(set, name string) string { return filepath.Join(r.work, "corpus", set, name) }

// generate runs corpus.sh for one row with the generators in bin and returns
// what it printed.
func (r *run) generate(name, set, bin string, env ...string) (string, error) {
	cmd := exec.Command("bash", filepath.Join(r.here, "corpus.sh"), name, filepath.Join(r.work, "corpus", set))
	cmd.Env = append(append(os.Environ(), "BIN="+bin), env...)
	out, err := cmd.CombinedOutput()
	if err != nil {
		// The logs of the tools say more than the summary does.
		logs, _ := filepath.Glob(filepath.Join(r.scratch(set, name), ".run", "*-gen*.log"))
		for _, log := range logs {
			if text, err := os.ReadFile(log); err == nil {
				out = append(out, text...)
			}
		}
	}
	return string(out), err
}

func readCorpus(file string) ([]row, error) {
	data, err := os.ReadFile(file)
	if err != nil {
		return nil, err
	}
	var rows []row
	for i, line := range strings.Split(strings.TrimSpace(string(data)), "\n") {
		f := strings.Split(line, "\t")
		if i == 0 {
			continue // the heading
		}
		if len(f) < 13 {
			return nil, fmt.Errorf("%s:%d: %d columns", file, i+1, len(f))
		}
		dir := filepath.Base(f[7])
		if f[7] == "" {
			dir = "applyconfiguration"
		}
		rows = append(rows, row{name: f[0], applyDir: dir})
	}
	return rows, nil
}

func firstLine(s string) string {
	line, _, _ := strings.Cut(strings.TrimSpace(s), "\n")
	return line
}

func lastLine(s string) string {
	s = strings.TrimSpace(s)
	return s[strings.LastIndexByte(s, '\n')+1:]
}
