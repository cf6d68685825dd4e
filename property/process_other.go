//go:build !unix

package property

import "os/exec"

// setOwnGroup does nothing: this system has no process groups.
func setOwnGroup(*exec.Cmd) {}

// killGroup kills the program. This system has no process groups, so child processes may remain.
func killGroup(cmd *exec.Cmd) { _ = cmd.Process.Kill() }
