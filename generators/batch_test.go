package generators_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/kubewright/kubewright/internal/scratch"
)

// results are those of all batches.
type results struct {
	*testing.T
	mu       sync.Mutex
	accepted int
	refusals map[string]int
}

// batch is a module with many APIs, each in a folder of its own.
type batch struct {
	*results
	module *scratch.Module
	bin    string
	// accepted are the APIs that code was generated for, by their seeds.
	accepted map[uint64]api
}

// newBatch makes a module without APIs in the folder dir. Its path lets it import package apilaws.
func newBatch(r *results, dir string) *batch {
	m, err := scratch.New(dir, checkedModule, "..")
	if err != nil {
		r.Fatal(err)
	}
	return &batch{results: r, module: m, bin: buildCommands(r.T), accepted: map[uint64]api{}}
}

func (b *batch) folder(seed uint64) string { return fmt.Sprintf("a%d", seed) }

// generate generates code for n APIs, and type-checks it.
func (b *batch) generate(first uint64, n int) {
	var workers sync.WaitGroup
	next := make(chan uint64)
	for range 2 {
		checker := newTypeChecker(b.T)
		workers.Go(func() {
			for seed := range next {
				b.generateOne(seed, checker)
			}
		})
	}
	for i := range uint64(n) {
		next <- first + i
	}
	close(next)
	workers.Wait()
}

func (b *batch) generateOne(seed uint64, checker *typeChecker) {
	api, name := randomAPI(seed), b.folder(seed)
	dir := filepath.Join(b.module.Dir, name)
	api.write(b.T, dir)
	if *names == 1 {
		b.Log(api)
	}
	out, err := api.generate(b.bin, dir)
	if err == nil {
		err = checker.check(checkedModule+"/"+name, dir)
		out = ""
	} else if message, ok := refusal(out); ok {
		b.mu.Lock()
		b.refusals[message]++
		b.mu.Unlock()
		return
	}
	if err != nil {
		b.Errorf("-names-seed %d -names 1: %v\n%s", seed, err, out)
		return
	}
	b.mu.Lock()
	b.accepted[seed] = api
	b.results.accepted++
	b.mu.Unlock()
}

var (
	varying = regexp.MustCompile(
		`"[^"]*"|\(?\S+/random/\S+|\S+\.go;|(Go name|type|types|and|method|of|package) [A-Z]\w+`)
	// placed matches an error that says where the mistake is: in a Go file, or in a flag.
	placed = regexp.MustCompile(`^\S+\.go:\d+:\d+: |^kubewright: --`)
)

// refusal returns the first error of a run, without the parts that differ between APIs, and whether all
// errors say where the mistake is.
func refusal(out string) (first string, ok bool) {
	for line := range strings.Lines(out) {
		if strings.HasPrefix(line, "warning: ") || strings.Contains(line, ": warning: ") {
			continue
		}
		if !placed.MatchString(line) {
			return "", false
		}
		if _, message, _ := strings.Cut(strings.TrimSpace(line), ": "); first == "" {
			first = varying.ReplaceAllString(message, "$1 ...")
		}
	}
	return first, first != ""
}

// run builds and runs a program that checks the laws for all APIs that were accepted, and removes the batch.
func (b *batch) run() {
	program := "package main\n\nimport \"github.com/kubewright/kubewright/internal/apilaws\"\n\n" +
		"var apis []apilaws.API\n\nfunc main() { apilaws.Main(apis) }\n"
	err := b.module.Write("main.go", program)
	for seed, api := range b.accepted {
		err = errors.Join(err, b.module.Write(b.folder(seed)+".go", b.lawsOf(seed, api)))
	}
	if err != nil {
		b.Fatal(err)
	}
	for _, command := range [][]string{
		{"go", "build", "-ldflags=-s -w", "-o", "program", "."}, {"./program"},
	} {
		cmd := b.module.Command(command[0], command[1:]...)
		cmd.Env = append(cmd.Env, "GOPROXY=off")
		out, err := cmd.CombinedOutput()
		if err != nil {
			b.Errorf("%v: %v\n%s", command, err, out)
			break
		}
		if len(out) > 0 {
			b.Logf("%s", out)
		}
	}
	if err := os.RemoveAll(b.module.Dir); err != nil {
		b.Error(err)
	}
}

