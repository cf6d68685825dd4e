package main

import "runtime/debug"

// release is the version that the CHANGELOG describes.
const release = "0.1.0"

// version returns the release and, where the build knows it, the commit.
func version() string {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return release
	}
	v := release
	modified := false
	for _, s := range info.Settings {
		switch {
		case s.Key == "vcs.revision" && len(s.Value) >= 12:
			v += "+" + s.Value[:12]
		case s.Key == "vcs.modified":
			modified = s.Value == "true"
		}
	}
	if modified {
		v += ".modified"
	}
	return v
}
