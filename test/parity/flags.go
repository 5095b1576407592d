package main

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"golang.org/x/tools/txtar"
)

// flagCase is one use of a flag and its visible effect on the output. A condition is "FILE" for a file that
// exists, or "FILE: REGEXP" for one with a line that matches. "no " before either means the opposite. With
// the flag all of a case's conditions must hold, for upstream's tool and for ours. Without it at least one
// must not hold, so that the flag is what causes them. In a case without conditions both tools must fail with
// the flag, and succeed without it.
type flagCase struct {
	tool, flag string
	args       []string
	want       []string
	// with are arguments of both runs, with the flag and without.
	with []string
}

// flagSet has the flags that a tool's help shows.
type flagSet map[string]flagHelp

type flagHelp struct{ short, typ, byDefault string }

// flagLine matches a line of pflag's usage text.
var flagLine = regexp.MustCompile(`^ +(?:-(\w), )?--([\w-]+)(?: (\w+))?(?: {2,}|$)(.*)$`)

var defaultValue = regexp.MustCompile(`\(default (.*)\)$`)

func readHelp(tool string) flagSet {
	// With pflag's usual error handling, --help has an exit status of its own.
	out, _ := exec.Command(tool, "--help").CombinedOutput()
	flags := flagSet{}
	for line := range strings.Lines(string(out)) {
		m := flagLine.FindStringSubmatch(strings.TrimRight(line, "\n"))
		if m == nil || m[2] == "help" {
			continue
		}
		help := flagHelp{short: m[1], typ: m[3]}
		// A list flag's default is shown as a list or isn't shown. The cases check its effect.
		if d := defaultValue.FindStringSubmatch(m[4]); d != nil &&
			!strings.HasPrefix(strings.Trim(d[1], `"`), "[") {
			help.byDefault = d[1]
		}
		flags[m[2]] = help
	}
	return flags
}

// flags checks that our tools accept each flag of upstream's, with the same short form, type and default, and
// that each flag of the tools in tried has the effect that its cases describe. Flags of the logging library
// need only be accepted.
func (r *run) flags(tried []string) error {
	dir := filepath.Join(r.work, "flags")
	archive, err := txtar.ParseFile(filepath.Join(r.here, "testdata", "flags.txtar"))
	if err != nil {
		return err
	}
	if err := os.RemoveAll(dir); err != nil {
		return err
	}
	for _, f := range archive.Files {
		file := filepath.Join(dir, "module", f.Name)
		if err := errors.Join(
			os.MkdirAll(filepath.Dir(file), 0o755), os.WriteFile(file, f.Data, 0o644),
		); err != nil {
			return err
		}
	}
	t := &flagTable{run: r, dir: dir, outputs: map[string]*flagOutput{}}
	good, all, cases := 0, 0, 0
	var failed []error
	for _, c := range flagCases {
		if slices.Contains(tried, c.tool) {
			cases++
		}
	}
	for _, tool := range tools {
		theirs, ours := readHelp(filepath.Join(r.upstream, tool)), readHelp(filepath.Join(r.ours, tool))
		if len(theirs) == 0 {
			return fmt.Errorf("flags: %s of upstream lists none", tool)
		}
		for _, flag := range slices.Sorted(keys(theirs)) {
			all++
			err := sameHelp(theirs[flag], ours, flag)
			if err == nil && slices.Contains(tried, tool) {
				err = t.check(tool, flag, theirs[flag])
			}
			if err != nil {
				failed = append(failed, fmt.Errorf("%s --%s: %w", tool, flag, err))
				fmt.Printf("  %s --%s: %v\n", tool, flag, err)
				continue
			}
			good++
		}
	}
	fmt.Printf("check flags: %d of %d (%d cases)\n", good, all, cases)
	return errors.Join(failed...)
}

// flagTable runs the cases.
type flagTable struct {
	run *run
	dir string
	// outputs are the outputs of the runs so far, by tool and arguments.
	outputs map[string]*flagOutput
}

