package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"go/ast"
	"go/importer"
	"go/parser"
	"go/token"
	"go/types"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
)

// errGone says that what a change takes away is not there.
var errGone = errors.New("the file is another")

// source returns a file with a change made.
func (h *house) source(e edit) ([]byte, error) {
	src, err := os.ReadFile(filepath.Join(h.root, e.File))
	if err != nil {
		return nil, err
	}
	end := e.Offset + len(e.Old)
	if len(src) < end || string(src[e.Offset:end]) != e.Old {
		return nil, fmt.Errorf("%s:%d: %w", e.File, e.Line, errGone)
	}
	return slices.Concat(src[:e.Offset], []byte(e.New), src[end:]), nil
}

// builds says whether a package holds together with a change made in it: it is
// checked, not built, which takes a tenth of the time.
func (h *house) builds(ctx context.Context, e edit, path string) (bool, error) {
	if h.imports == nil {
		if err := h.export(ctx); err != nil {
			return false, err
		}
	}
	src, err := h.source(e)
	if err != nil {
		return false, err
	}
	var files []*ast.File
	p := h.packages[path]
	for _, name := range p.GoFiles {
		var text any
		if filepath.Base(e.File) == name {
			text = src
		}
		f, err := parser.ParseFile(h.set, filepath.Join(p.Dir, name), text, parser.SkipObjectResolution)
		if err != nil {
			return false, nil
		}
		files = append(files, f)
	}
	_, err = (&types.Config{Importer: h.imports}).Check(path, h.set, files, nil)
	return err == nil, nil
}

// export builds every package, and reads from then on what each exports.
func (h *house) export(ctx context.Context) error {
	list := exec.CommandContext(ctx, "go", "list", "-export", "-deps", "-json=ImportPath,Export", "./...")
	list.Dir = h.root
	out, err := list.Output()
	if err != nil {
		return fmt.Errorf("go list -export: %w", err)
	}
	exports := make(map[string]string)
	for d := json.NewDecoder(bytes.NewReader(out)); ; {
		var p struct{ ImportPath, Export string }
		if err := d.Decode(&p); errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			return err
		}
		exports[p.ImportPath] = p.Export
	}
	h.set = token.NewFileSet()
	h.imports = importer.ForCompiler(h.set, "gc", func(path string) (io.ReadCloser, error) { return os.Open(exports[path]) })
	return nil
}
