// Command moving moves programs from client-go and controller-runtime to kubewright: it copies them into a
// folder of their own, outside of this repository, changes the import paths of informers, tools/cache and
// util/workqueue, or one or two lines besides, compiles them, and runs them against a small API server.
//
//	cd test/moving && go run .
//
// The programs are client-go's own example of a work queue, from the module cache, and those in testdata.
package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"github.com/kubewright/kubewright/internal/scratch"
)

// moves are the import paths that change.
var moves = strings.NewReplacer(
	`"k8s.io/client-go/informers"`, `"github.com/kubewright/kubewright/informers"`,
	`"k8s.io/client-go/tools/cache"`, `"github.com/kubewright/kubewright/runtime/cache"`,
	`"k8s.io/client-go/util/workqueue"`, `"github.com/kubewright/kubewright/runtime/workqueue"`,
)

// program is a program to move.
type program struct {
	name string
	// source is the program's file, relative to client-go's module if it is marked as upstream's.
	source   string
	clientGo bool
	// edits are the lines that change, each with what takes its place. Without any, the import paths change.
	edits []string
	// says are the lines that a working program prints, in any order.
	says []string
}

var programs = []program{
	{name: "workqueue", source: "examples/workqueue/main.go", clientGo: true, says: []string{
		"Pod default/mypod does not exist anymore", "Sync/Add/Update for Pod one",
		"Sync/Add/Update for Pod two",
	}},
	{name: "watcher", source: "testdata/watcher/main.go", says: []string{
		"added one, initial true", "added two, initial true", "by node a: one", "default/one of the queue",
		"default/two of the queue",
	}},
	{name: "informers", source: "testdata/informers/main.go", says: []string{
		"added pod one", "added pod two", "added config map first", "added config map second",
		"listed 2 pods, got first, 2 in the cache",
	}},
	{name: "manager", source: "testdata/manager/main.go", says: []string{
		"reconciled default/first: 1 keys", "reconciled default/second: 2 keys",
	}},
	{name: "kubebuilder", source: "testdata/kubebuilder/main.go", edits: []string{
		"\tctrl \"sigs.k8s.io/controller-runtime\"\n",
		"\tctrl \"sigs.k8s.io/controller-runtime\"\n" +
			"\tkwctrl \"github.com/kubewright/kubewright/contrib/controller-runtime\"\n",
		"\t\tScheme:         scheme,\n",
		"\t\tScheme:         scheme,\n\t\tNewCache: kwctrl.New(kwctrl.Options{}).NewCache,\n",
	}, says: []string{
		"reconciled default/first: 1 keys, 2 pods", "reconciled default/second: 2 keys, 2 pods",
	}},
	{name: "dynamic", source: "testdata/dynamic/main.go", edits: []string{
		"\t\"k8s.io/client-go/dynamic/dynamicinformer\"\n",
		"\tdynamicinformer \"github.com/kubewright/kubewright/informers\"\n" +
			"\t\"github.com/kubewright/kubewright/runtime/listwatch\"\n",
		"\tclient := dynamic.NewForConfigOrDie(config)\n",
		"\tconfig.Wrap(listwatch.Wrap)\n\tclient := dynamic.NewForConfigOrDie(config)\n",
	}, says: []string{"added Pod one on a", "added Pod two on b", "got one"}},
}

func main() {
	if err := run(context.Background(), os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "moving:", err)
		os.Exit(1)
	}
}

// run moves all programs and reports to out.
func run(ctx context.Context, out interface{ WriteString(string) (int, error) }) (err error) {
	say := func(format string, args ...any) { out.WriteString(fmt.Sprintf(format, args...) + "\n") }
	dir, err := os.MkdirTemp("", "moving")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	m, err := scratch.New(dir, "example.com/moving", ".")
	if err != nil {
		return err
	}
	kubeconfig := filepath.Join(dir, "kubeconfig")
	stop, err := serve(kubeconfig)
	if err != nil {
		return err
	}
	defer stop()
	for _, p := range programs {
		changed, err := p.move(m)
		if err != nil {
			return fmt.Errorf("%s: %w", p.name, err)
		}
		say("%s: %d lines changed", p.name, changed)
		if _, err := m.Run("go", "vet", "./"+p.name); err != nil {
			return err
		}
		if _, err := m.Run("go", "build", "-o", filepath.Join(dir, "bin", p.name), "./"+p.name); err != nil {
			return err
		}
		start := time.Now()
		if err := p.run(ctx, filepath.Join(dir, "bin", p.name), kubeconfig); err != nil {
			return fmt.Errorf("%s: %w", p.name, err)
		}
		say("%s: compiles, and says what it should after %v", p.name,
			time.Since(start).Round(time.Millisecond))
	}
	return nil
}

// maxChanged is how many lines of a program may change.
const maxChanged = 3

// move copies the program into a folder of its own and changes its import paths, or the lines that it says.
func (p program) move(m *scratch.Module) (changed int, err error) {
	source := p.source
	if p.clientGo {
		clientGo, err := m.Run("go", "list", "-m", "-f", "{{.Dir}}", "k8s.io/client-go")
		if err != nil {
			return 0, err
		}
		source = filepath.Join(strings.TrimSpace(clientGo), source)
	}
	text, err := os.ReadFile(source)
	if err != nil {
		return 0, err
	}
	moved := string(text)
	if len(p.edits) == 0 {
		moved = moves.Replace(moved)
	}
	for e := 0; e < len(p.edits); e += 2 {
		if strings.Count(moved, p.edits[e]) != 1 {
			return 0, fmt.Errorf("it doesn't have the line %q once", p.edits[e])
		}
		moved = strings.Replace(moved, p.edits[e], p.edits[e+1], 1)
	}
	before := map[string]int{}
	for line := range strings.Lines(string(text)) {
		before[line]++
	}
	for line := range strings.Lines(moved) {
		if before[line]--; before[line] < 0 {
			changed++
		}
	}
	switch {
	case changed == 0:
		return 0, errors.New("it imports nothing that moves")
	case changed > maxChanged:
		return 0, fmt.Errorf("%d lines change", changed)
	}
	return changed, m.Write(filepath.Join(p.name, "main.go"), moved)
}

// patience is the time that a program has to print its lines.
const patience = time.Minute

// run runs the program until it has printed all expected lines.
func (p program) run(ctx context.Context, binary, kubeconfig string) error {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	cmd := exec.CommandContext(ctx, binary, "-kubeconfig", kubeconfig)
	output, err := cmd.StdoutPipe()
	if err != nil {
		return err
	}
	var stderr strings.Builder
	cmd.Stderr = &stderr
	if err := cmd.Start(); err != nil {
		return err
	}
	missing := map[string]bool{}
	for _, line := range p.says {
		missing[line] = true
	}
	for lines := bufio.NewScanner(output); len(missing) > 0 && lines.Scan(); {
		delete(missing, lines.Text())
	}
	cancel()
	_ = cmd.Wait() // it was killed
	if len(missing) > 0 {
		return fmt.Errorf("it didn't say %v\n%s", missing, stderr.String())
	}
	return nil
}
