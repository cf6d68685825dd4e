package main

import (
	"runtime"
	"runtime/debug"
	"strings"
)

// A program is what is known of the program.
type program struct {
	Version  string `json:"version"`
	Commit   string `json:"commit,omitempty"`
	Modified bool   `json:"modified"` // whether the sources differed from the commit
	Go       string `json:"go"`
	Platform string `json:"platform"`
}

// thisProgram reads what the go command wrote into the program when it built it, so that
// there is no second place where a version could be wrong.
func thisProgram() program {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		info = &debug.BuildInfo{}
	}
	return programOf(info)
}

// programOf tells what a build is. Its version is that of the module it was installed as;
// in a clone the tag of the commit, or what the go command makes of the commit and the last
// tag before it. Sources without either, and go run, are "devel".
func programOf(info *debug.BuildInfo) program {
	b := program{Version: "devel", Go: runtime.Version(), Platform: runtime.GOOS + "/" + runtime.GOARCH}
	if v, ok := strings.CutPrefix(info.Main.Version, "v"); ok {
		b.Version = v
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
