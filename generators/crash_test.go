package generators_test

import (
	"context"
	"flag"
	"maps"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

var kills = flag.Int("kills", 4, "how often TestKill kills kubewright")

// TestKill kills kubewright at random points while it replaces all files. Each file must then be either old
// or new, and the next run must complete the job. To kill it more often:
//
//	go test ./generators -run TestKill -kills 200
func TestKill(t *testing.T) {
	bin := buildCommands(t)
	dir := t.TempDir()
	out := filepath.Join(dir, "out")
	run := func(ctx context.Context, header string) error {
		file := filepath.Join(dir, header)
		if err := os.WriteFile(file, []byte("// "+header+"\n"), 0o644); err != nil {
			t.Fatal(err)
		}
		return exec.CommandContext(ctx, filepath.Join(bin, "kubewright"), "generate", "--output-dir", out,
			"--output-pkg", "example.com/out", "--with-applyconfig", "--go-header-file", file,
			"k8s.io/api/batch/...", "k8s.io/api/apps/...", "k8s.io/api/autoscaling/...").Run()
	}
	headers := [2]string{"one", "another"}
	var states [2]map[string]string
	var took time.Duration
	for i, header := range headers {
		start := time.Now()
		if err := run(t.Context(), header); err != nil {
			t.Fatal(err)
		}
		took = time.Since(start)
		states[i] = contents(t, out)
	}
	killed, between := 0, 0
	for i := range *kills {
		// Most of a run comes before it writes the first file.
		ctx, cancel := context.WithTimeout(t.Context(), time.Duration(rand.Float64()*1.1*float64(took)))
		start := time.Now()
		err := run(ctx, headers[i%2])
		if err == nil {
			took = time.Since(start)
		} else {
			killed++
		}
		cancel()
		now := contents(t, out)
		if old, changed := compare(t, now, states[1-i%2], states[i%2]); old > 0 && changed > 0 {
			between++
		}
		if err := run(t.Context(), headers[i%2]); err != nil {
			t.Fatalf("the run after the one that was killed: %v", err)
		}
		if now := contents(t, out); !maps.Equal(now, states[i%2]) {
			t.Fatalf("after run %d was killed the next one left %d files of %d as they should be", i,
				len(now), len(states[i%2]))
		}
	}
	t.Logf("%d of %d runs were killed, %d of them while they replaced files", killed, *kills, between)
	if killed == 0 {
		t.Error("no run was killed")
	}
}

// contents returns the text of all files below dir.
func contents(t *testing.T, dir string) map[string]string {
	files := map[string]string{}
	for path := range snapshot(t, dir) {
		if strings.HasSuffix(path, "/") {
			continue
		}
		text, err := os.ReadFile(filepath.Join(dir, path))
		if err != nil {
			t.Fatal(err)
		}
		files[path] = string(text)
	}
	return files
}

// compare counts the files that equal those in old and those in changed.
func compare(t *testing.T, now, old, changed map[string]string) (olds, news int) {
	for path, text := range now {
		switch {
		case strings.HasPrefix(filepath.Base(path), "."): // temporary
		case text == old[path]:
			olds++
		case text == changed[path]:
			news++
		default:
			t.Errorf("%s is neither old nor new:\n%s", path, text)
		}
	}
	if olds+news != len(old) {
		t.Errorf("%d files are old and %d new: of %d", olds, news, len(old))
	}
	return olds, news
}
