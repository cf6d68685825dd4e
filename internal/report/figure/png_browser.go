//go:build browser

package figure

import (
	"errors"
	"io"
)

// WritePNG fails: the program of a browser shows figures as SVG, and has no font to load.
func WritePNG(io.Writer, *Figure) error {
	return errors.New("figure: PNG figures are not part of the program for browsers")
}
