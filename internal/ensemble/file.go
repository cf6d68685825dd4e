package ensemble

import (
	"fmt"
	"io"
)

// maxFileBytes is the greatest size of a model file in bytes.
const maxFileBytes = 1 << 30

// ReadFile reads a model file of at most 1 GiB.
func ReadFile(r io.Reader) ([]byte, error) {
	data, err := io.ReadAll(io.LimitReader(r, maxFileBytes+1))
	if err == nil && len(data) > maxFileBytes {
		err = fmt.Errorf("the file has more than %d bytes", maxFileBytes)
	}
	return data, err
}
