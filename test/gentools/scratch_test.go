//go:build unix

package gentools

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"
)

// module is the path of the scratch module.
const module = "example.com/bench"

// The two flavours of generators, as benchtable knows them.
const (
	ours     = "ours"
	upstream = "upstream"
)

var flavours = []string{ours, upstream}

// scratch is a module to generate into, with the generators of both flavours.
type scratch struct {
	dir, bin string
	// lean makes our clientsets lean.
	lean bool
}

// newScratch is made once; TestMain removes it.
var newScratch = sync.OnceValue(func() *scratch {
	s := &scratch{dir: must(os.MkdirTemp("", "gentools")), bin: must(os.MkdirTemp("", "gentools"))}
	here := must(os.Getwd())
	repository := filepath.Dir(filepath.Dir(here))
	s.must(here, "go", "build", "-o", filepath.Join(s.bin, upstream)+"/", "k8s.io/code-generator/cmd/client-gen", "k8s.io/code-generator/cmd/lister-gen",
		"k8s.io/code-generator/cmd/informer-gen", "k8s.io/code-generator/cmd/applyconfiguration-gen")
	s.must(here, "go", "build", "-o", filepath.Join(s.bin, ours)+"/", "github.com/kubewright/kubewright/cmd/kubewright")

	mod := string(must(os.ReadFile("go.mod")))
	mod = regexp.MustCompile(`(?s)\ntool \(.*?\n\)\n`).ReplaceAllString(mod, "\n")
	mod = regexp.MustCompile(`(?m)^module .*$`).ReplaceAllString(mod, "module "+module)
	s.write("go.mod", strings.Replace(mod, "=> ../..", "=> "+repository, 1))
	s.write("go.sum", string(must(os.ReadFile("go.sum"))))
	s.write("header.txt", "")
	return s
})

func TestMain(m *testing.M) {
	made := false
	once := newScratch
	newScratch = func() *scratch { made = true; return once() }
	status := m.Run()
	if made {
		s := once()
		if err := errors.Join(os.RemoveAll(s.dir), os.RemoveAll(s.bin)); err != nil {
			panic(err)
		}
	}
	os.Exit(status)
}

func must[T any](value T, err error) T {
	if err != nil {
		panic(err)
	}
	return value
}

func (s *scratch) write(name, text string) {
	file := filepath.Join(s.dir, name)
	if err := errors.Join(os.MkdirAll(filepath.Dir(file), 0o755), os.WriteFile(file, []byte(text), 0o644)); err != nil {
		panic(err)
	}
}

// cost is what a command, with the commands that it ran, needed.
type cost struct {
	wall time.Duration
	// peak is the largest of them, in bytes.
	peak int64
}

func (c *cost) add(other cost) {
	c.wall += other.wall
	c.peak = max(c.peak, other.peak)
}

// must runs a command and returns its cost.
func (s *scratch) must(dir, name string, args ...string) cost {
	cmd := exec.Command(name, args...)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "GOWORK=off", "GOFLAGS=-mod=mod")
	start := time.Now()
	out, err := cmd.CombinedOutput()
	c := cost{wall: time.Since(start)}
	if err != nil {
		panic(name + " " + strings.Join(args, " ") + ": " + err.Error() + "\n" + string(out))
	}
	c.peak = cmd.ProcessState.SysUsage().(*syscall.Rusage).Maxrss << 10 // KB, but for macOS
	return c
}

// generate makes everything that there is to make of packages, below a folder of
// the flavour, whose name it returns.
func (s *scratch) generate(flavour, folder string, packages ...string) cost {
	if flavour == ours {
		return s.must(s.dir, filepath.Join(s.bin, ours, "kubewright"), slices.Concat([]string{
			"generate", fmt.Sprintf("--lean=%t", s.lean), "--with-applyconfig", "--plural-exceptions", "Endpoints:Endpoints", "--output-dir", filepath.Join(ours, folder),
		}, packages)...)
	}
	root := module + "/" + upstream + "/" + folder
	var c cost
	run := func(tool, output string, args ...[]string) {
		where := []string{"--go-header-file", "header.txt", "--output-dir", filepath.Join(upstream, folder, output), "--output-pkg", root + "/" + output}
		c.add(s.must(s.dir, filepath.Join(s.bin, upstream, tool), slices.Concat(where, slices.Concat(args...))...))
	}
	plurals := []string{"--plural-exceptions", "Endpoints:Endpoints"}
	run("applyconfiguration-gen", "applyconfiguration", packages)
	run("client-gen", "clientset", plurals, []string{"--clientset-name", "versioned", "--input-base", "",
		"--input", strings.Join(packages, ","), "--apply-configuration-package", root + "/applyconfiguration"})
	run("lister-gen", "listers", plurals, packages)
	run("informer-gen", "informers", plurals, packages,
		[]string{"--versioned-clientset-package", root + "/clientset/versioned", "--listers-package", root + "/listers"})
	return c
}

// remove removes what a flavour has generated below a folder.
func (s *scratch) remove(b *testing.B, flavour, folder string) {
	if err := os.RemoveAll(filepath.Join(s.dir, flavour, folder)); err != nil {
		b.Fatal(err)
	}
}

// files calls visit for each Go file below a folder of a flavour.
func (s *scratch) files(b *testing.B, flavour, folder string, visit func(path string, info fs.FileInfo)) {
	err := filepath.WalkDir(filepath.Join(s.dir, flavour, folder), func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || filepath.Ext(path) != ".go" {
			return err
		}
		visit(path, must(d.Info()))
		return nil
	})
	if err != nil {
		b.Fatal(err)
	}
}
