package generators_test

import (
	"bytes"
	"crypto/sha256"
	"errors"
	"flag"
	"fmt"
	"go/format"
	"io"
	"io/fs"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"golang.org/x/tools/txtar"
)

var update = flag.Bool("update", false, "write what the commands do into the golden files")

// TestGolden runs the commands in each of testdata's archives and compares their effects
// with the archive's transcript.
//
// An archive is a folder with a comment on top. The lines of the comment that
// begin with "$ " are commands, run one after the other in the folder work of
// the archive: kubewright and the -gen binaries, and
//
//	cat file      print a file
//	rm file       remove a file or folder
//	cp file file  copy a file
//	mv file file  rename a file or folder
//	ln to file    make a symbolic link
//	pipe file     make a named pipe
//	crlf file     give it the line ends of Windows
//	ls folder     list the files below a folder
//
// NAME=value before a command sets a variable in its environment. After that, "in folder"
// sets the folder in which it runs. A command that ends in "< file" reads the file.
//
// The transcript has each command with its output (stderr marked by "! "), its
// exit status unless 0, and the files that it added (+), changed (~) or
// removed (-) anywhere in the archive's folder.
func TestGolden(t *testing.T) {
	bin := buildCommands(t)
	archives, err := filepath.Glob("testdata/*.txtar")
	if err != nil || len(archives) == 0 {
		t.Fatalf("no archives: %v", err)
	}
	for _, file := range archives {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".txtar"), func(t *testing.T) {
			t.Parallel()
			archive, err := txtar.ParseFile(file)
			if err != nil {
				t.Fatal(err)
			}
			last := len(archive.Files) - 1
			if last < 0 || archive.Files[last].Name != transcriptName {
				archive.Files = append(archive.Files, txtar.File{Name: transcriptName})
				last++
			}
			got := runArchive(t, bin, archive)
			want := archive.Files[last].Data
			if bytes.Equal(got, want) {
				return
			}
			if !*update {
				t.Errorf("the transcript differs; run with -update to accept. Got:\n%s",
					firstDifference(got, want))
				return
			}
			archive.Files[last].Data = got
			if err := os.WriteFile(file, txtar.Format(archive), 0o644); err != nil {
				t.Fatal(err)
			}
		})
	}
}

const transcriptName = "transcript"

