package run

import (
	"context"
	"errors"
	"fmt"

	"kir/internal/file"
)

// A Store keeps the files of a run: a [Directory], or a bucket of package bucket. Names are paths
// with slashes, such as draws/chain=0000/part-00000.parquet. Whatever happens to a process, a file
// is always either whole or absent.
type Store interface {
	// Location returns the location of the run, as commands accept it.
	Location() string
	// Path returns the location of a file, for display.
	Path(name string) string
	// Create creates a file. The data have reached the disk when it returns. If the
	// file exists, Create leaves it unchanged and returns fs.ErrExist. If several
	// processes create one file, exactly one succeeds.
	Create(ctx context.Context, name string, data []byte) error
	// Replace creates a file, or overwrites an existing one.
	Replace(ctx context.Context, name string, data []byte) error
	// Read returns length bytes of a file from an offset on, or fewer at its end.
	// If length is negative, it returns all. If the file does not exist, the error
	// is fs.ErrNotExist.
	Read(ctx context.Context, name string, offset, length int64) ([]byte, error)
	// List returns the files whose names begin with a prefix, by name.
	List(ctx context.Context, prefix string) ([]File, error)
	// Remove removes a file. If there is none, it does nothing.
	Remove(ctx context.Context, name string) error
}

// A File is an entry of [Store.List].
type File struct {
	Name string
	Size int64
}

// The largest sizes of a run's files. The files may come from someone else and be malformed.
const (
	mostManifest = 128 << 20 // names, of which 10⁶ may have 100 letters
	mostProblem  = 64 << 20
	mostState    = 64 << 20
)

// ReadWhole reads a file of at most the given number of bytes. A larger file is [ErrDamaged].
func ReadWhole(ctx context.Context, store Store, name string, most int64) ([]byte, error) {
	var data []byte
	var err error
	if d, ok := store.(*directory); ok { // which sees the length before it reads
		data, err = d.dir.Read(name, most)
	} else {
		data, err = store.Read(ctx, name, 0, most+1)
	}
	if errors.Is(err, file.ErrTooLong) || err == nil && int64(len(data)) > most {
		return nil, fmt.Errorf("%s: %w: it has more than %d bytes", store.Path(name), ErrDamaged, most)
	}
	return data, err
}
