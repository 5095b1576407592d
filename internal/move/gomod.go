package move

import (
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"

	"golang.org/x/mod/modfile"
	"golang.org/x/mod/semver"
)

// Raise is a module of a go.mod to raise.
type Raise struct {
	Path, From, To string
	// Replaces means that the go.mod replaces the module by version From of itself, or by none if From is "",
	// not that it requires that.
	Replaces bool
}

// Raises returns which modules have to be raised with client-go: those of Kubernetes, which are released
// together, and controller-runtime. go mod tidy would raise only those that kubewright requires, and the
// others wouldn't compile. An error says that client-go is newer than the version given.
func Raises(mod *modfile.File, toClientGo, toControllerRuntime string) (raises []Raise, err error) {
	current, minor := ClientGo(mod), minorOf(clientGo, ClientGo(mod)) // "" doesn't occur below
	if minor != "" && semver.Compare(minor, semver.MajorMinor(toClientGo)) > 0 {
		return nil, fmt.Errorf("%s requires %s %s, which is newer than this kubewright is for: use the "+
			"kubewright of that minor version", mod.Module.Mod.Path, clientGo, current)
	}
	raise := func(path, from string, replaces bool) {
		to := ""
		switch {
		case path == kubernetes:
			to = "v1" + strings.TrimPrefix(toClientGo, "v0")
		case isReleased(path), !replaces && strings.HasPrefix(path, "k8s.io/") && minorOf(path, from) == minor:
			// Not of pins by the minor version: some are of modules that have ended, such as legacy-cloud-providers.
			to = toClientGo
		case path == controllers:
			to = toControllerRuntime
		}
		if to != "" && semver.Compare(from, to) < 0 {
			raises = append(raises, Raise{path, from, to, replaces})
		}
	}
	for _, r := range mod.Require {
		if pinOf(mod, r.Mod.Path) == nil {
			raise(r.Mod.Path, r.Mod.Version, false)
		}
	}
	replaced := map[string]bool{}
	for _, r := range mod.Replace {
		replaced[r.Old.Path] = true
		if isPin(r) {
			raise(r.Old.Path, r.New.Version, true)
		}
	}
	raised := slices.ContainsFunc(raises, func(r Raise) bool { return r.Path == kubernetes })
	if !raised || requirement(mod, kubernetes) == "" || pinOf(mod, clientGo) == nil {
		return raises, nil
	}
	// The new k8s.io/kubernetes may require modules that the old one didn't, in the version v0.0.0.
	for name := range strings.FieldsSeq(released) {
		if path := "k8s.io/" + name; !replaced[path] && requirement(mod, path) == "" {
			raise(path, "", true)
		}
	}
	return raises, nil
}

// ClientGo returns the version of client-go that a go.mod requires, or replaces it by, "" if it doesn't
// require client-go.
func ClientGo(mod *modfile.File) string {
	required := requirement(mod, clientGo)
	if pin := pinOf(mod, clientGo); pin != nil && required != "" {
		return pin.New.Version
	}
	return required
}

// isPin reports whether a replacement only sets the version of a module. Programs that import
// k8s.io/kubernetes have such ones, since its go.mod requires the other modules in a version that doesn't
// exist, v0.0.0.
func isPin(r *modfile.Replace) bool {
	return r.Old.Version == "" && r.New.Path == r.Old.Path && r.New.Version != ""
}

// pinOf returns the replacement of a module by a version of itself, or nil.
func pinOf(mod *modfile.File, path string) *modfile.Replace {
	for _, r := range mod.Replace {
		if r.Old.Path == path && isPin(r) {
			return r
		}
	}
	return nil
}

// Flag returns the flag of go mod edit that sets the version.
func (r Raise) Flag() string {
	if r.Replaces {
		return "-replace=" + r.Path + "=" + r.Path + "@" + r.To
	}
	return "-require=" + r.Path + "@" + r.To
}

// apply sets the version in a go.mod.
func (r Raise) apply(mod *modfile.File) error {
	if r.Replaces {
		return mod.AddReplace(r.Path, "", r.Path, r.To)
	}
	return mod.AddRequire(r.Path, r.To)
}

