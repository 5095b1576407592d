package main

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// TestOnlyLong checks that make test misses no test of the packages that it leaves out.
func TestOnlyLong(t *testing.T) {
	for _, name := range onlyLong {
		files, err := filepath.Glob(filepath.Join("../../test/e2e", name, "*_test.go"))
		if err != nil || len(files) == 0 {
			t.Fatalf("no tests in %s: %v", name, err)
		}
		for _, file := range files {
			text, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			for _, test := range strings.Split(string(text), "\nfunc Test")[1:] {
				if !strings.HasPrefix(test[strings.Index(test, "\n"):], "\n\tif testing.Short() {\n\t\tt.Skip(") {
					t.Errorf("%s: Test%s has a short form: take %s out of onlyLong", file,
						test[:strings.Index(test, "(")], name)
				}
			}
		}
	}
}

// TestParts checks that both parts of the main module have the packages that they should have.
func TestParts(t *testing.T) {
	linked, others, err := partsOfMain("../..")
	if err != nil {
		t.Fatal(err)
	}
	const module = "github.com/kubewright/kubewright/"
	for _, name := range []string{"eyes", "informers", "runtime/queue", "sharding",
		"internal/clientgo", "runtime/internal/decode"} {
		if !slices.Contains(linked, module+name) {
			t.Errorf("%s isn't tested with the race detector", name)
		}
	}
	for _, name := range []string{"cmd/kubewright", "examples/controller", "generators", "internal/testall"} {
		if !slices.Contains(others, module+name) {
			t.Errorf("%s isn't tested without the race detector", name)
		}
	}
}
