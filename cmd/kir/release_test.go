package main

import (
	"runtime/debug"
	"testing"
)

func TestProgramOf(t *testing.T) {
	vcs := func(modified string) []debug.BuildSetting {
		return []debug.BuildSetting{{Key: "vcs.revision", Value: "d52b70f"}, {Key: "vcs.modified", Value: modified}}
	}
	for name, c := range map[string]struct {
		main     string
		settings []debug.BuildSetting
		want     buildDescription
	}{
		"installed as a module": {"v1.2.3", nil, buildDescription{Version: "1.2.3"}},
		"built at a tag":        {"v1.2.3", vcs("false"), buildDescription{Version: "1.2.3", Commit: "d52b70f"}},
		"built after a tag":     {"v1.2.4-0.20261122075900-d52b70f01234+dirty", vcs("true"), buildDescription{Version: "1.2.4-0.20261122075900-d52b70f01234+dirty", Commit: "d52b70f", Modified: true}},
		"go run":                {"(devel)", nil, buildDescription{Version: "devel"}},
		"nothing known":         {"", nil, buildDescription{Version: "devel"}},
	} {
		got := describeBuild(&debug.BuildInfo{Main: debug.Module{Version: c.main}, Settings: c.settings})
		got.Go, got.Platform = "", ""
		if got != c.want {
			t.Errorf("%s: %+v, want %+v", name, got, c.want)
		}
	}
}
