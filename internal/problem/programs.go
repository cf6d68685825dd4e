package problem

import (
	"context"
	"encoding/hex"
	"path/filepath"

	"kir/internal/problem/yaml"
)

// Programs returns the commands that a problem names, and runs none. A text that is
// not nil stands instead of what the file holds.
func Programs(ctx context.Context, path string, text []byte) ([]*Command, error) {
	var sum []byte
	files := &yaml.Files{Dir: filepath.Dir(path), Taken: func(_ string, is []byte, _ int64) { sum = is }}
	root, err := readText(ctx, files, path, text)
	if err != nil {
		return nil, err
	}
	var all []*Command
	properties := root.Get("properties")
	if properties == nil {
		return nil, nil
	}
	for _, e := range properties.Entries {
		if n := e.Value.Get("program"); n != nil {
			c, err := readCommand(n, files.Dir, hex.EncodeToString(sum))
			if err != nil {
				return nil, err
			}
			all = append(all, c)
		}
	}
	return all, nil
}
