package run

import (
	"context"
	"errors"
	"fmt"

	"kir/internal/file"
)

// A Store keeps the files of a run: see [NewDirectoryStore], [NewMemoryStore] and package bucket.
// Names of files are paths with slashes, such as draws/chain=0000/part-00000.parquet. Whatever
// happens to a process, a file is always either whole or absent.
type Store interface {
	// Location returns the location of the run, in the form in which the user names it on the
	// command line.
	Location() string
	// Path returns the location of the file with the given name, for display.
	Path(name string) string
	// Create creates a file. The data have reached the disk when Create returns. If the file
	// exists, Create leaves the file unchanged and returns fs.ErrExist. If several processes create
	// one file, exactly one succeeds.
	Create(ctx context.Context, name string, data []byte) error
	// Replace creates a file, or overwrites an existing one.
	Replace(ctx context.Context, name string, data []byte) error
	// Read returns length bytes of a file from an offset on, or fewer where the file ends. If
	// length is negative, Read returns everything from the offset on. If the file does not exist,
	// the error is fs.ErrNotExist.
	Read(ctx context.Context, name string, offset, length int64) ([]byte, error)
	// List returns the files whose names begin with a prefix, sorted by name.
	List(ctx context.Context, prefix string) ([]File, error)
	// Remove removes a file. If there is no such file, Remove does nothing.
	Remove(ctx context.Context, name string) error
}

// A File is a file in a [Store], as listed by its method List.
type File struct {
	Name string
	Size int64
}

// The largest sizes of files of a run, in bytes. The files may come from someone else and be
// malformed.
const (
	maxManifestBytes = 128 << 20 // enough for the names of 10⁶ ingredients with 100 letters each
	maxProblemBytes  = 64 << 20
	maxStateBytes    = 64 << 20
)

// ReadWhole reads a file of at most the given number of bytes. For a larger file the error wraps
// [ErrDamaged].
func ReadWhole(ctx context.Context, store Store, name string, maxBytes int64) ([]byte, error) {
	var data []byte
	var err error
	if d, ok := store.(*directoryStore); ok { // which sees the length before it reads
		data, err = d.dir.Read(name, maxBytes)
	} else {
		data, err = store.Read(ctx, name, 0, maxBytes+1)
	}
	if errors.Is(err, file.ErrTooLong) || err == nil && int64(len(data)) > maxBytes {
		return nil, fmt.Errorf("%s: %w: it has more than %d bytes", store.Path(name), ErrDamaged, maxBytes)
	}
	return data, err
}
