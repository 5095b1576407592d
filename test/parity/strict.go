package main

import (
	"bytes"
	"errors"
	"fmt"
	"go/format"
	"io/fs"
	"maps"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
)

// parserFile is the file with Parser, in the folder of apply configurations. applyconfiguration-gen writes
// it, kubewright generate doesn't.
const parserFile = "internal/parser.go"

// strictRow runs kubewright generate on a row, once with its packages and once with the wildcard, into
// modules like ours, and checks that
//
//   - both runs have the same verdict, the same files and only reviewed messages,
//   - each file says what it was made from, the files are otherwise those of our four binaries, byte for
//     byte, and named as upstream's, and gofmt changes none; a row with types that encode themselves lacks
//     exactly the names in testdata/removed.txt,
//   - kubewright check passes, and fails after one byte has changed.
//
// kubewright may refuse what the binaries accept, with reviewed messages. theirs is nil if the binaries
// didn't run. strictRow returns a part of a sentence about the row.
func (r *run) strictRow(row row, ours, theirs *scratch) (string, error) {
	if len(row.wildcard) == 0 {
		return "kubewright: no wildcard", nil
	}
	packages, err := r.strictRun(row, ours, "packages", slices.Concat(row.apis, row.list("ac-extra")))
	if err != nil {
		return "", err
	}
	wildcard, err := r.strictRun(row, ours, "wildcard", slices.Concat(row.wildcard, row.list("ac-extra")))
	if err != nil {
		return "", err
	}
	messages := slices.Concat(packages.messages, wildcard.messages)
	slices.Sort(messages)
	messages = slices.Compact(messages)
	failed := []error{r.review.check(row.name, messages)}
	if packages.status != wildcard.status {
		failed = append(failed, fmt.Errorf("kubewright's exit status is %d on packages, %d on the wildcard",
			packages.status, wildcard.status))
	}
	if row.refused && packages.status == 0 {
		failed = append(failed, errors.New("kubewright makes something of types that can't have clients"))
	}
	if packages.status != 0 || wildcard.status != 0 {
		return fmt.Sprintf("kubewright: refused with %d messages", len(messages)), errors.Join(failed...)
	}
	failed = append(failed, packages.current(), wildcard.current(), gofmted(packages.files),
		differ("the run on packages", packages.files, "that on the wildcard", wildcard.files, true))
	withoutSources, err := packages.withoutSources()
	failed = append(failed, err)
	for _, binaries := range []struct {
		name string
		*scratch
		bytes bool
	}{{"our binaries", ours, true}, {"upstream", theirs, false}} {
		if theirs == nil {
			break
		}
		if removed, err := r.removed(row.name); err != nil || len(removed) > 0 {
			if binaries.bytes {
				failed = append(failed, err, r.lacks(removed, ours, packages.scratch))
			}
			continue
		}
		files, err := binaries.tree()
		if binaries.bytes {
			delete(files, path.Join(row.applyDir, parserFile))
		}
		failed = append(failed, err,
			differ("kubewright", withoutSources, binaries.name, files, binaries.bytes))
	}
	return fmt.Sprintf("kubewright: %d files, %d messages", len(packages.files), len(messages)),
		errors.Join(failed...)
}

// removed returns the changes of the API that kubewright makes to a row, in apidiff's words: configurations
// of types that encode themselves, which the four binaries generate as upstream's do.
func (r *run) removed(row string) ([]string, error) {
	text, err := os.ReadFile(filepath.Join(r.here, "testdata", "removed.txt"))
	var changes []string
	for line := range strings.Lines(string(text)) {
		if change, ok := strings.CutPrefix(line, row+": "); ok {
			changes = append(changes, strings.TrimSpace(change))
		}
	}
	return changes, err
}

// lacks checks that kubewright's API differs from that of the binaries by the listed changes alone.
func (r *run) lacks(removed []string, binaries, kubewright *scratch) error {
	c, _ := r.changes(binaries, kubewright, nil) // it fails, as names are missing
	if !slices.Equal(c.problems, removed) {
		return fmt.Errorf("kubewright and our binaries differ by\n%s\nand testdata/removed.txt lists\n%s",
			strings.Join(c.problems, "\n"), strings.Join(removed, "\n"))
	}
	return nil
}

// strictRun is one run of kubewright generate.
type strictRun struct {
	*scratch
	kubewright string // the command
	args       []string
	status     int
	messages   []string
	files      map[string][]byte
}

func (r *run) strictRun(row row, like *scratch, name string, patterns []string) (*strictRun, error) {
	s := &strictRun{
		scratch:    &scratch{row: row, dir: filepath.Join(r.work, "corpus", name, row.name), runtime: r.root},
		kubewright: filepath.Join(r.ours, "kubewright"),
	}
	if err := s.copyModule(like); err != nil {
		return nil, err
	}
	schema, err := s.schema()
	if err != nil {
		return nil, err
	}
	s.args = append(s.args, "--output-dir", ".", "--go-header-file", "header.txt",
		"--clientset-name", s.clientsetName(), "--plural-exceptions", s.flags["plural-exceptions"])
	for _, flag := range []string{"prefers-protobuf", "single-directory"} {
		if s.has(flag) {
			s.args = append(s.args, "--"+flag)
		}
	}
	if !s.has("no-applyconfig") {
		s.args = append(s.args, "--with-applyconfig", "--applyconfig-dir", s.applyDir,
			"--applyconfig-externals", s.flags["ac-externals"], "--applyconfig-openapi-schema", schema)
	}
	s.args = append(s.args, patterns...)
	_, stderr, status, err := s.command("generate")
	if err != nil {
		return nil, err
	}
	s.status = status
	for line := range strings.Lines(stderr) {
		s.messages = append(s.messages, s.portable(strings.TrimSpace(line)))
	}
	s.files, err = s.tree()
	return s, err
}

