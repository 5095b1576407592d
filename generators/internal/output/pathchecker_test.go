package output

import (
	"maps"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestPlaces checks that nothing is read or written through links that lead out of a tree, nor where
// something else than a file is.
func TestPlaces(t *testing.T) {
	const file = "out/a/b.go"
	for name, place := range map[string]struct {
		// put creates the obstacle. named is the path that the error names, "" for no error.
		put   func(t *testing.T, dir string)
		named string
	}{
		"nothing":          {func(*testing.T, string) {}, ""},
		"a link to a tree": {links("out", "elsewhere"), ""},
		"a link inside":    {links("out/a", "there"), ""},
		"a link to a file": {links(file, "there.go"), ""},
		"a folder outside": {links("out/a", "../elsewhere"), "out/a"},
		"a file outside":   {links(file, "../../elsewhere/victim.go"), file},
		"a new file there": {links(file, "../../elsewhere/new.go"), file},
		"a broken link":    {links(file, "nowhere.go"), file},
		"a broken folder":  {links("out/a", "nowhere"), "out/a"},
		"a device":         {links(file, os.DevNull), file},
		"a link in a link": {func(t *testing.T, dir string) {
			links("out/a", "there")(t, dir)
			links("out/there/b.go", "../../elsewhere/victim.go")(t, dir)
		}, "out/a"},
		"a socket": {func(t *testing.T, dir string) {
			put(t, dir, map[string]string{"out/a/other.go": ""})
			t.Chdir(dir) // The paths of sockets have to be short.
			l, err := net.Listen("unix", file)
			if err != nil {
				t.Skip(err)
			}
			t.Cleanup(func() { l.Close() })
		}, file},
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			put(t, dir, map[string]string{"elsewhere/victim.go": header + "\npackage victim\n"})
			place.put(t, dir)
			s := set(dir, map[string]string{file: "new"})
			outside := tree(t, filepath.Join(dir, "elsewhere"))
			p, err := s.Compare()
			if place.named == "" {
				if err == nil {
					err = p.Apply(true)
				}
				text, readErr := os.ReadFile(filepath.Join(dir, file))
				if err != nil || readErr != nil || string(text) != "new" {
					t.Errorf("%q, %v, %v", text, err, readErr)
				}
				return
			}
			if err == nil || !strings.Contains(err.Error(), filepath.Join(dir, place.named)) ||
				strings.Count(err.Error(), "\n") > 0 {
				t.Errorf("error: %v", err)
			}
			if now := tree(t, filepath.Join(dir, "elsewhere")); !maps.Equal(now, outside) {
				t.Errorf("outside: %v", now)
			}
		})
	}
}

// links returns a function that makes a link at a place, beside a folder and a file.
func links(at, to string) func(*testing.T, string) {
	return func(t *testing.T, dir string) {
		path := filepath.Join(dir, at)
		if at != "out" {
			put(t, dir, map[string]string{"out/there/other.go": "package other\n", "out/x.go": "package x\n"})
		}
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if strings.HasPrefix(to, "there.") {
			put(t, filepath.Dir(path), map[string]string{to: "package there\n"})
		}
		if err := os.Symlink(to, path); err != nil {
			t.Skip(err)
		}
	}
}

// TestFolders checks that files outside of trees must not leave the set's folders through links. Without
// folders, a file must only stay in its own.
func TestFolders(t *testing.T) {
	for name, root := range map[string]string{"a folder": "types", "none": ""} {
		dir := t.TempDir()
		put(t, dir, map[string]string{"elsewhere/victim.go": "old", "types/x.go": ""})
		if err := os.Symlink("../elsewhere", filepath.Join(dir, "types", "a")); err != nil {
			t.Skip(err)
		}
		s := Set{Files: map[string][]byte{filepath.Join(dir, "types/a/b.go"): []byte("new")}}
		if root != "" {
			s.Folders = []string{filepath.Join(dir, root)}
		}
		_, err := s.Compare()
		if (err != nil) != (root != "") {
			t.Errorf("%s: %v", name, err)
		}
	}
}