// released are the modules of Kubernetes that have client-go's version, below k8s.io/. If a newer
// one that is missing here is required, it is known by its minor version.
const released = " api apiextensions-apiserver apimachinery apiserver cli-runtime client-go cloud-provider " +
	"cluster-bootstrap code-generator component-base component-helpers controller-manager cri-api cri-client " +
	"cri-streaming csi-translation-lib dynamic-resource-allocation endpointslice externaljwt kms " +
	"kube-aggregator kube-controller-manager kube-proxy kube-scheduler kubectl kubelet metrics mount-utils " +
	"pod-security-admission sample-apiserver sample-cli-plugin sample-controller streaming "

func isReleased(path string) bool {
	name, ok := strings.CutPrefix(path, "k8s.io/")
	return ok && strings.Contains(released, " "+name+" ")
}

// kubernetes is the one module whose versions begin with v1 where those of the others begin with v0.
const kubernetes = "k8s.io/kubernetes"

// minorOf returns the minor version of a module as client-go counts it: v0.37.
func minorOf(path, version string) string {
	minor := semver.MajorMinor(version)
	if path == kubernetes {
		minor = "v0" + strings.TrimPrefix(minor, "v1")
	}
	return minor
}

// requirement returns the version of a module that a go.mod requires, "" if it doesn't.
func requirement(mod *modfile.File, path string) string {
	for _, r := range mod.Require {
		if r.Mod.Path == path {
			return r.Mod.Version
		}
	}
	return ""
}

// isOwn reports whether a module or package is ours.
func isOwn(path string) bool { return path == own || strings.HasPrefix(path, own+"/") }

// cloneOf returns the folder that replaces our main module in a go.mod, "" if none does.
func cloneOf(mod *modfile.File) string {
	for _, r := range mod.Replace {
		if r.Old.Path == own && r.New.Version == "" {
			return r.New.Path
		}
	}
	return ""
}

// requireOurs makes a go.mod require our modules, and raises those that it requires. If they are replaced by
// a clone, those that they require are replaced, too, as a module's own replacements don't count in another
// module.
func requireOurs(mod *modfile.File, version, clone string, modules []string) error {
	needed := map[string]bool{}
	for _, path := range modules {
		needed[path], needed[own] = true, true
		if path == ownManagers {
			needed[ownMetrics] = true
		}
	}
	for _, path := range modules {
		if requirement(mod, path) == "" {
			if err := mod.AddRequire(path, version); err != nil {
				return err
			}
		}
	}
	for _, r := range slices.Clone(mod.Require) {
		if isOwn(r.Mod.Path) && semver.Compare(r.Mod.Version, version) < 0 {
			if err := mod.AddRequire(r.Mod.Path, version); err != nil {
				return err
			}
		}
	}
	if clone == "" {
		return nil
	}
	for _, path := range slices.Sorted(maps.Keys(needed)) {
		folder := filepath.ToSlash(filepath.Join(clone, strings.TrimPrefix(path, own)))
		if !filepath.IsAbs(clone) && !strings.HasPrefix(folder, "..") {
			folder = "./" + folder
		}
		if err := mod.AddReplace(path, "", folder, ""); err != nil {
			return err
		}
	}
	return nil
}

// dropOurs removes our modules from a go.mod, with their replacements.
func dropOurs(mod *modfile.File) error {
	for _, r := range slices.Clone(mod.Require) {
		if isOwn(r.Mod.Path) {
			if err := mod.DropRequire(r.Mod.Path); err != nil {
				return err
			}
		}
	}
	for _, r := range slices.Clone(mod.Replace) {
		if isOwn(r.Old.Path) {
			if err := mod.DropReplace(r.Old.Path, r.Old.Version); err != nil {
				return err
			}
		}
	}
	return nil
}

// formatted returns the text of an edited go.mod.
func formatted(mod *modfile.File) ([]byte, error) {
	mod.Cleanup()
	return mod.Format()
}
