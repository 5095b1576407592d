package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strings"

	"golang.org/x/mod/modfile"
	"golang.org/x/mod/semver"

	"github.com/kubewright/kubewright/internal/move"
)

const (
	clientGoModule    = "k8s.io/client-go"
	controllerRuntime = "sigs.k8s.io/controller-runtime"
	// oldestControllerRuntime is the oldest release of controller-runtime that works with clientGo: that of
	// go.mod in contrib/controller-runtime.
	oldestControllerRuntime = "v0.24.1"
)

// currentGoMod returns the path of the go.mod of the current module, "" if there is none.
func currentGoMod(ctx context.Context) (string, error) {
	out, err := exec.CommandContext(ctx, "go", "env", "GOMOD").Output()
	if errors.Is(err, exec.ErrNotFound) {
		return "", nil
	}
	if err != nil {
		return "", fmt.Errorf("go env GOMOD: %w", err)
	}
	file := strings.TrimSpace(string(out))
	if file == os.DevNull {
		return "", nil
	}
	return file, nil
}

// fitOf says which client-go the module with a go.mod requires, and which modules to raise. It is "" if the
// module doesn't require client-go.
func fitOf(file string, text []byte) (string, error) {
	mod, err := modfile.Parse(file, text, nil)
	if err != nil {
		return "", err
	}
	if mod.Module == nil {
		return "", fmt.Errorf("%s: it names no module", file)
	}
	required := move.ClientGo(mod)
	if required == "" {
		return "", nil
	}
	fit := fmt.Sprintf("%s requires %s %s\n", mod.Module.Mod.Path, clientGoModule, required)
	raises, err := move.Raises(mod, clientGo, oldestControllerRuntime)
	if err != nil {
		return fit + "it is newer than this kubewright is for: use the kubewright of that minor version\n", nil
	}
	edit, get := []string{"go mod edit"}, []string{"go get"}
	for _, r := range raises {
		if r.Path == controllerRuntime {
			r.To = movedControllerRuntime
		}
		switch {
		case r.Replaces:
			edit = append(edit, r.Flag())
		case r.Path == controllerRuntime:
			get = append(get, r.Path+"@"+semver.MajorMinor(r.To))
		case semver.MajorMinor(r.From) != semver.MajorMinor(r.To): // else go mod tidy raises it
			get = append(get, r.Path+"@"+r.To)
		}
	}
	commands := ""
	for _, command := range [][]string{edit, get} {
		if len(command) > 1 {
			commands += "    " + strings.Join(command, " \\\n        ") + "\n"
		}
	}
	if commands == "" {
		return fit, nil
	}
	return fit + "raise all modules of Kubernetes together, then run go mod tidy:\n" + commands, nil
}
