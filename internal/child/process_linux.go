package child

import "syscall"

// endWithParent has the kernel kill a child whose parent dies. A child that is stopped doesn't see the end of
// its input.
var endWithParent = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
