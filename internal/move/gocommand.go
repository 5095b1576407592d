package move

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"go/version"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"

	"golang.org/x/mod/modfile"
)

// module is the module that moves, as it is on the disk.
type module struct {
	// root is its folder, from the folder in which the run was started. workspace is the go.work that lists the
	// module, or "".
	root, from, workspace string
	arch                  string
	// goMod and goSum are the texts of go.mod and go.sum.
	goMod, goSum []byte
}

// findModule finds the module around a folder.
func findModule(ctx context.Context, dir string) (*module, error) {
	out, err := goCommand(ctx, dir, nil, "env", "-json", "GOMOD", "GOWORK", "GOARCH", "GOVERSION")
	if err != nil {
		return nil, err
	}
	var env struct{ GOMOD, GOWORK, GOARCH, GOVERSION string }
	if err := json.Unmarshal(out, &env); err != nil {
		return nil, err
	}
	if env.GOMOD == "" || env.GOMOD == os.DevNull {
		return nil, errors.New("no go.mod here or in any folder above; run kubewright in a module")
	}
	if built := runtime.Version(); version.Compare(version.Lang(env.GOVERSION), version.Lang(built)) > 0 {
		return nil, fmt.Errorf("the go command here is %s, and this kubewright, which checks types, was built "+
			"with %s: build it with GOTOOLCHAIN=%[1]s", env.GOVERSION, built)
	}
	from, err := filepath.Abs(dir)
	if err != nil {
		return nil, err
	}
	m := &module{root: filepath.Dir(env.GOMOD), from: from, arch: env.GOARCH}
	if env.GOWORK != "off" {
		m.workspace = env.GOWORK
	}
	if m.goMod, err = os.ReadFile(env.GOMOD); err != nil {
		return nil, err
	}
	m.goSum, err = os.ReadFile(m.path("go.sum"))
	if errors.Is(err, os.ErrNotExist) {
		err = nil
	}
	return m, err
}

// path returns the absolute path of a file of the module.
func (m *module) path(name string) string { return filepath.Join(m.root, name) }

// relative returns the path of a file for messages: relative to the folder of the run if it is in the module.
func (m *module) relative(file string) string {
	if r, err := filepath.Rel(m.root, file); err != nil || !filepath.IsLocal(r) {
		return file
	}
	if r, err := filepath.Rel(m.from, file); err == nil {
		return filepath.ToSlash(r)
	}
	return file
}

// parse parses a go.mod of the module.
func (m *module) parse(text []byte) (*modfile.File, error) {
	file := m.relative(m.path("go.mod"))
	mod, err := modfile.Parse(file, text, nil)
	if err == nil && mod.Module == nil {
		return nil, fmt.Errorf("%s: it names no module", file)
	}
	return mod, err
}

// vendored reports whether the module has a vendor folder, which the go command checks.
func (m *module) vendored() bool {
	_, err := os.Stat(m.path("vendor/modules.txt"))
	return err == nil
}

// goCommand runs a go command in a folder and returns its standard output.
func goCommand(ctx context.Context, dir string, env []string, args ...string) ([]byte, error) {
	cmd := exec.CommandContext(ctx, "go", args...)
	cmd.Dir = dir
	cmd.Env = append(cmd.Environ(), env...)
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if errors.Is(err, exec.ErrNotFound) {
		return nil, errors.New("there is no go command in the PATH; install Go")
	}
	if err != nil {
		return nil, fmt.Errorf("go %s: %w\n%s", strings.Join(args[:min(2, len(args))], " "), err,
			head(stderr.String()))
	}
	return out, nil
}

// head returns the first lines of what a go command says, without its progress.
func head(text string) string {
	lines := slices.DeleteFunc(strings.Split(strings.TrimSpace(text), "\n"), func(line string) bool {
		return strings.HasPrefix(line, "go: downloading ")
	})
	if n := len(lines) - maxSaid; n > 0 {
		lines = append(lines[:maxSaid], fmt.Sprintf("... and %d more lines", n))
	}
	return strings.Join(lines, "\n")
}

const maxSaid = 20

// plan is the module as it will be: files that a go command sees in place of those on the disk. Its go.mod
// and go.sum are in a folder for temporary files.
type plan struct {
	*module
	temp string
	// untidy is the error of go mod tidy, if go.mod could be completed without.
	untidy error
	files  map[string][]byte // by absolute path
}

// newPlan begins a plan with the text of a go.mod.
func (m *module) newPlan(temp string, mod []byte) (*plan, error) {
	p := &plan{module: m, temp: temp, files: map[string][]byte{}}
	return p, errors.Join(os.WriteFile(filepath.Join(temp, "go.mod"), mod, 0o666),
		os.WriteFile(filepath.Join(temp, "go.sum"), m.goSum, 0o666))
}

