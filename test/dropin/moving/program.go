package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io/fs"
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
	// source is the program's folder, relative to client-go's module if clientGo is set.
	source   string
	clientGo bool
	// edits are pairs: a text that changes, which must be in exactly one file, and its replacement. Without
	// edits, the import paths change.
	edits []string
	// says are the lines that a working program prints, in any order.
	says []string
	// tested means that the program has tests. The long form checks it before it moves, too. Checking the others
	// twice would take twice as long and show little: says describes what they do.
	tested bool
}

var programs = []program{
	{name: "workqueue", source: "examples/workqueue", clientGo: true, says: []string{
		"Pod default/mypod does not exist anymore", "Sync/Add/Update for Pod one",
		"Sync/Add/Update for Pod two",
	}},
	{name: "watcher", source: "testdata/watcher", says: []string{
		"added one, initial true", "added two, initial true", "by node a: one", "default/one of the queue",
		"default/two of the queue",
	}},
	{name: "informers", source: "testdata/informers", says: []string{
		"added pod one", "added pod two", "added config map first", "added config map second",
		"listed 2 pods, got first, 2 in the cache",
	}},
	{name: "manager", source: "testdata/manager", says: []string{
		"reconciled default/first: 1 keys", "reconciled default/second: 2 keys",
	}},
	{name: "kubebuilder", source: "testdata/kubebuilder", edits: []string{
		"\tctrl \"sigs.k8s.io/controller-runtime\"\n",
		"\tctrl \"sigs.k8s.io/controller-runtime\"\n" +
			"\tkwctrl \"github.com/kubewright/kubewright/contrib/controller-runtime\"\n",
		"\t\tScheme:         scheme,\n",
		"\t\tScheme:         scheme,\n\t\tNewCache: kwctrl.NewCaches(kwctrl.Options{}).NewCache,\n",
	}, says: []string{
		"reconciled default/first: 1 keys, 2 pods", "reconciled default/second: 2 keys, 2 pods",
	}},
	{name: "dynamic", source: "testdata/dynamic", edits: []string{
		"\t\"k8s.io/client-go/dynamic/dynamicinformer\"\n",
		"\t\"github.com/kubewright/kubewright/informers/dynamicinformer\"\n" +
			"\t\"github.com/kubewright/kubewright/runtime/listwatch\"\n",
		"\tclient := dynamic.NewForConfigOrDie(config)\n",
		"\tconfig.Wrap(listwatch.Wrap)\n\tclient := dynamic.NewForConfigOrDie(config)\n",
	}, says: []string{"added Pod one on a", "added Pod two on b", "got one"}},
	{name: "samplecontroller", source: "testdata/samplecontroller", tested: true, edits: []string{
		`"k8s.io/client-go/informers"`, `"github.com/kubewright/kubewright/informers"`,
		`"k8s.io/client-go/util/workqueue"`, `"github.com/kubewright/kubewright/runtime/workqueue"`,
		upstreamsGenerators,
		"go tool kubewright generate --go-header-file hack/boilerplate.go.txt --output-dir pkg/generated " +
			"./pkg/apis/...\n",
	}, says: []string{
		"synced default/one: one-web with 1 replicas", "synced default/two: two-web with 2 replicas",
	}},
}

// upstreamsGenerators are the lines of the sample controller's script that one of ours replaces.
const upstreamsGenerators = `go tool client-gen --go-header-file hack/boilerplate.go.txt \
  --clientset-name versioned --input-base "" --input $pkg/apis/samplecontroller/v1alpha1 \
  --output-dir pkg/generated/clientset --output-pkg $pkg/generated/clientset
go tool lister-gen --go-header-file hack/boilerplate.go.txt --output-dir pkg/generated/listers \
  --output-pkg $pkg/generated/listers ./pkg/apis/samplecontroller/v1alpha1
go tool informer-gen --go-header-file hack/boilerplate.go.txt --output-dir pkg/generated/informers \
  --output-pkg $pkg/generated/informers \
  --versioned-clientset-package $pkg/generated/clientset/versioned \
  --listers-package $pkg/generated/listers ./pkg/apis/samplecontroller/v1alpha1
`

// generate is a program's script that generates code.
const generate = "hack/update-codegen.sh"

// maxChanged is how many lines of a program may change.
const maxChanged = 3

// copy copies the program into a folder of its own.
func (p program) copy(m *scratch.Module) error {
	source := p.source
	if p.clientGo {
		clientGo, err := m.Run("go", "list", "-m", "-f", "{{.Dir}}", "k8s.io/client-go")
		if err != nil {
			return err
		}
		source = filepath.Join(strings.TrimSpace(clientGo), source)
	}
	return filepath.WalkDir(source, func(name string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		text, err := os.ReadFile(name)
		if err != nil {
			return err
		}
		relative, err := filepath.Rel(source, name)
		if err != nil {
			return err
		}
		return m.Write(filepath.Join(p.name, relative), string(text))
	})
}

// move changes the import paths of the copy, or makes the program's edits, in all files except tests and
// those that its script generates. It returns the number of lines that were changed or added.
func (p program) move(m *scratch.Module) (changed int, err error) {
	found := make([]int, len(p.edits))
	err = filepath.WalkDir(filepath.Join(m.Dir, p.name), func(name string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if entry.IsDir() && entry.Name() == "generated" {
			return filepath.SkipDir
		}
		if entry.IsDir() || strings.HasSuffix(name, "_test.go") {
			return nil
		}
		text, err := os.ReadFile(name)
		if err != nil {
			return err
		}
		moved := string(text)
		if len(p.edits) == 0 {
			moved = moves.Replace(moved)
		}
		for e := 0; e < len(p.edits); e += 2 {
			found[e] += strings.Count(moved, p.edits[e])
			moved = strings.Replace(moved, p.edits[e], p.edits[e+1], 1)
		}
		changed += newLines(string(text), moved)
		return os.WriteFile(name, []byte(moved), 0o644)
	})
	if err != nil {
		return 0, err
	}
	for e := 0; e < len(p.edits); e += 2 {
		if found[e] != 1 {
			return 0, fmt.Errorf("it has %d times the text %q", found[e], p.edits[e])
		}
	}
	switch {
	case changed == 0:
		return 0, errors.New("it imports nothing that moves")
	case changed > maxChanged:
		return 0, fmt.Errorf("%d lines change", changed)
	}
	return changed, nil
}

// newLines returns how many lines of after aren't in before.
func newLines(before, after string) (n int) {
	count := map[string]int{}
	for line := range strings.Lines(before) {
		count[line]++
	}
	for line := range strings.Lines(after) {
		if count[line]--; count[line] < 0 {
			n++
		}
	}
	return n
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
		return fmt.Errorf("it didn't print %v\n%s", missing, stderr.String())
	}
	return nil
}
