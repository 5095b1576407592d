package scratch

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"os"
	"path/filepath"
)

// Fixed returns an empty folder in the user's cache folder. For the same working directory and name it has
// the same path in each run. The build cache knows a package by its path, too, so what didn't change since
// the last run isn't compiled again. Where that folder is in use or can't be had, or on systems without
// locks, Fixed returns a temporary one. release removes the folder, with what it contains; the file of its
// lock stays.
func Fixed(name string) (dir string, release func() error, err error) {
	if dir, unlock, err := locked(name); err == nil {
		// A run that was killed leaves its files.
		if err := errors.Join(os.RemoveAll(dir), os.Mkdir(dir, 0o755)); err == nil {
			return dir, func() error { return errors.Join(os.RemoveAll(dir), unlock()) }, nil
		}
		if err := unlock(); err != nil {
			return "", nil, err
		}
	}
	dir, err = os.MkdirTemp("", "scratch")
	return dir, func() error { return os.RemoveAll(dir) }, err
}

// locked returns the path of a folder, which it has locked.
func locked(name string) (dir string, unlock func() error, err error) {
	here, err := os.Getwd()
	if err != nil {
		return "", nil, err
	}
	cache, err := os.UserCacheDir()
	if err != nil {
		return "", nil, err
	}
	id := sha256.Sum256([]byte(here + "\n" + name))
	dir = filepath.Join(cache, "kubewright", fmt.Sprintf("scratch-%.8x", id))
	if err := os.MkdirAll(filepath.Dir(dir), 0o755); err != nil {
		return "", nil, err
	}
	unlock, err = lock(dir + ".lock")
	return dir, unlock, err
}
