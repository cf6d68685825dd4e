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

// Files opens files that a problem names. Relative paths start at Dir.
type Files struct {
	Dir string

	// Allow returns an error for a path that must not be opened; nil allows all.
	Allow func(path string) error

	// OnRead is called for each file that was read whole, with the requested name, the SHA-256 and the
	// size.
	OnRead func(name string, sum []byte, bytes int64)
}

// An openFile reads a file, and hashes and counts the bytes read.
type openFile struct {
	file  io.ReadCloser
	hash  hash.Hash
	bytes int64
}

func (f *openFile) Read(p []byte) (int, error) {
	n, err := f.file.Read(p)
	f.hash.Write(p[:n])
	f.bytes += int64(n)
	return n, err
}

// openNamed opens a file for reading. Errors that the user can fix are a [inputerr.Error].
func openNamed(ctx context.Context, path string, how func(context.Context, string) (io.ReadCloser, error)) (*openFile, error) {
	opened, err := how(ctx, path)
	switch bad := (*inputerr.Error)(nil); {
	case err == nil:
		return &openFile{file: opened, hash: sha256.New()}, nil
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

// ReadFile reads a whole file of at most largest bytes. The user has named it, so it may be a pipe, and its
// path is used unchanged.
func (s *Files) ReadFile(ctx context.Context, path string, largest int64) ([]byte, error) {
	f, err := openNamed(ctx, path, file.OpenInput)
	if err != nil {
		return nil, err
	}
	defer f.file.Close()
	var b bytes.Buffer
	if _, err := io.Copy(&b, io.LimitReader(f, largest+1)); err != nil {
		return nil, fmt.Errorf("reading %s: %w", path, err)
	}
	if f.bytes > largest {
		return nil, &inputerr.Error{File: path, Message: fmt.Sprintf("the file has more than %d bytes", largest), Hint: "is it the right one?"}
	}
	s.OnRead(filepath.Base(path), f.hash.Sum(nil), f.bytes)
	return b.Bytes(), nil
}

// Read reads the file that a node names. what is the description of the name in messages. read gets the
// contents as a stream, and the path for messages.
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
	f, err := openNamed(ctx, path, file.Open) // only a regular file, because another person may have written the problem
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
	s.OnRead(name, f.hash.Sum(nil), f.bytes)
	return nil
}
