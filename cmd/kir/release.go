package main

import (
	"runtime"
	"runtime/debug"
	"strings"
)

// A buildDescription holds the version and the build of kir.
type buildDescription struct {
	Version  string `json:"version"`
	Commit   string `json:"commit,omitempty"`
	Modified bool   `json:"modified"` // whether the sources differed from the commit
	Go       string `json:"go"`
	Platform string `json:"platform"`
}

// currentBuild returns the description of the running program. It reads the data that the go command wrote into the
// binary, so that the version has a single source.
func currentBuild() buildDescription {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		info = &debug.BuildInfo{}
	}
	return describeBuild(info)
}

// describeBuild returns the description of a build. Its version is the version of the module that was installed. In
// a clone the version is the tag of the commit, or the version that the go command derives from the commit and the
// last tag before it. The version of sources without either, and of go run, is "devel".
func describeBuild(info *debug.BuildInfo) buildDescription {
	b := buildDescription{Version: "devel", Go: runtime.Version(), Platform: runtime.GOOS + "/" + runtime.GOARCH}
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
