package layout

import (
	"slices"
	"strings"
	"testing"
)

// onlyIfUsed are packages that few programs need. Each has patterns of the packages that must not depend on
// it, even indirectly: what all programs link that have generated code, or use these packages.
var onlyIfUsed = map[string][]string{
	"runtime/factory/namespaces": {"runtime/...", "informers/...", "contrib/...", "examples/generated/..."},
	// runtimetest, a server for tests, answers requests with selectors.
	"runtime/shard": {
		"runtime/gen/...", "runtime/informer", "runtime/factory/...", "runtime/lister", "runtime/listwatch",
		"runtime/client/...", "runtime/cache/...", "runtime/workqueue/...", "runtime/internal/engine",
		"informers/...", "contrib/prometheus", "contrib/controller-runtime", "examples/generated/...",
	},
	// The options of contrib/controller-runtime have its tracker.
	"runtime/ownwrites": {
		"runtime/...", "informers/...", "sharding/...", "contrib/prometheus", "examples/generated/...",
	},
	"sharding": {
		"runtime/...", "informers/...", "contrib/prometheus", "contrib/controller-runtime",
		"examples/generated/...",
	},
	// The generated listers of examples have read-only views. generators/linked_test.go has code without them.
	"runtime/gen/view": {"runtime/...", "informers/...", "contrib/..."},
}

// TestOnlyIfUsed checks that a program links these packages only if it, or its generated code, imports them.
func TestOnlyIfUsed(t *testing.T) {
	var names []string
	for _, folder := range published {
		for _, p := range list(t, folder, "./...") {
			name := strings.TrimPrefix(p.ImportPath, module+"/")
			names = append(names, name)
			for unused, patterns := range onlyIfUsed {
				if name != unused && matchesAny(patterns, name) && slices.Contains(p.Deps, module+"/"+unused) {
					t.Errorf("%s depends on %s: programs that don't use it would link it", name, unused)
				}
			}
		}
	}
	for unused, patterns := range onlyIfUsed {
		for _, pattern := range append([]string{unused}, patterns...) {
			if !slices.ContainsFunc(names, func(name string) bool { return matches(pattern, name) }) {
				t.Errorf("no package matches %s", pattern)
			}
		}
	}
}
