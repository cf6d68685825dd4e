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
	"time"

	"kir/internal/fault"
)

// Files opens what a file names. Paths are relative to its directory.
type Files struct {
	Dir string

	// Allow says, as an error, which paths may not be opened; nil: all may.
	Allow func(path string) error

	// Taken is told of each file that was read whole: the name under which it
	// was asked for, its SHA-256 and its size.
	Taken func(name string, sum []byte, bytes int64)
}

// openFile reads a file and takes down what it read.
type openFile struct {
	ctx   context.Context
	file  *os.File
	hash  hash.Hash
	bytes int64
}

func (f *openFile) Read(p []byte) (int, error) {
	if err := f.ctx.Err(); err != nil {
		return 0, err // a pipe may never end
	}
	n, err := f.file.Read(p)
	if errors.Is(err, os.ErrDeadlineExceeded) {
		err = f.ctx.Err()
	}
	f.hash.Write(p[:n])
	f.bytes += int64(n)
	return n, err
}

// open opens a file to read. What the user can mend is a [fault.Error].
func open(ctx context.Context, path string) (*openFile, error) {
	file, err := openWithin(ctx, path)
	switch {
	case errors.Is(err, os.ErrNotExist):
		return nil, &fault.Error{File: path, Message: "there is no such file", Hint: "check the path", Err: err}
	case errors.Is(err, os.ErrPermission):
		return nil, &fault.Error{File: path, Message: "the file may not be read", Hint: "check its permissions", Err: err}
	case ctx.Err() != nil:
		return nil, ctx.Err()
	case err != nil:
		return nil, &fault.Error{File: path, Message: "the file cannot be opened", Hint: err.Error(), Err: err}
	}
	info, err := file.Stat()
	if err != nil {
		file.Close()
		return nil, err
	}
	if info.IsDir() {
		file.Close()
		return nil, &fault.Error{File: path, Message: "this is a directory", Hint: "name a file"}
	}
	return &openFile{ctx: ctx, file: file, hash: sha256.New()}, nil
}

// openWithin opens a file. A pipe that nobody writes to is waited for until ctx ends,
// and is not read from then on.
func openWithin(ctx context.Context, path string) (*os.File, error) {
	if info, err := os.Stat(path); err != nil || info.Mode()&os.ModeNamedPipe == 0 {
		return os.Open(path)
	}
	type opened struct {
		file *os.File
		err  error
	}
	done := make(chan opened)
	go func() {
		file, err := os.Open(path)
		select {
		case done <- opened{file, err}:
		case <-ctx.Done():
			file.Close()
		}
	}()
	select {
	case o := <-done:
		if o.err == nil {
			context.AfterFunc(ctx, func() { o.file.SetReadDeadline(time.Unix(1, 0)) })
		}
		return o.file, o.err
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// ReadFile reads a whole file of at most largest bytes, whose path is as it is.
func (s *Files) ReadFile(ctx context.Context, path string, largest int64) ([]byte, error) {
	f, err := open(ctx, path)
	if err != nil {
		return nil, err
	}
	defer f.file.Close()
	var b bytes.Buffer
	if _, err := io.Copy(&b, io.LimitReader(f, largest+1)); err != nil {
		return nil, fmt.Errorf("reading %s: %w", path, err)
	}
	if f.bytes > largest {
		return nil, &fault.Error{File: path, Message: fmt.Sprintf("the file has more than %d bytes", largest), Hint: "is it the right one?"}
	}
	s.Taken(filepath.Base(path), f.hash.Sum(nil), f.bytes)
	return b.Bytes(), nil
}

// Read reads the file that a node names. what is how messages call that name.
// read gets the file as a stream, and the path for messages.
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
			return Hint(n.Errorf("%s: %v", fault.Quote(name), err), "name a file beside the problem")
		}
	}
	f, err := open(ctx, path)
	if bad := (*fault.Error)(nil); errors.As(err, &bad) {
		// The place to mend is where the file is named.
		return Hint(n.Errorf("%s: %s", fault.Quote(name), bad.Message), "paths are relative to the problem file; looked for %s", path)
	} else if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, f.file.Close()) }()
	if err := read(f, path); err != nil {
		return err
	}
	// What was left unread, if anything, is part of the input all the same.
	if _, err := io.Copy(io.Discard, f); err != nil {
		return err
	}
	s.Taken(name, f.hash.Sum(nil), f.bytes)
	return nil
}
