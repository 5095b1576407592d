package main

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"

	_ "embed"
)

// cost is what a process took until its caches were synced: seconds of CPU, the largest resident set, and the
// heap that a garbage collection leaves, both in MB.
type cost struct{ CPU, Peak, Live float64 }

// start measures the program raised and moved, in turn.
func (w *workplace) start(ctx context.Context, rounds int) (row startedRow, err error) {
	r := w.program.start
	row = startedRow{Program: w.name, About: r.about}
	for _, k := range r.kinds {
		row.Kinds = append(row.Kinds, k.name)
	}
	if err := w.copy(ctx); err != nil {
		return row, err
	}
	if err := w.raise(ctx); err != nil {
		return row, err
	}
	if err := w.build(ctx, "raised"); err != nil {
		return row, err
	}
	if err := w.reset(ctx); err != nil {
		return row, err
	}
	if _, err := w.move(ctx, "move", "-w"); err != nil {
		return row, err
	}
	if r.generate != nil {
		if _, err := w.kubewright(ctx, "generate", append([]string{"generate"}, r.generate...)...); err != nil {
			return row, err
		}
	}
	if err := w.edit(r.edit); err != nil {
		return row, err
	}
	if err := w.build(ctx, "moved"); err != nil {
		return row, err
	}
	kubeconfig, stop, err := w.serve(ctx, r)
	if err != nil {
		return row, err
	}
	defer func() { err = errors.Join(err, stop()) }()
	for range rounds {
		for _, of := range []struct {
			state string
			costs *[]cost
		}{{"raised", &row.Raised}, {"moved", &row.Moved}} {
			c, err := w.measure(ctx, of.state, kubeconfig)
			if err != nil {
				return row, fmt.Errorf("%s: %w", of.state, err)
			}
			fmt.Fprintf(os.Stderr, "%s %s %+v\n", w.name, of.state, c)
			*of.costs = append(*of.costs, c)
		}
	}
	return row, nil
}

// edit changes a file of the program.
func (w *workplace) edit(e edit) error {
	if e.file == "" {
		return nil
	}
	name := filepath.Join(w.source, e.file)
	text, err := os.ReadFile(name)
	if err != nil {
		return err
	}
	if n := strings.Count(string(text), e.old); n != 1 {
		return fmt.Errorf("edit: %s has %q %d times, want once", name, e.old, n)
	}
	return os.WriteFile(name, []byte(strings.Replace(string(text), e.old, e.new, 1)), 0o644)
}

//go:embed testdata/live.txt
var live []byte

// build builds the program in its present state, with a file that tells the live heap.
func (w *workplace) build(ctx context.Context, state string) error {
	file, overlay := filepath.Join(w.dir, "live.go"), filepath.Join(w.dir, "overlay.json")
	added := filepath.Join(w.source, w.program.start.main, "kubewright_live.go")
	text, err := json.Marshal(map[string]any{"Replace": map[string]string{added: file}})
	if err != nil {
		return err
	}
	if err := errors.Join(os.WriteFile(file, live, 0o644), os.WriteFile(overlay, text, 0o644)); err != nil {
		return err
	}
	_, err = w.run(ctx, "build", "go", "build", "-overlay", overlay, "-o", w.binary(state), w.program.start.main)
	return err
}

// binary is the path of the program that was built in a state.
func (w *workplace) binary(state string) string { return filepath.Join(w.dir, state) }

// timeout is how long a program may take to sync.
const timeout = 5 * time.Minute

// sigusr2 is Linux's. A measured program that gets it prints its live heap.
const sigusr2 = syscall.Signal(0xc)

// measure runs the program until it is synced.
func (w *workplace) measure(ctx context.Context, state, kubeconfig string) (c cost, err error) {
	ctx, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	r := w.program.start
	policy := filepath.Join(w.dir, "policy.yaml")
	names := strings.NewReplacer("KUBECONFIG", kubeconfig, "POLICY", policy)
	cmd := exec.CommandContext(ctx, w.binary(state))
	for _, arg := range r.args {
		cmd.Args = append(cmd.Args, names.Replace(arg))
	}
	cmd.Env = append(os.Environ(), "KUBECONFIG="+kubeconfig)
	if err := os.WriteFile(policy, []byte(r.policy), 0o644); err != nil {
		return c, err
	}
	log, err := os.Create(w.log("started-" + state))
	if err != nil {
		return c, err
	}
	defer log.Close()
	out, in, err := os.Pipe()
	if err != nil {
		return c, err
	}
	defer out.Close()
	cmd.Stdout, cmd.Stderr = in, in
	err = cmd.Start()
	in.Close()
	if err != nil {
		return c, err
	}
	defer func() {
		cancel()       // kills it
		_ = cmd.Wait() // says that it was killed
	}()
	found := 0
	lines := bufio.NewScanner(io.TeeReader(out, log))
	lines.Buffer(nil, 1<<24)
	for lines.Scan() {
		if text, ok := strings.CutPrefix(lines.Text(), "kubewright: live "); ok {
			bytes, err := strconv.ParseFloat(text, 64)
			c.Live = bytes / 1e6
			return c, err
		}
		if !strings.Contains(lines.Text(), r.synced) {
			continue
		}
		if found++; found == r.lines {
			if c, err = costOf(cmd.Process.Pid); err != nil {
				return c, err
			}
			if err := cmd.Process.Signal(sigusr2); err != nil {
				return c, err
			}
		}
	}
	return c, fmt.Errorf("%d of %d lines with %q in %s; %w", found, r.lines, r.synced, log.Name(),
		errors.Join(lines.Err(), context.Cause(ctx), io.ErrUnexpectedEOF))
}

// costOf returns the CPU and the peak of a process, as Linux's /proc has them.
func costOf(pid int) (c cost, err error) {
	dir := filepath.Join("/proc", strconv.Itoa(pid))
	stat, err := os.ReadFile(filepath.Join(dir, "stat"))
	if err != nil {
		return c, err
	}
	// The fields after the command's name, which is in brackets, begin with the third; the 14th and 15th are
	// hundredths of a second.
	_, rest, _ := strings.Cut(string(stat), ") ")
	fields := strings.Fields(rest)
	if len(fields) < 13 {
		return c, fmt.Errorf("stat: %q", stat)
	}
	for _, field := range fields[11:13] {
		ticks, err := strconv.ParseFloat(field, 64)
		if err != nil {
			return c, err
		}
		c.CPU += ticks / 100
	}
	status, err := os.ReadFile(filepath.Join(dir, "status"))
	if err != nil {
		return c, err
	}
	_, rest, _ = strings.Cut(string(status), "VmHWM:")
	var kib float64
	_, err = fmt.Sscan(rest, &kib)
	c.Peak = kib * 1024 / 1e6
	return c, err
}
