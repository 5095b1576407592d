package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"

	"golang.org/x/mod/modfile"

	"github.com/kubewright/kubewright/internal/move"
)

// The versions that kubewright is for. TestVersions compares them with go.mod.
const (
	clientGo          = "v0.37.2"
	controllerRuntime = "v0.25.2"
)

// workplace is where a program is moved.
type workplace struct {
	program
	// dir has the program's folder, a git repository, and the logs. clone is this repository.
	dir, source, clone string
}

func newWorkplace(p program, dir, clone string) *workplace {
	return &workplace{p, dir, filepath.Join(dir, "source"), clone}
}

// test does all that is about tests with the program, and returns its row. What wasn't reached is empty.
func (w *workplace) test(ctx context.Context, runs int) (row testsRow, err error) {
	row.Program = w.name
	if err := w.copy(ctx); err != nil {
		return row, err
	}
	released := w.runTests(ctx, "released", runs)
	row.Released = released.String()
	if err := w.raise(ctx); err != nil {
		row.Raised = "can't be raised"
		return row, err
	}
	raised := w.runTests(ctx, "raised", runs)
	row.Raised = raised.String()
	if err := w.reset(ctx); err != nil {
		return row, err
	}

	report, err := w.move(ctx, "move", "-w")
	if err != nil {
		return row, err
	}
	row.Lines = changed(report)
	moved := w.runTests(ctx, "moved", runs)
	row.Moved = moved.String()
	err = raised.compare(moved, released)

	row.Back = "yes"
	back := w.back(ctx, raised.built == "")
	if back != nil {
		row.Back = "no"
	}
	return row, errors.Join(err, back)
}

// run runs a command in the program's folder. Its output goes to a log, which has the name of the step.
func (w *workplace) run(ctx context.Context, step, name string, args ...string) (string, error) {
	cmd := w.command(ctx, name, args...)
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	log := fmt.Sprintf("$ %s %s\n%s%s", name, strings.Join(args, " "), out, stderr.Bytes())
	if err != nil {
		log += fmt.Sprintln(err)
		err = fmt.Errorf("%s: %s: %w\n%s", step, name, err, tail(stderr.String()+string(out)))
	}
	return string(out), errors.Join(err, appendTo(w.log(step), log))
}

func (w *workplace) log(step string) string { return filepath.Join(w.dir, step+".log") }

func (w *workplace) command(ctx context.Context, name string, args ...string) *exec.Cmd {
	cmd := exec.CommandContext(ctx, name, args...)
	cmd.Dir = w.source
	cmd.Env = append(cmd.Environ(), "GOFLAGS=-mod=mod", "GOWORK=off")
	cmd.Env = append(cmd.Env, w.env...)
	if w.toolchain != "" {
		cmd.Env = append(cmd.Env, "GOTOOLCHAIN="+w.toolchain)
	}
	return cmd
}

// tail returns the last lines of a text.
func tail(text string) string {
	lines := strings.Split(strings.TrimSpace(text), "\n")
	return strings.Join(lines[max(0, len(lines)-10):], "\n")
}

func appendTo(name, text string) error {
	file, err := os.OpenFile(name, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o666)
	if err != nil {
		return err
	}
	_, err = file.WriteString(text)
	return errors.Join(err, file.Close())
}

// errRefused means that a program can't be had here. That is no failure of the move.
var errRefused = errors.New("the module proxy refuses the program")

// copy copies the program from the module cache, and commits it.
func (w *workplace) copy(ctx context.Context) error {
	if err := errors.Join(os.RemoveAll(w.dir), os.MkdirAll(w.source, 0o755)); err != nil {
		return err
	}
	out, err := w.run(ctx, "copy", "go", "mod", "download", "-json", w.module+"@"+w.version)
	if err != nil && ctx.Err() == nil {
		return fmt.Errorf("%w: %w", errRefused, err)
	} else if err != nil {
		return err
	}
	var downloaded struct{ Dir string }
	if err := json.Unmarshal([]byte(out), &downloaded); err != nil {
		return err
	}
	if err := os.CopyFS(w.source, os.DirFS(downloaded.Dir)); err != nil {
		return err
	}
	// The cache's files are read-only.
	if err := filepath.WalkDir(w.source, func(name string, entry os.DirEntry, err error) error {
		if err == nil && !entry.IsDir() {
			err = os.Chmod(name, 0o644)
		}
		return err
	}); err != nil {
		return err
	}
	if _, err := w.run(ctx, "copy", "git", "init", "-q"); err != nil {
		return err
	}
	return w.commit(ctx, "copy")
}

