// Command parity regenerates other projects' code with our generators and compares the result with that of
// upstream's generators. Each check prints one line, "check NAME: N of M".
//
//	parity [-work DIR] [-rows NAME,...] [-steps NAME,...] [-record] [client-go] [corpus] [hubs] [flags]
//	       [deepcopy] [register] [defaulter] [collisions]
//
// Without arguments it runs all of these checks. What it downloads and writes stays in DIR, by default a
// folder in the user's cache.
//
// make upstream runs the check client-go with another -release, and the check minors: one tree of generated
// code compiles with this minor and with the -next one.
package main

import (
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
)

// tools are upstream's four generators, and ours of the same names.
var tools = []string{"client-gen", "lister-gen", "informer-gen", "applyconfiguration-gen"}

// helperTools are those that write into API packages.
var helperTools = []string{"deepcopy-gen", "register-gen", "defaulter-gen"}

// run is one invocation: its folders and its selection of checks.
type run struct {
	root     string   // the checkout
	here     string   // the folder of this module
	work     string   // scratch
	ours     string   // folder of our generators
	upstream string   // folder of upstream's
	rows     []string // the selected rows of the corpus; all if empty
	steps    []string // the selected steps of client-go and corpus; all if empty
	review   *review  // the known messages of kubewright
	next     next     // what the check minors needs
	with     []string // MODULE@VERSION, in place of what client-go requires
}

func main() {
	work := flag.String("work", "", "scratch folder (default: in the user's cache)")
	rows := flag.String("rows", "", "only these rows of the corpus, comma separated")
	steps := flag.String("steps", "",
		"only these steps of client-go, comma separated: generate, build, vet, apidiff, probe, test; "+
			"of corpus: strict, kubewright generate without the binaries")
	record := flag.Bool("record", false,
		"write the messages of kubewright generate to testdata/messages.tsv instead of comparing them with it")
	var next next
	flag.StringVar(&release, "release", release, "the version of the Kubernetes modules")
	flag.StringVar(&next.version, "next", "", "minors: the version of the Kubernetes modules of the next minor")
	flag.StringVar(&next.checkout, "next-checkout", "", "minors: a checkout of kubewright for that minor")
	with := flag.String("with", "",
		"client-go with another release, and minors: MODULE@VERSION, comma separated, in place of what "+
			"client-go requires")
	flag.Parse()
	if err := parity(*work, *rows, *steps, *with, *record, next, flag.Args()); err != nil {
		fmt.Fprintln(os.Stderr, "parity:", err)
		os.Exit(1)
	}
}

func parity(work, rows, steps, with string, record bool, next next, checks []string) error {
	if len(checks) == 0 {
		checks = []string{"client-go", "corpus", "hubs", "flags", "deepcopy", "register", "defaulter", "collisions"}
	}
	compared := slices.ContainsFunc(checks, func(c string) bool { return c != "client-go" && c != "minors" })
	r, err := prepare(work, compared)
	if err != nil {
		return err
	}
	r.review.record, r.next = record, next
	for _, list := range []struct {
		to   *[]string
		text string
	}{{&r.rows, rows}, {&r.steps, steps}, {&r.with, with}} {
		if list.text != "" {
			*list.to = strings.Split(list.text, ",")
		}
	}
	var failed []error
	for _, name := range checks {
		switch name {
		case "client-go":
			failed = append(failed, r.clientGo())
		case "corpus":
			failed = append(failed, r.corpus())
		case "hubs":
			failed = append(failed, r.hubs())
		case "flags":
			failed = append(failed, r.flags(tools))
		case "deepcopy":
			failed = append(failed, r.deepCopies())
		case "register":
			failed = append(failed, r.registrations())
		case "defaulter":
			failed = append(failed, r.defaults())
		case "collisions":
			failed = append(failed, r.collisions())
		case "minors":
			failed = append(failed, r.minors())
		default:
			return fmt.Errorf("no check %q: there are client-go, corpus, hubs, flags, deepcopy, register, defaulter, "+
				"collisions and minors", name)
		}
	}
	return errors.Join(failed...)
}

// prepare finds the folders and builds our generators, and upstream's if something is compared with these.
func prepare(work string, compared bool) (*run, error) {
	here, err := os.Getwd()
	if err != nil {
		return nil, err
	}
	if work == "" {
		cache, err := os.UserCacheDir()
		if err != nil {
			return nil, err
		}
		work = filepath.Join(cache, "kubewright", "parity")
	}
	if work, err = filepath.Abs(work); err != nil {
		return nil, err
	}
	r := &run{
		root: filepath.Dir(filepath.Dir(here)), here: here, work: work,
		ours: filepath.Join(work, "bin", "ours"), upstream: filepath.Join(work, "bin", "upstream"),
	}
	if r.review, err = readReview(filepath.Join(here, "testdata", "messages.tsv")); err != nil {
		return nil, err
	}
	if compared {
		var theirs []string
		for _, tool := range slices.Concat(tools, helperTools) {
			theirs = append(theirs, "k8s.io/code-generator/cmd/"+tool)
		}
		if err := build(here, r.upstream, theirs...); err != nil {
			return nil, err
		}
	}
	if err := build(r.root, r.ours, "./cmd/..."); err != nil {
		return nil, err
	}
	return r, build(here, filepath.Join(work, "bin"), "./apidiff")
}

func build(dir, out string, packages ...string) error {
	if err := os.MkdirAll(out, 0o755); err != nil {
		return err
	}
	cmd := exec.Command("go",
		append([]string{"build", "-ldflags=-s", "-o", out + string(filepath.Separator)}, packages...)...)
	cmd.Dir = dir
	if msg, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("building %s: %w\n%s", strings.Join(packages, " "), err, msg)
	}
	return nil
}

// wanted reports whether a row of the corpus is selected.
func (r *run) wanted(name string) bool {
	return len(r.rows) == 0 || slices.Contains(r.rows, name)
}
