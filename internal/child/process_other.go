//go:build !linux

package child

import "syscall"

// endWithParent is nil: only on Linux can a child be made to die with its parent.
var endWithParent *syscall.SysProcAttr
