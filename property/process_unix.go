//go:build unix

package property

import (
	"os/exec"
	"syscall"
)

// setOwnGroup makes the program the leader of a new process group, so that killGroup can end its child processes, too. A
// terminal's interrupt then reaches only kir, which ends the program in order.
func setOwnGroup(cmd *exec.Cmd) { cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} }

// killGroup kills all processes of the program's group.
func killGroup(cmd *exec.Cmd) { _ = syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
