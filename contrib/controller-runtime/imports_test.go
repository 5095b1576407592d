package kwctrl_test

import (
	"os/exec"
	"strings"
	"testing"
)

// TestNoSharding checks that this package doesn't depend on sharding, so that only programs with package
// kwsharding link it.
func TestNoSharding(t *testing.T) {
	list := exec.Command("go", "list", "-deps", "-f", `{{.ImportPath}} {{join .Imports " "}}`, ".")
	var problems strings.Builder
	list.Stderr = &problems
	out, err := list.Output()
	if err != nil {
		t.Fatalf("%v\n%s", err, &problems)
	}
	ofSharding := func(name string) bool {
		return strings.Contains(name, "/sharding") || strings.Contains(name+"/", "runtime/shard/")
	}
	found := 0
	for line := range strings.Lines(string(out)) {
		fields := strings.Fields(line)
		found++
		if ofSharding(fields[0]) {
			t.Errorf("%s is a dependency", fields[0])
		}
		for _, imported := range fields[1:] {
			if ofSharding(imported) {
				t.Errorf("%s imports %s", fields[0], imported)
			}
		}
	}
	if found < 100 {
		t.Errorf("go list names only %d packages", found)
	}
}
