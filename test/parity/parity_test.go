package main

import (
	"os"
	"path/filepath"
	"slices"
	"sync"
	"testing"

	modules "github.com/kubewright/kubewright/internal/scratch"
)

// scratchDir is the tests' own, apart from the folder of whole runs.
var scratchDir string

func TestMain(m *testing.M) {
	dir, release, err := modules.Fixed("parity")
	if err != nil {
		panic(err)
	}
	scratchDir = dir
	code := m.Run()
	if err := release(); err != nil {
		panic(err)
	}
	os.Exit(code)
}

var prepared = sync.OnceValues(func() (*run, error) { return prepare(scratchDir, true) })

func TestFlags(t *testing.T) {
	r, err := prepared()
	if err != nil {
		t.Fatal(err)
	}
	tried := tools
	if testing.Short() {
		tried = []string{"lister-gen"} // make nightly tries the flags of all
	}
	if err := r.flags(tried); err != nil {
		t.Error(err)
	}
}

// TestRows compares the exported API of two small rows: one of the corpus, and a single group of client-go's,
// since all groups take too long for a test. With -short, it compares only the first.
func TestRows(t *testing.T) {
	r, err := prepared()
	if err != nil {
		t.Fatal(err)
	}
	rows, err := readCorpus("corpus.tsv")
	if err != nil {
		t.Fatal(err)
	}
	i := slices.IndexFunc(rows, func(r row) bool { return r.name == "openreports" })
	small := []row{rows[i], {
		name: "batch", module: "k8s.io/api", version: release, apis: []string{"k8s.io/api/batch/v1"},
		applyDir: "applyconfigurations",
		flags: map[string]string{"clientset-name": "kubernetes", "prefers-protobuf": "",
			"single-directory": ""},
	}}
	listed, err := readAdditions(filepath.Join(r.root, "docs", "additions.md"))
	if err != nil {
		t.Fatal(err)
	}
	if testing.Short() {
		small = small[:1]
	}
	ran := 0
	for _, row := range small {
		t.Run(row.name, func(t *testing.T) {
			ran++
			verdict, err := r.corpusRow(row, listed)
			if err != nil {
				t.Fatal(err)
			}
			t.Log(verdict)
		})
	}
	if ran < 2 {
		return // only both rows together use every addition that is listed
	}
	if err := listed.stale(); err != nil {
		t.Error(err)
	}
}

func TestPortable(t *testing.T) {
	s := &scratch{dir: "/tmp/w/corpus/packages/shop"}
	got := s.portable("/root/go/pkg/mod/shop.io@v1/a.go:1:2: as in /root/go/pkg/mod/shop.io@v1/b.go:3; not " +
		"/tmp/w/corpus/packages/shop/c.go:4")
	if want := "shop.io@v1/a.go:1:2: as in shop.io@v1/b.go:3; not c.go:4"; got != want {
		t.Errorf("got %s", got)
	}
}
