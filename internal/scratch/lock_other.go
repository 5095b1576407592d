//go:build !linux && !darwin

package scratch

import "errors"

func lock(string) (unlock func() error, err error) { return nil, errors.ErrUnsupported }
