package move

import (
	"bytes"
	"strings"
	"testing"
)

// TestThereAndBack checks the edits of a file, and that the way back gives the same bytes. A literal of
// Options gets the option if there is a comment /* here */ before its brace.
func TestThereAndBack(t *testing.T) {
	for name, test := range map[string]struct{ from, to string }{
		"a block is sorted again": {
			"package p\n\nimport (\n\t\"fmt\"\n\n\t\"k8s.io/api/core/v1\"\n" +
				"\t\"k8s.io/client-go/tools/cache\" // c\n)\n",
			"package p\n\nimport (\n\t\"fmt\"\n\n\t\"github.com/kubewright/kubewright/runtime/cache\" // c\n" +
				"\t\"k8s.io/api/core/v1\"\n)\n",
		},
		"an unsorted file isn't formatted": {
			"package p\n\nimport (\n\t\"k8s.io/klog\"\n\t\"k8s.io/client-go/informers\"\n)\n",
			"package p\n\nimport (\n\t\"k8s.io/klog\"\n\t\"github.com/kubewright/kubewright/informers\"\n)\n",
		},
		"names, dots and blanks": {
			"package p\n\nimport (\n\t. \"k8s.io/client-go/tools/cache\"\n" +
				"\t_ \"k8s.io/client-go/tools/cache/testing\"\n\tq \"k8s.io/client-go/util/workqueue\"\n)\n",
			"package p\n\nimport (\n\t. \"github.com/kubewright/kubewright/runtime/cache\"\n" +
				"\tq \"github.com/kubewright/kubewright/runtime/workqueue\"\n" +
				"\t_ \"k8s.io/client-go/tools/cache/testing\"\n)\n",
		},
		"line ends of Windows": {
			"package p\r\n\r\nimport \"k8s.io/client-go/informers\"\r\n",
			"package p\r\n\r\nimport \"github.com/kubewright/kubewright/informers\"\r\n",
		},
		"no exact path": {
			"package p\n\nimport _ \"k8s.io/client-go/informers/core/v1\"\n\n" +
				"const c = \"k8s.io/client-go/informers\"\n",
			"package p\n\nimport _ \"k8s.io/client-go/informers/core/v1\"\n\n" +
				"const c = \"k8s.io/client-go/informers\"\n",
		},
		"fields on lines": {
			"package p\n\nimport (\n\tctrl \"sigs.k8s.io/controller-runtime\"\n)\n\n" +
				"var o = ctrl.Options /* here */ { // why\n\tScheme: s,\n\tX:      x,\n}\n",
			"package p\n\nimport (\n\tkwctrl \"github.com/kubewright/kubewright/contrib/controller-runtime\"\n" +
				"\tctrl \"sigs.k8s.io/controller-runtime\"\n)\n\n" +
				"var o = ctrl.Options /* here */ { // why\n" +
				"\tNewCache: kwctrl.NewCaches(kwctrl.Options{}).NewCache,\n\tScheme:   s,\n\tX:        x,\n}\n",
		},
		"fields on one line": {
			"package p\n\nimport ctrl \"sigs.k8s.io/controller-runtime\"\n\n" +
				"var o = ctrl.Options /* here */ {Scheme: s}\n",
			"package p\n\nimport ctrl \"sigs.k8s.io/controller-runtime\"\n" +
				"import kwctrl \"github.com/kubewright/kubewright/contrib/controller-runtime\"\n\n" +
				"var o = ctrl.Options /* here */ {NewCache: kwctrl.NewCaches(kwctrl.Options{}).NewCache, Scheme: s}\n",
		},
		"no fields, no imports": {
			"package p\n\nvar o = f(Options /* here */ {})\n",
			"package p\n\nimport kwctrl \"github.com/kubewright/kubewright/contrib/controller-runtime\"\n\n" +
				"var o = f(Options /* here */ {NewCache: kwctrl.NewCaches(kwctrl.Options{}).NewCache})\n",
		},
		"our import is there": {
			"package p\n\nimport kw \"github.com/kubewright/kubewright/contrib/controller-runtime\"\n\n" +
				"var o = f(Options /* here */ {A: kw.A})\n",
			"package p\n\nimport kw \"github.com/kubewright/kubewright/contrib/controller-runtime\"\n\n" +
				"var o = f(Options /* here */ {NewCache: kw.NewCaches(kw.Options{}).NewCache, A: kw.A})\n",
		},
	} {
		t.Run(name, func(t *testing.T) {
			from := []byte(test.from)
			var braces []int
			if i := strings.Index(test.from, "/* here */ {"); i >= 0 {
				braces = []int{i + len("/* here */ ")}
			}
			to, err := there("p.go", from, braces)
			if err != nil || string(to) != test.to {
				t.Fatalf("%v\n%s\nwant\n%s", err, to, test.to)
			}
			again, err := there("p.go", to, nil)
			if err != nil || !bytes.Equal(again, to) {
				t.Errorf("a second run: %v\n%s", err, again)
			}
			found, err := back("p.go", to)
			if err != nil || string(found[0]) != test.from {
				t.Errorf("back: %v\n%s\nwant\n%s", err, found[0], test.from)
			}
		})
	}
}

// TestNameTaken checks that a file with another meaning of our import's name isn't edited.
func TestNameTaken(t *testing.T) {
	text := "package p\n\nvar kwctrl = 1\n\nvar o = Options{}\n"
	if _, err := there("p.go", []byte(text), []int{strings.Index(text, "{")}); err != errNameTaken {
		t.Error(err)
	}
}
