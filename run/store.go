package run

import (
	"context"
	"net/url"
	"strings"
)

// A Store keeps the files of a run: a directory, or a prefix in a bucket. Names
// are paths with slashes, such as draws/chain=0000/part-00000.parquet. At any
// moment, whatever happens to a process, a file is whole or not there.
type Store interface {
	// Create makes a file of data that has reached the disk when it returns. A
	// file that is there already is left as it is: the error is fs.ErrExist. Of
	// several processes that create one file, one does.
	Create(ctx context.Context, name string, data []byte) error
	// Replace makes data the contents of a file, whether or not it is there.
	Replace(ctx context.Context, name string, data []byte) error
	// Read returns so many bytes of a file from an offset on, or less where it
	// ends; all of them if length is negative. The error of a file that is not
	// there is fs.ErrNotExist.
	Read(ctx context.Context, name string, offset, length int64) ([]byte, error)
	// List returns the files whose names begin with a prefix, by name.
	List(ctx context.Context, prefix string) ([]File, error)
	// Remove removes a file; one that is not there is none to remove.
	Remove(ctx context.Context, name string) error
}

// A File is what a Store lists.
type File struct {
	Name string
	Size int64
}

// OpenStore returns the store at a location: a directory, which need not be there
// yet, or s3://bucket/prefix; see [OpenBucket].
func OpenStore(location string) (Store, error) {
	if IsBucket(location) {
		return OpenBucket(location)
	}
	return &directory{path: location}, nil
}

// IsBucket says whether a location is in a bucket.
func IsBucket(location string) bool { return strings.HasPrefix(location, "s3://") }

// within returns the location of a file of a run, to be shown.
func within(location, name string) string {
	if !IsBucket(location) {
		return (&directory{path: location}).join(name)
	}
	at, err := url.Parse(location)
	if err != nil {
		return location + "/" + name
	}
	at.RawQuery = ""
	return strings.TrimSuffix(at.String(), "/") + "/" + name
}

// ReadFile returns a file of the run at a location.
func ReadFile(ctx context.Context, location, name string) ([]byte, error) {
	s, err := OpenStore(location)
	if err != nil {
		return nil, err
	}
	return s.Read(ctx, name, 0, -1)
}

// WriteFile makes data the contents of a file of the run at a location: at any
// moment the file holds all of what it held before or all of data.
func WriteFile(ctx context.Context, location, name string, data []byte) error {
	s, err := OpenStore(location)
	if err != nil {
		return err
	}
	return s.Replace(ctx, name, data)
}
