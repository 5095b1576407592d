//go:build unix

package output

import (
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
	"testing"
)

// TestModes checks that new files and folders have the modes that the umask leaves of 0644 and 0755, and that
// files keep theirs.
func TestModes(t *testing.T) {
	before := syscall.Umask(0)
	defer syscall.Umask(before)
	for umask, want := range map[int]struct{ file, folder fs.FileMode }{
		0:     {0o644, 0o755},
		0o022: {0o644, 0o755},
		0o027: {0o640, 0o750},
		0o077: {0o600, 0o700},
	} {
		syscall.Umask(0)
		dir := t.TempDir()
		put(t, dir, map[string]string{"out/old.go": header + "\n"})
		old := filepath.Join(dir, "out/old.go")
		if err := os.Chmod(old, 0o664|fs.ModeSetgid); err != nil {
			t.Fatal(err)
		}
		syscall.Umask(umask)
		apply(t, set(dir, map[string]string{"out/new/a.go": "new", "out/old.go": "changed"}), false)
		for path, want := range map[string]fs.FileMode{
			"out/new": want.folder | fs.ModeDir, "out/new/a.go": want.file, "out/old.go": 0o664,
		} {
			if info, err := os.Stat(filepath.Join(dir, path)); err != nil || info.Mode() != want {
				t.Errorf("umask %04o: %s is %v, %v", umask, path, info.Mode(), err)
			}
		}
	}
}