// command runs kubewright with the arguments of the run.
func (s *strictRun) command(name string) (stdout, stderr string, status int, err error) {
	cmd := exec.Command(s.kubewright, append([]string{name}, s.args...)...)
	cmd.Dir = s.dir
	cmd.Env = append(os.Environ(), "PWD="+s.dir, "GOWORK=off", "GOFLAGS=-mod=mod")
	var out, errs bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errs
	err = cmd.Run()
	if exit, ok := errors.AsType[*exec.ExitError](err); ok {
		status, err = exit.ExitCode(), nil
	}
	return out.String(), errs.String(), status, err
}

// current checks that kubewright check passes after the run, and that it notices a changed byte in the middle
// of a file.
func (s *strictRun) current() error {
	stdout, _, status, err := s.command("check")
	if err != nil || status != 0 {
		return fmt.Errorf("kubewright check after generate: exit status %d, %w\n%.2000s", status, err, stdout)
	}
	names := slices.Sorted(maps.Keys(s.files))
	name := names[len(names)/2]
	file, text := filepath.Join(s.dir, name), s.files[name]
	changed := bytes.Clone(text)
	changed[len(changed)/2] ^= 1
	if err := os.WriteFile(file, changed, 0o644); err != nil {
		return err
	}
	stdout, stderr, status, err := s.command("check")
	if err != nil || status != 1 || !strings.Contains(stdout, "\n+++ "+name+"\n") ||
		!strings.HasSuffix(stderr, "not current: 1 file to write, 0 stale; run kubewright generate with the same "+
			"arguments\n") {
		return fmt.Errorf("kubewright check after a change in %s: exit status %d, %w\n%.2000s%s", name, status,
			err, stdout, stderr)
	}
	return os.WriteFile(file, text, 0o644)
}

// sources are the lines below the header that say what a file was made from. The binaries don't write them.
var sources = regexp.MustCompile(`(?m)^(// Code generated by .* DO NOT EDIT\.\n)(?:// Source: .+\n)+$`)

// withoutSources returns the files without these lines. It is an error if a file has none.
func (s *strictRun) withoutSources() (map[string][]byte, error) {
	files := map[string][]byte{}
	var missing []error
	for _, name := range slices.Sorted(maps.Keys(s.files)) {
		if !sources.Match(s.files[name]) {
			missing = append(missing, fmt.Errorf("%s: no line // Source:", name))
		}
		files[name] = sources.ReplaceAll(s.files[name], []byte("$1"))
	}
	return files, errors.Join(missing...)
}

// tree returns the generated files by path.
func (s *scratch) tree() (map[string][]byte, error) {
	files := map[string][]byte{}
	for _, folder := range s.folders() {
		if folder == s.applyDir && s.has("no-applyconfig") {
			continue
		}
		dir := filepath.Join(s.dir, folder)
		if _, err := os.Stat(dir); errors.Is(err, fs.ErrNotExist) {
			continue
		}
		err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
			if err != nil || d.IsDir() {
				return err
			}
			name, err := filepath.Rel(s.dir, path)
			if err != nil {
				return err
			}
			files[filepath.ToSlash(name)], err = os.ReadFile(path)
			return err
		})
		if err != nil {
			return nil, err
		}
	}
	return files, nil
}

// differ compares two sets of files, with their contents if bytesToo is set.
func differ(
	name string, files map[string][]byte, other string, others map[string][]byte, bytesToo bool,
) error {
	var found []string
	for _, file := range slices.Sorted(maps.Keys(files)) {
		if text, ok := others[file]; !ok {
			found = append(found, file+": only of "+name)
		} else if bytesToo && !bytes.Equal(text, files[file]) {
			found = append(found, file+": differs")
		}
	}
	for _, file := range slices.Sorted(maps.Keys(others)) {
		if _, ok := files[file]; !ok {
			found = append(found, file+": only of "+other)
		}
	}
	if found == nil {
		return nil
	}
	return fmt.Errorf("%s and %s: %d files differ\n%s", name, other, len(found),
		strings.Join(found[:min(len(found), 20)], "\n"))
}

// gofmted checks that gofmt changes none of the files.
func gofmted(files map[string][]byte) error {
	var found []error
	for _, name := range slices.Sorted(maps.Keys(files)) {
		text, err := format.Source(files[name])
		if err != nil {
			found = append(found, fmt.Errorf("%s: %w", name, err))
		} else if !bytes.Equal(text, files[name]) {
			found = append(found, fmt.Errorf("%s: gofmt changes it", name))
		}
	}
	return errors.Join(found...)
}

// moduleCache is the start of a path in the module cache.
var moduleCache = regexp.MustCompile(`/\S*/pkg/mod/`)

// portable returns a message without the parts that differ from machine to machine.
func (s *scratch) portable(message string) string {
	return moduleCache.ReplaceAllString(strings.ReplaceAll(message, s.dir+"/", ""), "")
}
