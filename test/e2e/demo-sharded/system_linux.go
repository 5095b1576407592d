package main

import "syscall"

const exe = ""

// freeze stops a process at any point, thaw lets it go on.
const freeze, thaw = syscall.SIGSTOP, syscall.SIGCONT

// endWithParent has the kernel kill the replicas of a demo that dies.
var endWithParent = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
