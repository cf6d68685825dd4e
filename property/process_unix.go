//go:build unix

package property

import (
	"os/exec"
	"syscall"
)

// ownGroup makes the program the leader of its own process group. So its child processes can be
// ended with it. The terminal's interrupt, which asks kir for an orderly end, then does not reach
// the program first.
func ownGroup(cmd *exec.Cmd) { cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} }

// killGroup kills the rest of the program's group.
func killGroup(cmd *exec.Cmd) { _ = syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
