package main

import (
	"bytes"
	"strings"
	"testing"
)

// TestUsage: kir --help lists every command under a heading, and no flag that needs no argument
// looks as if it took one; it still takes one.
func TestUsage(t *testing.T) {
	for _, c := range newRootCommand().Commands() {
		if c.GroupID == "" {
			t.Errorf("kir --help lists %s under no heading", c.Name())
		}
		var help bytes.Buffer
		root := newRootCommand()
		root.SetArgs([]string{c.Name(), "--help"})
		root.SetOut(&help)
		if err := root.ExecuteContext(t.Context()); err != nil {
			t.Errorf("kir %s --help: %v", c.Name(), err)
		}
		if !strings.Contains(help.String(), "--help ") || strings.Contains(help.String(), "true|false") {
			t.Errorf("kir %s --help prints\n%s", c.Name(), help.String())
		}
	}
	root := newRootCommand()
	root.SetArgs([]string{"version", "--json=false"})
	root.SetOut(new(bytes.Buffer))
	if err := root.ExecuteContext(t.Context()); err != nil {
		t.Error(err)
	}
}
