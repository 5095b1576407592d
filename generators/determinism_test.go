package generators_test

import (
	"crypto/sha256"
	"flag"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"testing"
)

var orders = flag.Int("orders", 6, "how many orders of arguments TestSameBytes tries")

// TestSameBytes runs kubewright with the same packages and flags in random orders, on one to eight
// processors, and sometimes over the output of the last run.
func TestSameBytes(t *testing.T) {
	t.Parallel()
	bin := buildCommands(t)
	dir := t.TempDir()
	packages := []string{
		"../examples/apis/shop/v1", "../examples/apis/shop/v1beta1", "../examples/apis/gift-cards.promo/v1",
		"k8s.io/api/autoscaling/v1", "k8s.io/api/autoscaling/v2", "k8s.io/api/batch/v1",
		"k8s.io/api/coordination/v1", "k8s.io/api/policy/v1", "k8s.io/api/scheduling/v1",
		"k8s.io/api/events/...",
	}
	flags := []string{
		"--output-dir=" + dir + "/out", "--output-pkg=example.com/out", "--with-applyconfig",
		"--prefers-protobuf", "--plural-exceptions=Market:Marketplaces", "--plural-exceptions=Person:Persons",
		"--clientset-name=clients",
		"--applyconfig-externals=k8s.io/api/core/v1.PodTemplateSpec:" +
			"k8s.io/client-go/applyconfigurations/core/v1",
		"--applyconfig-externals=k8s.io/api/core/v1.ObjectReference:" +
			"k8s.io/client-go/applyconfigurations/core/v1",
	}
	var want map[string][sha256.Size]byte
	for run := range *orders {
		args := slices.Concat(flags, packages)
		if run > 0 {
			rand.Shuffle(len(args), func(i, j int) { args[i], args[j] = args[j], args[i] })
		}
		if run%5 != 0 {
			if err := os.RemoveAll(filepath.Join(dir, "out")); err != nil {
				t.Fatal(err)
			}
		}
		cmd := exec.Command(filepath.Join(bin, "kubewright"), slices.Concat([]string{"generate"}, args)...)
		cmd.Env = append(os.Environ(), fmt.Sprintf("GOMAXPROCS=%d", 1+run%8))
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("%v: %s", err, out)
		}
		got := snapshot(t, dir)
		if want == nil {
			want = got
		}
		if len(got) < 100 || !maps.Equal(got, want) {
			t.Fatalf("run %d, %s with %v: %d files, not the %d of before", run, cmd.Env[len(cmd.Env)-1], args,
				len(got), len(want))
		}
	}
}
