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

// writeAll replaces files, all or none: it first writes all texts beside the files, then renames them, and
// puts back what it had replaced if one of them fails. A nil text removes the file.
func writeAll(texts map[string][]byte) (err error) {
	type replaced struct {
		name, next string
		old        []byte
		mode       fs.FileMode
		existed    bool
	}
	var all []replaced
	done := 0
	defer func() {
		for i, r := range all {
			if err != nil && i < done {
				err = errors.Join(err, restore(r.name, r.old, r.mode, r.existed))
			}
			if r.next != "" {
				_ = os.Remove(r.next) // it is gone if it was renamed
			}
		}
	}()
	for _, name := range slices.Sorted(maps.Keys(texts)) {
		r := replaced{name: name, mode: 0o644}
		switch info, err := os.Stat(name); {
		case err == nil:
			r.mode, r.existed = info.Mode().Perm(), true
			if r.old, err = os.ReadFile(name); err != nil {
				return err
			}
		case !errors.Is(err, os.ErrNotExist):
			return err
		}
		all = append(all, r)
		if texts[name] != nil {
			next, err := writeBeside(name, texts[name], r.mode)
			all[len(all)-1].next = next
			if err != nil {
				return fmt.Errorf("nothing is written: %w", err)
			}
		}
	}
	for ; done < len(all); done++ {
		if r := all[done]; r.next != "" {
			err = os.Rename(r.next, r.name)
		} else if r.existed {
			err = os.Remove(r.name)
		}
		if err != nil {
			return fmt.Errorf("nothing is written: %w", err)
		}
	}
	return nil
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

func restore(name string, text []byte, mode fs.FileMode, existed bool) error {
	if existed {
		return os.WriteFile(name, text, mode)
	}
	return os.Remove(name)
}

// swap replaces a folder by another one, which is on the same disk.
func swap(folder, next string) error {
	old := next + ".old"
	if err := os.Rename(folder, old); err != nil {
		return err
	}
	if err := os.Rename(next, folder); err != nil {
		return errors.Join(err, os.Rename(old, folder))
	}
	return os.RemoveAll(old)
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
