package child

import "syscall"

// endWithParent has the kernel kill a child whose parent dies. A child that is stopped doesn't see the end of
// its input. The kernel means the thread that has started the child, which Go keeps unless a goroutine that
// has locked it ends.
var endWithParent = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
