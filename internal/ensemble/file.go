package ensemble

import (
	"fmt"
	"io"
)

// maxBytes is the greatest size of a model file.
const maxBytes = 1 << 30

// ReadFile reads a model file of at most 1 GiB.
func ReadFile(r io.Reader) ([]byte, error) {
	data, err := io.ReadAll(io.LimitReader(r, maxBytes+1))
	if err == nil && len(data) > maxBytes {
		err = fmt.Errorf("the file has more than %d bytes", maxBytes)
	}
	return data, err
}
