package figure

import (
	"bytes"
	"io"
	"path/filepath"
)

// Save writes a figure into a directory, as an SVG file and as a PNG file named after the figure.
// It calls the function save to write each file, and returns the paths of the files.
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

// IsFigure reports whether a file is an SVG file written by this package. The parameter begin is
// the beginning of the file.
func IsFigure(begin []byte) bool {
	return bytes.HasPrefix(begin, []byte(svgFileStart)) && bytes.Contains(begin[:min(len(begin), 1<<8)], []byte(svgTitleStart))
}