func sameHelp(theirs flagHelp, ours flagSet, flag string) error {
	help, ok := ours[flag]
	switch {
	case !ok:
		return errors.New("missing")
	case help != theirs:
		return fmt.Errorf("is %+v, upstream's %+v", help, theirs)
	}
	return nil
}

// check tries a flag.
func (t *flagTable) check(tool, flag string, theirs flagHelp) error {
	cases := 0
	for _, c := range flagCases {
		if c.tool != tool || c.flag != flag {
			continue
		}
		cases++
		if err := t.try(c); err != nil {
			return fmt.Errorf("%s: %w", strings.Join(c.args, " "), err)
		}
	}
	if cases > 0 {
		return nil
	}
	if !isLogging(flag) {
		return errors.New("not in the table of cases")
	}
	value := loggingValues[flag]
	if value == "" {
		value = theirs.byDefault
	}
	return t.output("ours", tool, []string{"--" + flag + "=" + value}).err
}

// try runs a case with our tool and with upstream's, each with the flag and without it.
func (t *flagTable) try(c flagCase) error {
	for _, set := range []string{"upstream", "ours"} {
		without := t.output(set, c.tool, c.with)
		if without.err != nil {
			return fmt.Errorf("%s without the flag: %w", set, without.err)
		}
		with := t.output(set, c.tool, slices.Concat(c.with, c.args))
		switch unmet := with.unmet(c.want); {
		case len(c.want) == 0 && with.err == nil:
			return fmt.Errorf("%s: no error", set)
		case len(c.want) == 0:
		case with.err != nil:
			return fmt.Errorf("%s: %w", set, with.err)
		case unmet != "":
			return fmt.Errorf("%s: not so: %s", set, unmet)
		case without.unmet(c.want) == "":
			return fmt.Errorf("%s: the same without the flag: %s", set, strings.Join(c.want, "; "))
		}
	}
	return nil
}

// flagOutput is the result of a run.
type flagOutput struct {
	dir string
	err error
}

// output runs a tool with the arguments that it requires, followed by args, in which OUT stands for the
// output folder.
func (t *flagTable) output(set, tool string, args []string) *flagOutput {
	key := strings.Join(slices.Concat([]string{set, tool}, args), " ")
	if o := t.outputs[key]; o != nil {
		return o
	}
	o := &flagOutput{dir: filepath.Join(t.dir, fmt.Sprint("out", len(t.outputs)))}
	t.outputs[key] = o
	bin := t.run.ours
	if set == "upstream" {
		bin = t.run.upstream
	}
	flags, inputs := baseArgs(tool)
	all := slices.Concat([]string{"--output-dir", o.dir, "--output-pkg", "example.com/out"}, flags)
	for _, arg := range args {
		all = append(all, strings.ReplaceAll(arg, "OUT", o.dir))
	}
	cmd := exec.Command(filepath.Join(bin, tool), append(all, inputs...)...)
	cmd.Dir = filepath.Join(t.dir, "module")
	cmd.Env = append(os.Environ(), "PWD="+cmd.Dir, "GOWORK=off", "GOFLAGS=", "GOPROXY=off")
	if out, err := cmd.CombinedOutput(); err != nil {
		o.err = fmt.Errorf("%w\n%s", err, out)
	}
	return o
}

// unmet returns the first condition that doesn't hold, or "".
func (o *flagOutput) unmet(want []string) string {
	for _, condition := range want {
		rest, not := strings.CutPrefix(condition, "no ")
		file, pattern, hasPattern := strings.Cut(rest, ": ")
		text, err := os.ReadFile(filepath.Join(o.dir, file))
		holds := err == nil
		if hasPattern && holds {
			holds = regexp.MustCompile(`(?m)` + pattern).Match(bytes.TrimSpace(text))
		}
		if holds == not {
			return condition
		}
	}
	return ""
}
