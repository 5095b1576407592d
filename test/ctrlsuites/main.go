// Command ctrlsuites runs controller-runtime's own tests on kubewright: those of the folders that make caches
// and queues, against a kube-apiserver. They run in a copy of controller-runtime's module: once unchanged,
// once with the caches of kwctrl.NewCaches(...).NewCache in place of cache.New, and, where controllers make
// queues, once more with the queues of kwctrl.NewQueue, too.
//
//	cd test/ctrlsuites && go run . [-folders cache,manager] [-race] [-baseline=false]
//
// With KUBE_FEATURE_WatchListClient=false in the environment, the caches list before they watch.
//
// A test that passes without kubewright and fails with it must be among the excuses in suites.go.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/kubewright/kubewright/test/e2e/kubeserver"
)

func main() {
	folders := flag.String("folders", "", "run only these, such as cache,internal/controller")
	race := flag.Bool("race", false, "run with the race detector")
	baseline := flag.Bool("baseline", true, "run without kubewright, too; without this, every test must pass")
	flag.Parse()
	chosen, err := choose(*folders)
	if err == nil {
		err = run(context.Background(), os.Stdout, chosen, *race, *baseline)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "ctrlsuites:", err)
		os.Exit(1)
	}
}

// choose returns the suites in folders, or all if folders is empty.
func choose(folders string) ([]suite, error) {
	if folders == "" {
		return suites, nil
	}
	var chosen []suite
	for folder := range strings.SplitSeq(folders, ",") {
		i := slices.IndexFunc(suites, func(s suite) bool { return s.folder == "pkg/"+folder })
		if i < 0 {
			return nil, fmt.Errorf("there is no suite %s", folder)
		}
		chosen = append(chosen, suites[i])
	}
	return chosen, nil
}

// run runs suites and reports to out.
func run(ctx context.Context, out io.Writer, chosen []suite, race, baseline bool) error {
	binaries, err := kubeserver.Build(ctx, os.Stderr)
	if err != nil {
		return err
	}
	module, err := newCopy()
	if err != nil {
		return err
	}
	r := &runner{copy: module, assets: filepath.Dir(binaries.APIServer), race: race, baseline: baseline}
	var failed []error
	for _, s := range chosen {
		if err := r.compare(out, s); err != nil {
			failed = append(failed, err)
			fmt.Fprintf(out, "  %v\n", err)
		}
	}
	return errors.Join(failed...)
}

// compare runs a suite in each variant, and reports to out.
func (r *runner) compare(out io.Writer, s suite) error {
	start := time.Now()
	if err := r.build(s); err != nil {
		return err
	}
	fmt.Fprintf(out, "%s: built in %v\n", s.folder, time.Since(start).Round(time.Second))
	var before results
	if r.baseline {
		var err error
		if before, _, err = r.timed(out, s, without); err != nil {
			return err
		}
	}
	var failed []error
	for _, variant := range s.variants() {
		after, made, err := r.timed(out, s, variant)
		if err != nil {
			return err
		}
		fmt.Fprintf(out, "    %d informers, %d queues; %d lists and watches streamed, %d not, %d of these unseen\n",
			made.Informers, made.Queues, made.Streamed, made.Whole, made.Unseen)
		for _, why := range slices.Sorted(maps.Keys(made.Why)) {
			fmt.Fprintf(out, "    not streamed: %d times %s\n", made.Why[why], why)
		}
		if s.informers && made.Streamed == 0 || variant == andQueues && made.Queues == 0 {
			failed = append(failed, fmt.Errorf("%s, %s: kubewright wasn't used", s.folder, variant))
		}
		if !r.baseline {
			before = expected(after)
		}
		excuses := s.excuses()
		c := compare(before, after, excuses)
		for _, name := range c.both {
			fmt.Fprintf(out, "    fails without kubewright, too: %s\n", name)
		}
		for _, name := range c.excused {
			fmt.Fprintf(out, "    excused: %s: %s\n", name, excuses[name])
		}
		for _, name := range c.failing {
			fmt.Fprintf(out, "    FAILS: %s\n%s\n", name, after[name].failure)
		}
		if n := len(c.failing); n > 0 {
			failed = append(failed, fmt.Errorf("%s, %s: %d tests fail", s.folder, variant, n))
		}
		for _, name := range c.superfluous {
			failed = append(failed, fmt.Errorf("%s, %s: excused, but it passes or doesn't exist: %s",
				s.folder, variant, name))
		}
	}
	return errors.Join(failed...)
}

// timed runs a suite in a variant and reports the counts to out.
func (r *runner) timed(out io.Writer, s suite, variant string) (results, use, error) {
	start := time.Now()
	found, made, err := r.run(s, variant)
	if err != nil {
		return nil, made, err
	}
	passed, all := found.passed()
	name := "without kubewright"
	if variant != without {
		name = "with " + variant
	}
	fmt.Fprintf(out, "  %s: %d of %d passed in %v\n", name, passed, all, time.Since(start).Round(time.Second))
	for _, test := range slices.Sorted(maps.Keys(found)) {
		if found[test].again {
			fmt.Fprintf(out, "    passed only when it was run again: %s\n%s\n", test, found[test].failure)
		}
	}
	return found, made, nil
}
