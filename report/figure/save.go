package figure

import (
	"bytes"
	"io"
	"os"
	"path/filepath"
)

// Save writes the figure as SVG and as PNG into a directory, under its name, and
// returns the files.
func (f *Figure) Save(dir string) (files []string, err error) {
	for _, format := range []struct {
		ending string
		write  func(w io.Writer) error
	}{{".svg", f.WriteSVG}, {".png", f.WritePNG}} {
		var b bytes.Buffer
		if err := format.write(&b); err != nil {
			return nil, err
		}
		path := filepath.Join(dir, f.Name+format.ending)
		if err := os.WriteFile(path, b.Bytes(), 0o666); err != nil {
			return nil, err
		}
		files = append(files, path)
	}
	return files, nil
}