func runArchive(t *testing.T, bin string, archive *txtar.Archive) []byte {
	dir := t.TempDir()
	for _, f := range archive.Files {
		if f.Name == transcriptName {
			continue
		}
		path := filepath.Join(dir, filepath.FromSlash(f.Name))
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, f.Data, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	var transcript bytes.Buffer
	for line := range strings.Lines(string(archive.Comment)) {
		if command, ok := strings.CutPrefix(strings.TrimSpace(line), "$ "); ok {
			if transcript.Len() > 0 {
				transcript.WriteByte('\n')
			}
			fmt.Fprintf(&transcript, "$ %s\n", command)
			before := snapshot(t, dir)
			generated := runCommand(t, &transcript, bin, filepath.Join(dir, "work"), strings.Fields(command))
			after := snapshot(t, dir)
			writeChanges(&transcript, before, after)
			if generated {
				requireFormatted(t, dir, before, after)
			}
		}
	}
	return bytes.ReplaceAll(transcript.Bytes(), []byte(dir), []byte("$DIR"))
}

// runCommand runs a command and reports whether it is one of those that generate files.
func runCommand(t *testing.T, transcript *bytes.Buffer, bin, dir string, args []string) (generates bool) {
	var env []string
	for strings.Contains(args[0], "=") {
		env, args = append(env, args[0]), args[1:]
	}
	if args[0] == "in" {
		dir, args = filepath.Join(dir, args[1]), args[2:]
	}
	var stdout, stderr bytes.Buffer
	var err error
	switch args[0] {
	case "cat":
		var text []byte
		text, err = os.ReadFile(filepath.Join(dir, args[1]))
		stdout.Write(text)
	case "rm":
		err = os.RemoveAll(filepath.Join(dir, args[1]))
	case "cp":
		var text []byte
		if text, err = os.ReadFile(filepath.Join(dir, args[1])); err == nil {
			to := filepath.Join(dir, args[2])
			err = errors.Join(os.MkdirAll(filepath.Dir(to), 0o755), os.WriteFile(to, text, 0o644))
		}
	case "mv":
		to := filepath.Join(dir, args[2])
		err = errors.Join(os.MkdirAll(filepath.Dir(to), 0o755), os.Rename(filepath.Join(dir, args[1]), to))
	case "ln":
		err = os.Symlink(args[1], filepath.Join(dir, args[2]))
	case "pipe":
		err = exec.Command("mkfifo", filepath.Join(dir, args[1])).Run()
	case "crlf":
		file := filepath.Join(dir, args[1])
		var text []byte
		if text, err = os.ReadFile(file); err == nil {
			err = os.WriteFile(file, bytes.ReplaceAll(text, []byte("\n"), []byte("\r\n")), 0o644)
		}
	case "ls":
		for _, path := range slices.Sorted(maps.Keys(snapshot(t, filepath.Join(dir, args[1])))) {
			fmt.Fprintln(&stdout, path)
		}
	default:
		generates = true
		var stdin io.Reader
		if last := len(args) - 2; last > 0 && args[last] == "<" {
			text, err := os.ReadFile(filepath.Join(dir, args[last+1]))
			if err != nil {
				t.Fatal(err)
			}
			stdin, args = bytes.NewReader(text), args[:last]
		}
		command := exec.Command(filepath.Join(bin, args[0]), args[1:]...)
		command.Stdin = stdin
		command.Dir = dir
		command.Env = append(os.Environ(), "PWD="+dir, "GOWORK=off", "GOFLAGS=", "GOPROXY=off", "GOFILE=")
		command.Env = append(command.Env, env...)
		command.Stdout, command.Stderr = &stdout, &stderr
		err = command.Run()
	}
	transcript.Write(stdout.Bytes())
	for line := range strings.Lines(stderr.String()) {
		fmt.Fprintf(transcript, "! %s\n", strings.TrimSuffix(line, "\n"))
	}
	if exit, ok := errors.AsType[*exec.ExitError](err); ok {
		fmt.Fprintf(transcript, "exit status %d\n", exit.ExitCode())
	} else if err != nil {
		t.Fatal(err)
	}
	return generates
}

// snapshot returns the checksum of each file below dir, by path. It includes empty folders.
func snapshot(t *testing.T, dir string) map[string][sha256.Size]byte {
	files := map[string][sha256.Size]byte{}
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		rel, err := filepath.Rel(dir, path)
		if err != nil {
			return err
		}
		if d.IsDir() {
			entries, err := os.ReadDir(path)
			if len(entries) == 0 {
				files[filepath.ToSlash(rel)+"/"] = [sha256.Size]byte{}
			}
			return err
		}
		if d.Type()&fs.ModeSymlink != 0 {
			to, err := os.Readlink(path)
			files[filepath.ToSlash(rel)] = sha256.Sum256([]byte(to))
			return err
		}
		if !d.Type().IsRegular() { // Reading it might never end.
			files[filepath.ToSlash(rel)] = sha256.Sum256([]byte(d.Type().String()))
			return nil
		}
		text, err := os.ReadFile(path)
		files[filepath.ToSlash(rel)] = sha256.Sum256(text)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return files
}

func writeChanges(transcript *bytes.Buffer, before, after map[string][sha256.Size]byte) {
	all := maps.Clone(before)
	maps.Copy(all, after)
	for _, path := range slices.Sorted(maps.Keys(all)) {
		was, had := before[path]
		is, has := after[path]
		switch {
		case !had:
			fmt.Fprintf(transcript, "+ %s\n", path)
		case !has:
			fmt.Fprintf(transcript, "- %s\n", path)
		case was != is:
			fmt.Fprintf(transcript, "~ %s\n", path)
		}
	}
}

// requireFormatted checks that gofmt wouldn't change the generated files that a command
// wrote, as the generators don't call it.
func requireFormatted(t *testing.T, dir string, before, after map[string][sha256.Size]byte) {
	for path, sum := range after {
		if before[path] == sum || filepath.Ext(path) != ".go" {
			continue
		}
		text, err := os.ReadFile(filepath.Join(dir, path))
		if err != nil {
			t.Fatal(err)
		}
		formatted, err := format.Source(text)
		if err != nil {
			t.Errorf("%s: %v", path, err)
		} else if !bytes.Equal(formatted, text) {
			t.Errorf("gofmt changes %s: %s", path, firstDifference(formatted, text))
		}
	}
}

// firstDifference returns the part of got around the first line that differs from want.
func firstDifference(got, want []byte) string {
	gotLines, wantLines := strings.SplitAfter(string(got), "\n"), strings.SplitAfter(string(want), "\n")
	i := 0
	for i < len(gotLines) && i < len(wantLines) && gotLines[i] == wantLines[i] {
		i++
	}
	wanted := "the end"
	if i < len(wantLines) {
		wanted = wantLines[i]
	}
	return fmt.Sprintf("line %d: wanted %s%s", i+1, wanted,
		strings.Join(gotLines[max(0, i-3):min(len(gotLines), i+20)], ""))
}
