package main

import (
	"fmt"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"strings"

	"github.com/kubewright/kubewright/internal/scratch"
)

// suite is a folder of controller-runtime with tests.
type suite struct {
	folder string
	// informers and queues are set if the tests start any.
	informers, queues bool
}

var suites = []suite{
	{folder: "pkg/cache", informers: true},
	{folder: "pkg/client", informers: true},
	{folder: "pkg/source", informers: true},
	{folder: "pkg/cluster"},
	{folder: "pkg/manager"},
	{folder: "pkg/manager/internal/integration", informers: true, queues: true},
	{folder: "pkg/builder", informers: true, queues: true},
	{folder: "pkg/controller", informers: true, queues: true},
	{folder: "pkg/internal/controller", informers: true, queues: true},
}

// The variants: what is replaced by kubewright's.
const (
	without   = ""
	caches    = "caches"
	andQueues = "caches,queues"
)

// variants returns the variants to run the suite in.
func (s suite) variants() []string {
	if s.queues {
		return []string{caches, andQueues}
	}
	return []string{caches}
}

// excuses are the tests that fail on kubewright but not without it, with the reason why that is acceptable.
var excuses = []struct{ folder, test, reason string }{}

func (s suite) excuses() map[string]string {
	reasons := map[string]string{}
	for _, e := range excuses {
		if e.folder == s.folder {
			reasons[e.test] = e.reason
		}
	}
	return reasons
}

// runner runs suites in the copy of controller-runtime.
type runner struct {
	copy *scratch.Module
	// assets is the folder with kube-apiserver and etcd.
	assets   string
	race     bool
	baseline bool
}

func (r *runner) binary(s suite) string {
	return filepath.Join(r.copy.Dir, "bin", path.Base(path.Dir(s.folder))+"-"+path.Base(s.folder)+".test")
}

// build compiles the tests of a suite.
func (r *runner) build(s suite) error {
	args := []string{"test", "-c", "-o", r.binary(s)}
	if r.race {
		args = append(args, "-race")
	}
	_, err := r.copy.Run("go", append(args, "./"+s.folder)...)
	return err
}

// run runs a suite, and up to two times again if a test failed: upstream's tests wait for at most a second in
// many places, which a busy machine exceeds. Ginkgo's own retries don't help, because a process can use the
// name of a controller only once.
func (r *runner) run(s suite, variant string) (results, use, error) {
	found, made, err := r.once(s, variant)
	for runs := 1; err == nil && runs < 3 && found.failed(); runs++ {
		var again results
		if again, made, err = r.once(s, variant); err == nil {
			found.mend(again)
		}
	}
	return found, made, err
}

// once runs a suite once.
func (r *runner) once(s suite, variant string) (results, use, error) {
	name := strings.NewReplacer("/", "-", ",", "-").Replace(s.folder + "-" + variant)
	log := filepath.Join(r.copy.Dir, "logs", name)
	if err := os.MkdirAll(filepath.Dir(log), 0o755); err != nil {
		return nil, use{}, err
	}
	output, err := os.Create(log + ".txt")
	if err != nil {
		return nil, use{}, err
	}
	defer output.Close()
	cmd := r.copy.Command(r.binary(s), "-test.v", "-test.timeout=30m", "-ginkgo.seed=1", "-ginkgo.no-color",
		"-ginkgo.json-report="+log+".json")
	cmd.Dir = filepath.Join(r.copy.Dir, filepath.FromSlash(s.folder))
	cmd.Env = append(cmd.Env, "KUBEBUILDER_ASSETS="+r.assets, "KUBEWRIGHT="+variant,
		"KUBEWRIGHT_USE="+log+".use.json")
	cmd.Stdout, cmd.Stderr = output, output
	ended := cmd.Run() // an error if a test failed
	found, err := readResults(cmd.Dir, log)
	if err != nil {
		return nil, use{}, fmt.Errorf("%s: %v: %w; see %s.txt", s.folder, ended, err, log)
	}
	made, err := readUse(log + ".use.json")
	return found, made, err
}

// runsSpecs matches a test function that runs Ginkgo's specs, which are counted one by one.
var runsSpecs = regexp.MustCompile(`(?s)\nfunc (Test\w+)\(t \*testing\.T\) \{[^}]*RunSpecs`)
