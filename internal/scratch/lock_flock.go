//go:build linux || darwin

package scratch

import (
	"errors"
	"os"
	"syscall"
)

// lock creates and locks a file, until unlock is called or the process ends. It fails if the file is locked.
func lock(name string) (unlock func() error, err error) {
	f, err := os.OpenFile(name, os.O_RDWR|os.O_CREATE, 0o644)
	if err != nil {
		return nil, err
	}
	if err := syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB); err != nil {
		return nil, errors.Join(err, f.Close())
	}
	// A process that is being started has the file, too, so closing it may not end the lock.
	return func() error { return errors.Join(syscall.Flock(int(f.Fd()), syscall.LOCK_UN), f.Close()) }, nil
}
