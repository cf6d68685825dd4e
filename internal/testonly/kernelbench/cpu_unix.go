//go:build unix

package kernelbench

import "syscall"

// CPU returns the seconds of processor time that this process has used.
func CPU() float64 {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		panic(err) // it fails for wrong arguments only
	}
	return float64(u.Utime.Nano()+u.Stime.Nano()) / 1e9
}
