package ensemble

import (
	"fmt"
	"io"
)

// maxBytes bounds the file of a model.
const maxBytes = 1 << 30

// ReadFile reads the file of a model, of at most 1 GiB.
func ReadFile(r io.Reader) ([]byte, error) {
	data, err := io.ReadAll(io.LimitReader(r, maxBytes+1))
	if err == nil && len(data) > maxBytes {
		err = fmt.Errorf("the file has more than %d bytes", maxBytes)
	}
	return data, err
}
