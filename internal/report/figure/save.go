package figure

import (
	"bytes"
	"io"
	"path/filepath"
)

// Save writes a figure as SVG and as PNG into a directory, in files that are named after the
// figure. It writes each file by calling save, and returns the paths of the files.
func Save(f *Figure, dir string, save func(path string, data []byte) error) (files []string, err error) {
	for _, format := range []struct {
		ending string
		write  func(w io.Writer, f *Figure) error
	}{{".svg", WriteSVG}, {".png", WritePNG}} {
		var b bytes.Buffer
		if err := format.write(&b, f); err != nil {
			return nil, err
		}
		path := filepath.Join(dir, f.Name+format.ending)
		if err := save(path, b.Bytes()); err != nil {
			return nil, err
		}
		files = append(files, path)
	}
	return files, nil
}

// IsFigure reports whether a file that begins with the given bytes is an SVG file of this package.
func IsFigure(begin []byte) bool {
	return bytes.HasPrefix(begin, []byte(svgBegin)) && bytes.Contains(begin[:min(len(begin), 1<<8)], []byte(svgTitleStart))
}
