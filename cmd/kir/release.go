package main

import (
	"runtime"
	"runtime/debug"
)

// release is the version that the CHANGELOG describes.
const release = "0.1.0"

// A program is what is known of the program.
type program struct {
	Version  string `json:"version"`
	Commit   string `json:"commit,omitempty"`
	Modified bool   `json:"modified"` // whether the sources differed from the commit
	Go       string `json:"go"`
	Platform string `json:"platform"`
}

func thisProgram() program {
	b := program{Version: release, Go: runtime.Version(), Platform: runtime.GOOS + "/" + runtime.GOARCH}
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return b
	}
	for _, s := range info.Settings {
		switch s.Key {
		case "vcs.revision":
			b.Commit = s.Value
		case "vcs.modified":
			b.Modified = s.Value == "true"
		}
	}
	return b
}

// version returns the release and, where the build knows it, the commit.
func version() string {
	b := thisProgram()
	v := b.Version
	if len(b.Commit) >= 12 {
		v += "+" + b.Commit[:12]
	}
	if b.Modified {
		v += ".modified"
	}
	return v
}
