package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"strings"
	"time"

	"golang.org/x/mod/modfile"
	"golang.org/x/mod/module"
	"golang.org/x/mod/zip"
)

const own = "github.com/kubewright/kubewright"

// released are the folders of the modules that are released, all under one version. The other modules of the
// repository are for its own tests.
var released = []string{".", "contrib/prometheus", "contrib/controller-runtime", "crdcheck", "envtest"}

// publish writes the released modules of the repository in the folder root to the folder proxy, in the layout
// that the go command expects of a module proxy (https://go.dev/ref/mod#goproxy-protocol). It takes the files
// that git tracks, as they are on the disk.
func publish(ctx context.Context, root, proxy, version string) error {
	command := exec.CommandContext(ctx, "git", "ls-files", "-z")
	command.Dir = root
	tracked, err := command.Output()
	if err != nil {
		return fmt.Errorf("git ls-files in %s: %w", root, err)
	}
	files := strings.Split(strings.TrimSuffix(string(tracked), "\x00"), "\x00")
	for _, folder := range released {
		if err := publishModule(root, folder, proxy, version, files); err != nil {
			return fmt.Errorf("module in %s: %w", folder, err)
		}
	}
	return nil
}

func publishModule(root, folder, proxy, version string, tracked []string) error {
	v := module.Version{Path: path.Join(own, folder), Version: version}
	mod, err := releaseMod(filepath.Join(root, folder, "go.mod"), version)
	if err != nil {
		return err
	}
	dir := filepath.Join(proxy, filepath.FromSlash(v.Path), "@v")
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	modFile := filepath.Join(dir, version+".mod")
	info, err := json.Marshal(struct {
		Version string
		Time    time.Time
	}{version, time.Now().UTC()})
	if err != nil {
		return err
	}
	archive := new(bytes.Buffer)
	return errors.Join(
		os.WriteFile(modFile, mod, 0o644),
		os.WriteFile(filepath.Join(dir, version+".info"), info, 0o644),
		os.WriteFile(filepath.Join(dir, "list"), []byte(version+"\n"), 0o644),
		zip.Create(archive, v, contents(root, folder, modFile, tracked)),
		os.WriteFile(filepath.Join(dir, version+".zip"), archive.Bytes(), 0o644),
	)
}

// releaseMod returns a go.mod in its released form: it requires the other modules of the repository in that
// version, and replaces nothing.
func releaseMod(name, version string) ([]byte, error) {
	text, err := os.ReadFile(name)
	if err != nil {
		return nil, err
	}
	mod, err := modfile.Parse(name, text, nil)
	if err != nil {
		return nil, err
	}
	for _, r := range mod.Replace {
		if !isOwn(r.Old.Path) {
			return nil, fmt.Errorf("%s:%d: a release can't replace %s: users' builds ignore it",
				name, r.Syntax.Start.Line, r.Old.Path)
		}
		if err := mod.DropReplace(r.Old.Path, r.Old.Version); err != nil {
			return nil, err
		}
	}
	for _, r := range mod.Require {
		if isOwn(r.Mod.Path) {
			if err := mod.AddRequire(r.Mod.Path, version); err != nil {
				return nil, err
			}
		}
	}
	mod.Cleanup()
	return mod.Format()
}

func isOwn(modulePath string) bool {
	return modulePath == own || strings.HasPrefix(modulePath, own+"/")
}

// contents lists the tracked files of the module in a folder, without those of the modules below it.
func contents(root, folder, modFile string, tracked []string) (files []zip.File) {
	nested := map[string]bool{}
	for _, name := range tracked {
		if dir := path.Dir(name); path.Base(name) == "go.mod" && dir != folder {
			nested[dir] = true
		}
	}
	for _, name := range tracked {
		inside, found := name, true
		if folder != "." {
			inside, found = strings.CutPrefix(name, folder+"/")
		}
		dir := path.Dir(name)
		for dir != folder && dir != "." && !nested[dir] {
			dir = path.Dir(dir)
		}
		switch {
		case !found || dir != folder:
		case inside == "go.mod":
			files = append(files, file{inside, modFile})
		default:
			files = append(files, file{inside, filepath.Join(root, filepath.FromSlash(name))})
		}
	}
	return files
}

// file is a file of a module: its path in the module, and its path on the disk.
type file struct{ path, disk string }

func (f file) Path() string                 { return f.path }
func (f file) Lstat() (os.FileInfo, error)  { return os.Lstat(f.disk) }
func (f file) Open() (io.ReadCloser, error) { return os.Open(f.disk) }
