package kubeserver

import "syscall"

const exe = ""

// endWithParent has the kernel kill the children of a test that dies without stopping its server.
var endWithParent = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