// lawsOf returns a file of the program, which adds what was generated for an API.
func (b *batch) lawsOf(seed uint64, a api) string {
	dir := filepath.Join(b.module.Dir, b.folder(seed))
	imports := "import (\n\t\"k8s.io/apimachinery/pkg/runtime\"\n\n\t" +
		"\"github.com/kubewright/kubewright/internal/apilaws\"\n"
	add := func(alias, folder string) {
		rel, err := filepath.Rel(b.module.Dir, folder)
		if err != nil {
			b.Fatal(err)
		}
		imports += fmt.Sprintf("\t%s %q\n", alias, checkedModule+"/"+filepath.ToSlash(rel))
	}
	fields := fmt.Sprintf("\t\tName: \"-names-seed %d\",\n\t\tTypes: []any{", seed)
	for i, p := range a.packages {
		types := p.copied()
		if len(types) > 0 {
			add(fmt.Sprint("api", i), filepath.Join(dir, "apis", p.folder, p.version))
		}
		for _, name := range types {
			fields += fmt.Sprintf("new(api%d.%s), ", i, name)
		}
	}
	fields += "},\n"
	constructors := map[string]string{"Simple": "NewSimpleClientset", "Managed": "NewClientset"}
	if slices.ContainsFunc(a.packages, apiPackage.isUnmanageable) {
		delete(constructors, "Managed")
	}
	for _, file := range b.glob(dir, "clientset/*/fake/clientset_generated.go") {
		add("fake", filepath.Dir(file))
		for field, constructor := range constructors {
			if len(b.functions(file, constructor)) > 0 {
				fields += fmt.Sprintf("\t\t%s: func(objects ...runtime.Object) any {"+
					" return fake.%s(objects...) },\n", field, constructor)
			}
		}
	}
	fields += "\t\tFunctions: []any{"
	last := ""
	n := 0
	for _, file := range b.glob(dir, "applyconfiguration/*/*/*.go") {
		functions := b.functions(file, `Extract\w+`)
		if folder := filepath.Dir(file); len(functions) > 0 && folder != last {
			n, last = n+1, folder
			add(fmt.Sprint("config", n), folder)
		}
		for _, name := range functions {
			fields += fmt.Sprintf("config%d.%s, ", n, name)
		}
	}
	return "package main\n\n" + imports + ")\n\nvar _ runtime.Object\n\nfunc init() {\n\tapis = append(" +
		"apis, apilaws.API{\n" + fields + "},\n\t})\n}\n"
}

// glob returns files in the folder of generated clients.
func (b *batch) glob(dir, pattern string) []string {
	files, err := filepath.Glob(filepath.Join(dir, "pkg/client", filepath.FromSlash(pattern)))
	if err != nil {
		b.Fatal(err)
	}
	return files
}

// functions returns the functions of a file whose names match a regular expression, the shortest first.
func (b *batch) functions(file, name string) (found []string) {
	text, err := os.ReadFile(file)
	if err != nil {
		b.Fatal(err)
	}
	for _, m := range regexp.MustCompile(`(?m)^func (`+name+`)\(`).FindAllSubmatch(text, -1) {
		found = append(found, string(m[1]))
	}
	slices.Sort(found)
	return found
}

// isUnmanageable reports whether client-go's field management fails: it panics at a pointer to a pointer,
// which types with defaults may have, and its mapper leaves out kinds that are called Status.
func (p apiPackage) isUnmanageable() bool {
	return p.defaults || slices.ContainsFunc(p.kinds, func(k apiKind) bool { return k.name == "Status" })
}

// copied are the types of a package that have generated deep copies.
func (p apiPackage) copied() (names []string) {
	if !p.helpers {
		return nil
	}
	for _, k := range p.kinds {
		names = append(names, k.name, k.name+"List")
	}
	for _, part := range p.parts.all {
		if part.copied {
			names = append(names, part.name)
		}
	}
	return names
}
