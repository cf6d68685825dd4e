//go:build unix

package property

import (
	"os/exec"
	"syscall"
)

// setOwnGroup makes the external program the leader of a new process group. Then killGroup can end its child
// processes, too, and an interrupt from a terminal reaches only kir. kir then ends the program in order.
func setOwnGroup(cmd *exec.Cmd) { cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} }

// killGroup kills the external program and all other processes of its group.
func killGroup(cmd *exec.Cmd) { _ = syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
