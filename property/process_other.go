//go:build !unix

package property

import "os/exec"

// ownGroup does nothing: this system has no process groups.
func ownGroup(*exec.Cmd) {}

// killGroup kills the program. This system has no process groups, so child processes may remain.
func killGroup(cmd *exec.Cmd) { _ = cmd.Process.Kill() }
