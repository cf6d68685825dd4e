package main

import (
	"runtime"
	"runtime/debug"
	"strings"
)

// A buildDescription tells from which sources and how the running kir was built.
type buildDescription struct {
	Version  string `json:"version"`
	Commit   string `json:"commit,omitempty"`
	Modified bool   `json:"modified"` // whether the sources differed from the sources of the commit
	Go       string `json:"go"`
	Platform string `json:"platform"`
}

// currentBuild returns the description of the running program. It uses the build data that the go command has
// written into the executable.
func currentBuild() buildDescription {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		info = &debug.BuildInfo{}
	}
	return describeBuild(info)
}

// describeBuild converts the build data of the go command to a description. The version is one of these:
//   - The version of the module, if the module was installed.
//   - In a clone, the tag of the commit, or the version that the go command derives from the commit and the
//     last tag before it.
//   - Otherwise "devel", also with go run.
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