// read returns the plan's go.mod or go.sum.
func (p *plan) read(name string) ([]byte, error) { return os.ReadFile(filepath.Join(p.temp, name)) }

// run runs a go command about the plan's module alone, without its workspace.
func (p *plan) run(ctx context.Context, command []string, args ...string) error {
	overlay, err := p.overlay()
	if err != nil {
		return err
	}
	all := append(slices.Clone(command), "-modfile="+filepath.Join(p.temp, "go.mod"), "-overlay="+overlay)
	_, err = goCommand(ctx, p.root, []string{"GOWORK=off", "GOFLAGS=" + withoutMod(os.Getenv("GOFLAGS"))},
		append(all, args...)...)
	return err
}

// withoutMod returns the flags of GOFLAGS without those that a plan sets.
func withoutMod(flags string) string {
	return strings.Join(slices.DeleteFunc(strings.Fields(flags), func(flag string) bool {
		name, _, _ := strings.Cut(strings.TrimLeft(flag, "-"), "=")
		return name == "mod" || name == "modfile" || name == "overlay"
	}), " ")
}

// tidy completes the plan's go.mod and go.sum. The go command does that without the workspace, whose
// modules may have no version that exists, so folders replace them meanwhile.
//
// If it fails, as it does with a tool that can't be had, they are completed for packages and their tests, and
// the plan has the error.
func (p *plan) tidy(ctx context.Context) error {
	siblings, err := p.siblings()
	if err != nil {
		return err
	}
	return errors.Join(p.editMod(func(mod *modfile.File) error {
		for path, folder := range siblings {
			if err := mod.AddReplace(path, "", folder, ""); err != nil {
				return err
			}
		}
		return nil
	}), p.complete(ctx), p.editMod(func(mod *modfile.File) error {
		for path := range siblings {
			if err := mod.DropReplace(path, ""); err != nil {
				return err
			}
		}
		return nil
	}))
}

func (p *plan) complete(ctx context.Context) error {
	p.untidy = p.run(ctx, []string{"mod", "tidy"})
	if p.untidy == nil || p.run(ctx, []string{"list", "-mod=mod"}, "-deps", "-test", "./...") == nil {
		return nil
	}
	return p.untidy
}

// editMod edits the plan's go.mod.
func (p *plan) editMod(edit func(mod *modfile.File) error) error {
	mod, err := p.parsePlanned()
	if err != nil {
		return err
	}
	if err := edit(mod); err != nil {
		return err
	}
	text, err := formatted(mod)
	if err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(p.temp, "go.mod"), text, 0o666)
}

// vendor writes the plan's vendor folder to dir.
func (p *plan) vendor(ctx context.Context, dir string) error {
	return p.run(ctx, []string{"mod", "vendor"}, "-o", dir)
}

// overlay writes the plan's files to temporary ones, and returns the name of the file that lists them.
func (p *plan) overlay() (string, error) {
	replace := map[string]string{}
	for i, name := range slices.Sorted(maps.Keys(p.files)) {
		copied := filepath.Join(p.temp, fmt.Sprintf("%d.go", i))
		if err := os.WriteFile(copied, p.files[name], 0o666); err != nil {
			return "", err
		}
		replace[name] = copied
	}
	text, err := json.Marshal(map[string]any{"Replace": replace})
	if err != nil {
		return "", err
	}
	list := filepath.Join(p.temp, "overlay.json")
	return list, os.WriteFile(list, text, 0o666)
}

// listing returns what a list of packages needs to see the plan: flags, environment and an overlay. In a
// workspace that is a go.work in the temporary folder, as the go command then refuses -modfile.
func (p *plan) listing() (flags, env []string, overlay map[string][]byte, err error) {
	env = append(os.Environ(), "GOPACKAGESDRIVER=off", "GOFLAGS="+withoutMod(os.Getenv("GOFLAGS")))
	if p.workspace == "" {
		return []string{"-mod=mod", "-modfile=" + filepath.Join(p.temp, "go.mod")}, env, p.files, nil
	}
	overlay = maps.Clone(p.files)
	for _, name := range []string{"go.mod", "go.sum"} {
		if overlay[p.path(name)], err = p.read(name); err != nil {
			return nil, nil, nil, err
		}
	}
	work, err := p.work()
	if err != nil {
		return nil, nil, nil, err
	}
	return nil, append(env, "GOWORK="+work), overlay, nil
}
