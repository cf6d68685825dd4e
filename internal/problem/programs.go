package problem

import (
	"context"
	"path/filepath"

	"kir/internal/problem/yaml"
)

// Programs returns the commands that a problem names, and runs none. A text that is
// not nil stands instead of what the file holds.
func Programs(ctx context.Context, path string, text []byte) ([]*Command, error) {
	files := &yaml.Files{Dir: filepath.Dir(path), Taken: func(string, []byte, int64) {}}
	root, err := readText(ctx, files, path, text)
	if err != nil {
		return nil, err
	}
	all, _, err := programsOf(ctx, root, files.Dir)
	return all, err
}

// programsOf returns the commands that a problem in a directory names, and where the
// first stands.
func programsOf(ctx context.Context, root *yaml.Node, dir string) (all []*Command, first *yaml.Node, err error) {
	properties := root.Get("properties")
	if properties == nil {
		return nil, nil, nil
	}
	for _, e := range properties.Entries {
		n := e.Value.Get("program")
		if n == nil {
			continue
		}
		c, err := readCommand(ctx, n, dir)
		if err != nil {
			return nil, nil, err
		}
		if all = append(all, c); first == nil {
			first = n.Get("command")
		}
	}
	return all, first, nil
}
