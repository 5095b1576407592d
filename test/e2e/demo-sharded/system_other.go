//go:build !linux

package main

import (
	"runtime"
	"syscall"
)

var exe = map[bool]string{true: ".exe"}[runtime.GOOS == "windows"]

// freeze stops a process at any point, thaw lets it go on: SIGSTOP and SIGCONT, with the numbers of macOS and
// the BSDs. On Windows the demo fails at this step.
const freeze, thaw = syscall.Signal(17), syscall.Signal(19)

// endWithParent is nil: only on Linux can a child be made to die with its parent.
var endWithParent *syscall.SysProcAttr
