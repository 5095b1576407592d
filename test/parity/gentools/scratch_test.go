//go:build unix

package gentools

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/kubewright/kubewright/internal/scratch"
)

// module is the path of the scratch module.
const module = "example.com/bench"

// The two flavours of generators, by the names that test/bench expects.
const (
	ours     = "ours"
	upstream = "upstream"
)

var flavours = []string{ours, upstream}

// sandbox is a module to generate into, with the generators of both flavours.
//
// It is on the disk, as in users' repositories, and almost no files are deleted before the last measurement.
// Ext4 without a journal doesn't reuse an inode for a minute after its file was deleted, or for six minutes
// if it isn't synced, and steps over each such inode for each new file: after tens of thousands that takes
// longer than to generate. So make bench, which runs these benchmarks several times, each in a new process,
// removes all sandboxes at its end. That slows a make bench that starts within these minutes.
type sandbox struct {
	*scratch.Module
	// lean makes our clientsets lean.
	lean bool
	// folders counts the folders that fresh has returned.
	folders int
}

// parent is the folder for sandboxes that make bench removes, "" if TestMain removes them.
var parent = os.Getenv("BENCH_SCRATCH")

// newSandbox makes one sandbox for all benchmarks.
var newSandbox = sync.OnceValue(func() *sandbox {
	s := &sandbox{Module: must(scratch.New(must(os.MkdirTemp(parent, "gentools")), module, ".."))}
	s.must("go", "build", "-o", s.bin(upstream)+"/", "k8s.io/code-generator/cmd/client-gen",
		"k8s.io/code-generator/cmd/lister-gen", "k8s.io/code-generator/cmd/informer-gen",
		"k8s.io/code-generator/cmd/applyconfiguration-gen", "k8s.io/code-generator/cmd/deepcopy-gen",
		"k8s.io/code-generator/cmd/register-gen")
	s.must("go", "build", "-o", s.bin(ours)+"/", "github.com/kubewright/kubewright/cmd/kubewright",
		"github.com/kubewright/kubewright/cmd/deepcopy-gen")
	s.write("header.txt", "")
	return s
})

func TestMain(m *testing.M) {
	made := false
	once := newSandbox
	newSandbox = func() *sandbox { made = true; return once() }
	status := m.Run()
	if made && parent == "" {
		if err := os.RemoveAll(once().Dir); err != nil {
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

func (s *sandbox) write(name, text string) {
	if err := s.Write(name, text); err != nil {
		panic(err)
	}
}

// bin returns the path of a built command, or of a flavour's folder of commands.
func (s *sandbox) bin(name ...string) string {
	return filepath.Join(s.Dir, "bin", filepath.Join(name...))
}

// cost is what a command and its subcommands used.
type cost struct {
	wall time.Duration
	// peak is the largest resident set of any of them, in bytes.
	peak int64
}

func (c *cost) add(other cost) {
	c.wall += other.wall
	c.peak = max(c.peak, other.peak)
}

// must runs a command and returns its cost.
func (s *sandbox) must(name string, args ...string) cost { return s.mustIn(s.Dir, name, args...) }

// mustIn is must in another folder.
func (s *sandbox) mustIn(dir, name string, args ...string) cost {
	cmd := s.Command(name, args...)
	cmd.Dir, cmd.Env = dir, append(cmd.Env, "PWD="+dir)
	start := time.Now()
	out, err := cmd.CombinedOutput()
	c := cost{wall: time.Since(start)}
	if err != nil {
		panic(name + " " + strings.Join(args, " ") + ": " + err.Error() + "\n" + string(out))
	}
	c.peak = cmd.ProcessState.SysUsage().(*syscall.Rusage).Maxrss << 10 // in KB, but not on macOS
	return c
}

// generate generates everything for the packages, into a folder of the flavour, and returns the cost.
func (s *sandbox) generate(flavour, folder string, packages ...string) cost {
	if flavour == ours {
		return s.must(s.bin(ours, "kubewright"), slices.Concat([]string{
			"generate", fmt.Sprintf("--lean=%t", s.lean), fmt.Sprintf("--with-applyconfig=%t", !s.lean),
			"--plural-exceptions", "Endpoints:Endpoints", "--output-dir", filepath.Join(ours, folder),
		}, packages)...)
	}
	return s.upstreamIn(s.Dir, filepath.Join(upstream, folder), module+"/"+upstream+"/"+folder, packages...)
}

// upstreamIn runs upstream's four generators in dir. They write to folder, whose import path is root.
func (s *sandbox) upstreamIn(dir, folder, root string, packages ...string) cost {
	var c cost
	run := func(tool, output string, args ...[]string) {
		where := []string{"--go-header-file", filepath.Join(s.Dir, "header.txt"),
			"--output-dir", filepath.Join(folder, output), "--output-pkg", root + "/" + output}
		c.add(s.mustIn(dir, s.bin(upstream, tool), slices.Concat(where, slices.Concat(args...))...))
	}
	plurals := []string{"--plural-exceptions", "Endpoints:Endpoints"}
	run("applyconfiguration-gen", "applyconfiguration", packages)
	run("client-gen", "clientset", plurals, []string{"--clientset-name", "versioned", "--input-base", "",
		"--input", strings.Join(packages, ","),
		"--apply-configuration-package", root + "/applyconfiguration"})
	run("lister-gen", "listers", plurals, packages)
	run("informer-gen", "informers", plurals, packages,
		[]string{"--versioned-clientset-package", root + "/clientset/versioned",
			"--listers-package", root + "/listers"})
	return c
}

// fresh returns the name of a folder that no run has written to; see sandbox. It first syncs what was written
// before, so that the run doesn't wait for that, either.
func (s *sandbox) fresh(folder string) string {
	syscall.Sync()
	s.folders++
	return fmt.Sprintf("%s-%d", folder, s.folders)
}

// files calls visit for each Go file below a folder of a flavour.
func (s *sandbox) files(b *testing.B, flavour, folder string, visit func(path string, info fs.FileInfo)) {
	err := filepath.WalkDir(filepath.Join(s.Dir, flavour, folder),
		func(path string, d fs.DirEntry, err error) error {
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
