package yaml

import (
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"hash"
	"io"
	"os"
	"path/filepath"

	"kir/internal/file"
	"kir/internal/inputerr"
)

// Files opens files that a problem names.
type Files struct {
	Dir string // directory to which relative paths refer

	// Allow returns an error if the file at a path must not be opened. A nil Allow allows all files.
	Allow func(path string) error

	// OnRead is called after a file was read completely. The parameter name is the path as the problem file
	// writes it, sum is the SHA-256 of the contents, and bytes is the size.
	OnRead func(name string, sum []byte, bytes int64)
}

// A hashingFile is an open file. It computes a hash of the bytes that are read, and counts the bytes.
type hashingFile struct {
	file      io.ReadCloser
	hash      hash.Hash
	byteCount int64
}

func (f *hashingFile) Read(p []byte) (int, error) {
	n, err := f.file.Read(p)
	f.hash.Write(p[:n])
	f.byteCount += int64(n)
	return n, err
}

// openForReading opens a file by calling the function openFile. If the user can correct an error, the error is
// an [inputerr.Error].
func openForReading(ctx context.Context, path string, openFile func(context.Context, string) (io.ReadCloser, error)) (*hashingFile, error) {
	opened, err := openFile(ctx, path)
	switch bad := (*inputerr.Error)(nil); {
	case err == nil:
		return &hashingFile{file: opened, hash: sha256.New()}, nil
	case errors.Is(err, os.ErrNotExist):
		return nil, &inputerr.Error{File: path, Message: "there is no such file", Hint: "check the path", Err: err}
	case errors.Is(err, os.ErrPermission):
		return nil, &inputerr.Error{File: path, Message: "the file may not be read", Hint: "check its permissions", Err: err}
	case ctx.Err() != nil:
		return nil, ctx.Err()
	case errors.As(err, &bad):
		return nil, err
	default:
		return nil, &inputerr.Error{File: path, Message: "the file cannot be opened", Hint: err.Error(), Err: err}
	}
}

// ReadFile returns the contents of a file that the user has named, which may be a pipe. The path is not
// relative to Dir. A file of more than maxBytes bytes is an error.
func (s *Files) ReadFile(ctx context.Context, path string, maxBytes int64) ([]byte, error) {
	f, err := openForReading(ctx, path, file.OpenInput)
	if err != nil {
		return nil, err
	}
	defer f.file.Close()
	var b bytes.Buffer
	if _, err := io.Copy(&b, io.LimitReader(f, maxBytes+1)); err != nil {
		return nil, fmt.Errorf("reading %s: %w", path, err)
	}
	if f.byteCount > maxBytes {
		return nil, &inputerr.Error{File: path, Message: fmt.Sprintf("the file has more than %d bytes", maxBytes), Hint: "is it the right one?"}
	}
	s.OnRead(filepath.Base(path), f.hash.Sum(nil), f.byteCount)
	return b.Bytes(), nil
}

// Read opens the file that a node names. It calls the function read with the contents of the file and with the
// path for messages. The parameter what names the file in errors.
func (s *Files) Read(ctx context.Context, n *Node, what string, read func(r io.Reader, path string) error) (err error) {
	name, err := n.Str(what)
	if err != nil {
		return err
	}
	path := name
	if !filepath.IsAbs(path) {
		path = filepath.Join(s.Dir, name)
	}
	if s.Allow != nil {
		if err := s.Allow(path); err != nil {
			return Hint(n.Errorf("%s: %v", inputerr.Quote(name), err), "name a file beside the problem")
		}
	}
	f, err := openForReading(ctx, path, file.Open) // only a regular file, because another person may have written the problem
	if bad := (*inputerr.Error)(nil); errors.As(err, &bad) {
		// The user has to correct the node that names the file.
		return Hint(n.Errorf("%s: %s", inputerr.Quote(name), bad.Message), "paths are relative to the problem file; looked for %s", path)
	} else if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, f.file.Close()) }()
	if err := read(f, path); err != nil {
		return err
	}
	// The hash covers the whole file, even what read has not read.
	if _, err := io.Copy(io.Discard, f); err != nil {
		return err
	}
	s.OnRead(name, f.hash.Sum(nil), f.byteCount)
	return nil
}
