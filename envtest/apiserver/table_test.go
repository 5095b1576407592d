package apiserver_test

import (
	"os"
	"strings"
	"testing"
)

// lines has a test for each line of the table in docs/testing.md, by its first cell.
var lines = map[string]func(*visit){
	"custom resources":             testCustomResources,
	"built-in kinds":               testBuiltInKinds,
	"validation":                   testValidation,
	"Secrets":                      testSecrets,
	"Namespaces":                   testNamespaces,
	"Events":                       testEvents,
	"server-side apply":            testApply,
	"patches":                      testPatches,
	"lists":                        testLists,
	"watches":                      testWatches,
	"writes":                       testWrites,
	"finalizers":                   testFinalizers,
	"discovery":                    testDiscovery,
	"OpenAPI":                      testOpenAPI,
	"health":                       testHealth,
	"custom resources in protobuf": testProtobufRefused,
	"subresources of Namespaces":   testNoNamespaceSubresources,
	"other kinds":                  testNoOtherKinds,
	"authentication and RBAC":      testNoAuthentication,
	"admission":                    testNoAdmission,
	"garbage collection":           testNoGarbageCollection,
}

// TestTable runs the tests of the table's lines, and checks that each line has a test and each test a line.
func TestTable(t *testing.T) {
	text, err := os.ReadFile("../../docs/testing.md")
	if err != nil {
		t.Fatal(err)
	}
	_, table, found := strings.Cut(string(text), "| part of the API | in this server |\n| --- | --- |\n")
	if !found {
		t.Fatal("docs/testing.md has no table of what the server serves")
	}
	seen := map[string]bool{}
	for line := range strings.Lines(table) {
		cells := strings.Split(line, " | ")
		if len(cells) != 2 {
			break
		}
		part := strings.TrimPrefix(cells[0], "| ")
		seen[part] = true
		test := lines[part]
		if test == nil {
			t.Errorf("the line %q has no test", part)
			continue
		}
		t.Run(part, func(t *testing.T) { test(newVisit(t)) })
	}
	for part := range lines {
		if !seen[part] {
			t.Errorf("the test of %q has no line in the table", part)
		}
	}
}
