//go:build !linux

package kubeserver

import (
	"runtime"
	"syscall"
)

var exe = map[bool]string{true: ".exe"}[runtime.GOOS == "windows"]

// endWithParent is nil: only on Linux can a child be made to die with its parent.
var endWithParent *syscall.SysProcAttr
