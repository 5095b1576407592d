//go:build !linux

package kubeserver

import (
	"runtime"
	"syscall"
)

var exe = map[bool]string{true: ".exe"}[runtime.GOOS == "windows"]

// endWithParent: only Linux can bind the life of a child to its parent's.
var endWithParent *syscall.SysProcAttr
