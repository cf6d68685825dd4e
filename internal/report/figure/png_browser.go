//go:build browser

package figure

import (
	"errors"
	"io"
)

// WritePNG returns an error: the program for browsers shows figures as SVG and has no fonts.
func WritePNG(io.Writer, *Figure) error {
	return errors.New("figure: PNG figures are not part of the program for browsers")
}
