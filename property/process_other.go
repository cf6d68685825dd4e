//go:build !unix

package property

import "os/exec"

// setOwnGroup does nothing, because this operating system has no process groups.
func setOwnGroup(*exec.Cmd) {}

// killGroup kills the external program. This operating system has no process groups, so child processes of the
// program may remain.
func killGroup(cmd *exec.Cmd) { _ = cmd.Process.Kill() }