func (w *workplace) commit(ctx context.Context, step string) error {
	if _, err := w.run(ctx, step, "git", "add", "-A", "-f"); err != nil {
		return err
	}
	_, err := w.run(ctx, step, "git", "-c", "user.name=x", "-c", "user.email=x@example.com",
		"commit", "-q", "-m", step)
	return err
}

// reset undoes everything since the last commit.
func (w *workplace) reset(ctx context.Context) error {
	_, err := w.run(ctx, "reset", "git", "reset", "-q", "--hard")
	return err
}

// raise raises Kubernetes' modules as a move does, and nothing else.
func (w *workplace) raise(ctx context.Context) error {
	text, err := os.ReadFile(filepath.Join(w.source, "go.mod"))
	if err != nil {
		return err
	}
	mod, err := modfile.Parse("go.mod", text, nil)
	if err != nil {
		return err
	}
	raises, err := move.Raises(mod, clientGo, controllerRuntime)
	if err != nil {
		return err
	}
	edits := []string{"mod", "edit"}
	for _, r := range raises {
		edits = append(edits, r.Flag())
	}
	if len(raises) > 0 {
		if _, err := w.run(ctx, "raised", "go", edits...); err != nil {
			return err
		}
	}
	if _, err := w.run(ctx, "raised", "go", "mod", "tidy"); err == nil {
		return nil
	}
	_, err = w.run(ctx, "raised", "go", "list", "-deps", "-test", "./...") // a tool of the program can't be had
	return err
}

// move runs kubewright move with some flags, and returns its report.
func (w *workplace) move(ctx context.Context, step string, flags ...string) (string, error) {
	return w.kubewright(ctx, step, append([]string{"move", "--kubewright", w.clone}, flags...)...)
}

// kubewright runs the command of this repository.
func (w *workplace) kubewright(ctx context.Context, step string, args ...string) (string, error) {
	kubewright := filepath.Join(w.dir, "kubewright")
	if _, err := os.Stat(kubewright); err != nil {
		if _, err := w.run(ctx, "build", "go", "-C", w.clone, "build", "-o", kubewright,
			"./cmd/kubewright"); err != nil {
			return "", err
		}
	}
	return w.run(ctx, step, kubewright, args...)
}

// changed returns how many lines a report says were changed.
func changed(report string) int {
	for line := range strings.Lines(report) {
		if before, _, found := strings.Cut(line, " changed in "); found {
			n, _ := strconv.Atoi(strings.Fields(before)[0])
			return n
		}
	}
	return 0
}

// back goes the way back twice: right after the move, which must leave no difference, and when it was
// committed, which must leave none in .go files. builds is true if the program compiles with its modules
// raised and nothing moved: then it must compile after that, too.
func (w *workplace) back(ctx context.Context, builds bool) error {
	clean := func(step string, args ...string) error {
		out, err := w.run(ctx, step, "git", args...)
		if err == nil && out != "" {
			err = fmt.Errorf("%s: git %s:\n%s", step, strings.Join(args, " "), tail(out))
		}
		return err
	}
	if _, err := w.move(ctx, "back", "--back", "-w"); err != nil {
		return err
	}
	if err := clean("back", "status", "--porcelain"); err != nil {
		return err
	}
	if _, err := w.move(ctx, "again", "-w"); err != nil {
		return err
	}
	second, err := w.move(ctx, "second", "-w")
	if err != nil {
		return err
	}
	if !strings.Contains(second, "Nothing to change.") {
		return errors.New("a second run changes something")
	}
	if err := w.commit(ctx, "again"); err != nil {
		return err
	}
	if _, err := w.move(ctx, "committed", "--back", "-w"); err != nil {
		return err
	}
	if err := clean("committed", "diff", "--stat", "HEAD~", "--", "*.go"); err != nil || !builds {
		return err
	}
	_, err = w.run(ctx, "committed", "go", "build", "./...")
	return err
}
