package problem

import (
	"cmp"
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
	if err != nil {
		return nil, err
	}
	return all, nil
}

// programsOf returns the commands that a problem in a directory names, where the first
// stands, and what is wrong with others.
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
		c, bad := readCommand(ctx, n, dir)
		if bad != nil {
			err = cmp.Or(err, bad)
			continue
		}
		if all = append(all, c); first == nil {
			first = n.Get("command")
		}
	}
	return all, first, err
}
