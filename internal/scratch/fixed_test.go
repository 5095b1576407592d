package scratch

import (
	"os"
	"path/filepath"
	"runtime"
	"testing"
)

// TestFixed checks that a folder has the same path when it is made again, and is empty then, also after a run
// that was killed. Two at the same time have different paths.
func TestFixed(t *testing.T) {
	if runtime.GOOS != "linux" && runtime.GOOS != "darwin" {
		t.Skip("without locks, all folders are temporary")
	}
	t.Setenv("XDG_CACHE_HOME", t.TempDir()) // those of Linux and macOS
	t.Setenv("HOME", t.TempDir())
	again := func(name string) (dir string, release func() error) {
		t.Helper()
		dir, release, err := Fixed(name)
		if err != nil {
			t.Fatal(err)
		}
		if entries, err := os.ReadDir(dir); err != nil || len(entries) > 0 {
			t.Errorf("%s has %d entries, %v", dir, len(entries), err)
		}
		if err := os.WriteFile(filepath.Join(dir, "file"), nil, 0o644); err != nil {
			t.Fatal(err)
		}
		return dir, release
	}
	end := func(dir string, release func() error) {
		t.Helper()
		if err := release(); err != nil {
			t.Error(err)
		}
		if _, err := os.Stat(dir); !os.IsNotExist(err) {
			t.Errorf("%s is left: %v", dir, err)
		}
	}
	first, release := again("one")
	other, releaseOther := again("another")
	beside, releaseBeside := again("one")
	if first == other || first == beside {
		t.Errorf("the folders %s, %s and %s, of which two are the same", first, other, beside)
	}
	end(first, release)
	end(other, releaseOther)
	end(beside, releaseBeside)

	if err := os.Mkdir(first, 0o755); err != nil { // as a run leaves it that is killed
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(first, "left"), nil, 0o644); err != nil {
		t.Fatal(err)
	}
	second, release := again("one")
	if second != first {
		t.Errorf("the folder is %s, and then %s", first, second)
	}
	end(second, release)
}
