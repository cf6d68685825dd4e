//go:build unix

package property

import (
	"os/exec"
	"syscall"
)

// ownGroup makes the program the head of a process group of its own, so that all
// that it starts can be ended with it, and the terminal's interrupt, which asks
// for an orderly end of the run, does not end it before.
func ownGroup(cmd *exec.Cmd) { cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} }

// killGroup ends all of the program's group that is left.
func killGroup(cmd *exec.Cmd) { _ = syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
