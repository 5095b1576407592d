package move

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
)

// replacement is a file to replace, or to remove.
type replacement struct {
	name string
	// next is the name of the file that replaces it, "" if it is to be removed.
	next string
	// old is its text, if it existed.
	old     []byte
	mode    fs.FileMode
	existed bool
}

// writeAll replaces files, all or none: it first writes all texts beside the files, then renames them. A
// nil text removes the file.
func writeAll(texts map[string][]byte) error {
	var all []replacement
	defer func() {
		for _, r := range all {
			if r.next != "" {
				_ = os.Remove(r.next) // it is gone if it was renamed
			}
		}
	}()
	for _, name := range slices.Sorted(maps.Keys(texts)) {
		r := replacement{name: name, mode: 0o644}
		if real, err := filepath.EvalSymlinks(name); err == nil {
			r.name = real
		}
		switch info, err := os.Stat(r.name); {
		case err == nil:
			r.mode, r.existed = info.Mode().Perm(), true
			if r.old, err = os.ReadFile(r.name); err != nil {
				return err
			}
		case !errors.Is(err, os.ErrNotExist):
			return err
		}
		var err error
		if texts[name] != nil {
			r.next, err = writeBeside(r.name, texts[name], r.mode)
		}
		all = append(all, r)
		if err != nil {
			return fmt.Errorf("nothing is written: %w", err)
		}
	}
	return replaceAll(all)
}

// replaceAll replaces files, and puts back those that it has replaced if one of them fails.
func replaceAll(all []replacement) (err error) {
	for i, r := range all {
		if r.next != "" {
			err = os.Rename(r.next, r.name)
		} else if r.existed {
			err = os.Remove(r.name)
		}
		if err == nil {
			continue
		}
		err = fmt.Errorf("nothing is written: %w", err)
		for _, done := range all[:i] {
			err = errors.Join(err, done.restore())
		}
		return err
	}
	return nil
}

func (r replacement) restore() error {
	if r.existed {
		return os.WriteFile(r.name, r.old, r.mode)
	}
	return os.Remove(r.name)
}

// writeBeside writes a text to a new file in the folder of another one.
func writeBeside(name string, text []byte, mode fs.FileMode) (string, error) {
	file, err := os.CreateTemp(filepath.Dir(name), ".kubewright-*")
	if err != nil {
		return "", err
	}
	_, err = file.Write(text)
	return file.Name(), errors.Join(err, file.Chmod(mode), file.Close())
}

// swap replaces a folder by another one, which is on the same disk. The old one goes beside where that was.
func swap(folder, next string) error {
	old := next + ".old"
	if err := os.Rename(folder, old); err != nil {
		return err
	}
	if err := os.Rename(next, folder); err != nil {
		return errors.Join(err, os.Rename(old, folder))
	}
	return nil
}

// changedOnly leaves out the files whose text on the disk is the new one.
func changedOnly(texts map[string][]byte) (map[string][]byte, error) {
	changed := map[string][]byte{}
	for name, text := range texts {
		old, err := os.ReadFile(name)
		if err != nil && !errors.Is(err, os.ErrNotExist) {
			return nil, err
		}
		if err != nil && text == nil || err == nil && text != nil && bytes.Equal(old, text) {
			continue
		}
		changed[name] = text
	}
	return changed, nil
}
