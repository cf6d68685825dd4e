package main

import (
	"runtime"
	"runtime/debug"
	"strings"
)

// A program holds the version and build of kir.
type program struct {
	Version  string `json:"version"`
	Commit   string `json:"commit,omitempty"`
	Modified bool   `json:"modified"` // whether the sources differed from the commit
	Go       string `json:"go"`
	Platform string `json:"platform"`
}

// thisProgram reads the data that the go command wrote into the binary, so that the version has a
// single source.
func thisProgram() program {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		info = &debug.BuildInfo{}
	}
	return programOf(info)
}

// programOf describes a build. Its version is that of the module it was installed as. In a clone it
// is the tag of the commit, or the go command's version from the commit and the last tag before it.
// Sources without either, and go run, are "devel".
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
