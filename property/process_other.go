//go:build !unix

package property

import "os/exec"

// ownGroup does nothing: this system has no process groups.
func ownGroup(*exec.Cmd) {}

// killGroup ends the program.
func killGroup(cmd *exec.Cmd) { _ = cmd.Process.Kill() }
