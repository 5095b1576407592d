package main

import (
	"context"
	"maps"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/kubewright/kubewright/generators"
	"github.com/kubewright/kubewright/internal/pages"
)

// flagsOfOthers are the flags of other tools that pages name, with the tool.
var flagsOfOthers = map[string]string{
	"applyconfig-name": "kube_codegen.sh",
	"boilerplate":      "kube_codegen.sh",
	"extra-peer-dir":   "kube_codegen.sh",
	"informers-name":   "kube_codegen.sh",
	"listers-name":     "kube_codegen.sh",
	"one-input-api":    "kube_codegen.sh",
	"versioned-name":   "kube_codegen.sh",
	"with-watch":       "kube_codegen.sh",
}

var (
	// flagName matches a flag in a line of code or in a help.
	flagName = regexp.MustCompile(`(?:^|[\s\[(,])--([a-z][\w-]*)`)
	// ownCommand matches a call of kubewright in a line of code.
	ownCommand = regexp.MustCompile(`(?:^|[\s/|])kubewright ([a-z]+)(.*)`)
)

// TestDocumentedFlags checks that the flags in pages exist. Behind a command of kubewright, they have to be
// flags of that command; elsewhere, flags of any command of this repository. Flags of the tools above are
// fine, too.
func TestDocumentedFlags(t *testing.T) {
	byCommand, all := knownFlags(t)
	tracked, err := pages.Tracked("../..")
	if err != nil {
		t.Fatal(err)
	}
	found, others := 0, map[string]bool{}
	check := func(page string, line int, code string) {
		known, where := all, "no command"
		if m := ownCommand.FindStringSubmatch(code); m != nil {
			if byCommand[m[1]] == nil {
				t.Errorf("%s:%d: kubewright has no command %s", page, line, m[1])
				return
			}
			known, where, code = byCommand[m[1]], "not kubewright "+m[1], m[2]
		}
		for _, m := range flagName.FindAllStringSubmatch(code, -1) {
			found++
			switch {
			case known[m[1]]:
			case flagsOfOthers[m[1]] != "":
				others[m[1]] = true
			default:
				t.Errorf("%s:%d: %s has a flag --%s", page, line, where, m[1])
			}
		}
	}
	for _, p := range tracked {
		for line, codes := range p.Code() {
			for _, code := range codes {
				check(p.Name, line, code)
			}
		}
		for _, b := range p.Blocks() {
			for line := range strings.Lines(b.Text) {
				check(p.Name, b.Line, line)
			}
		}
	}
	if found < 60 {
		t.Errorf("only %d flags were found", found)
	}
	for _, name := range slices.Sorted(maps.Keys(flagsOfOthers)) {
		if !others[name] {
			t.Errorf("no page names --%s of %s any more, or it is one of ours", name, flagsOfOthers[name])
		}
	}
}

// knownFlags returns the flags of each command of kubewright, and of all commands.
func knownFlags(t *testing.T) (byCommand map[string]map[string]bool, all map[string]bool) {
	byCommand, all = map[string]map[string]bool{}, map[string]bool{}
	add := func(command, help string) {
		byCommand[command] = map[string]bool{}
		for _, m := range flagName.FindAllStringSubmatch(help, -1) {
			byCommand[command][m[1]], all[m[1]] = true, true
		}
	}
	commands := []string{"generate", "check", "import", "init", "move", "eyes", "version", "completion"}
	for _, command := range commands {
		var stdout, stderr strings.Builder
		if status := execute(t.Context(), []string{command, "--help"}, &stdout, &stderr); status != 0 {
			t.Fatalf("kubewright %s --help: exit status %d: %s", command, status, &stderr)
		}
		add(command, stdout.String())
	}
	for name, tool := range map[string]*generators.Tool{
		"client-gen": generators.NewClientGen(), "informer-gen": generators.NewInformerGen(),
		"lister-gen": generators.NewListerGen(), "applyconfiguration-gen": generators.NewApplyConfigurationGen(),
		"deepcopy-gen": generators.NewDeepCopyGen(), "register-gen": generators.NewRegisterGen(),
		"defaulter-gen": generators.NewDefaulterGen(),
	} {
		var help strings.Builder
		tool.Run(context.Background(), []string{"--help"}, &help)
		add(name, help.String())
	}
	return byCommand, all
}
