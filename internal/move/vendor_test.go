package move

import (
	"strings"
	"testing"
)

// TestVendor moves a module with a vendor folder, there and back. Other files of the folder must be
// committed.
func TestVendor(t *testing.T) {
	if testing.Short() {
		t.Skip("copies and compiles all packages that client-go's caches need")
	}
	r := newRepo(t, "../..", "", small)
	r.run("go", "mod", "tidy")
	r.run("go", "mod", "vendor")
	r.commit()
	o := r.options()
	if report := r.move(o); strings.Contains(report, "Left to you") {
		t.Errorf("the report is\n%s", report)
	}
	if changed := r.git("status", "--porcelain"); changed != "" {
		t.Errorf("a run without -w changes files:\n%s", changed)
	}
	o.Write = true
	r.write("vendor/modules.txt", r.read("vendor/modules.txt")+"# changed\n")
	if _, err := Run(t.Context(), o); err == nil || !strings.Contains(err.Error(), "\n    vendor/modules.txt") {
		t.Errorf("with a changed vendor folder: %v", err)
	}
	r.git("checkout", "-q", "--", "vendor")
	r.move(o)
	if !strings.Contains(r.read("vendor/modules.txt"), "# "+own+" v0.0.0 => "+r.clone()) {
		t.Error("kubewright isn't vendored")
	}
	r.run("go", "build", "-mod=vendor", "./...")
	if report := r.move(o); report != "Nothing to change.\n" {
		t.Errorf("a second run:\n%s", report)
	}
	o.Back = true
	if report := r.move(o); !strings.Contains(report, "\ngo.mod: no longer replaces "+own+"\n") {
		t.Errorf("the report of --back is\n%s", report)
	}
	if changed := r.git("status", "--porcelain"); changed != "" {
		t.Errorf("--back leaves differences:\n%s", changed)
	}
}
