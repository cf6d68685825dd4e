// Package file opens files to read and writes files whole; kir uses no other functions for either.
//
// The author of a directory that kir is given, of a problem or a run, may have put a link, a pipe
// or a device in the place of a file. [Open] or [OpenInput] opens a file that a person or a problem
// names. These functions follow links, and accept only files that can be read to an end. The files
// that kir keeps for itself, in a run and beside a problem, are in a [Dir]. Below a Dir kir follows
// no link, neither to read nor to write.
package file

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"time"

	"kir/internal/inputerr"
)

// ErrNotRegular is the error for an existing path that is not a regular file, such as a device.
var ErrNotRegular = errors.New("not a regular file")

// NotRegularError returns an error that says which kind of file the path is, instead of a regular
// file. The error wraps [ErrNotRegular].
func NotRegularError(path string, mode fs.FileMode) error {
	return &inputerr.Error{File: path, Message: "this is " + describeKind(mode) + ", not a regular file", Hint: "put the file itself in its place", Err: ErrNotRegular}
}

// notDirectoryError returns an error that says which kind of file the path is, instead of a
// directory. The error wraps [ErrNotRegular].
func notDirectoryError(path string, mode fs.FileMode) error {
	what := "a file"
	if !mode.IsRegular() {
		what = describeKind(mode)
	}
	return &inputerr.Error{File: path, Message: "this is " + what + ", not a directory", Hint: "put the directory itself in its place", Err: ErrNotRegular}
}

// describeKind names a kind of file, such as "a named pipe". The file must not be regular.
func describeKind(mode fs.FileMode) string {
	switch {
	case mode.IsDir():
		return "a directory"
	case mode&fs.ModeSymlink != 0:
		return "a link"
	case mode&fs.ModeNamedPipe != 0:
		return "a named pipe"
	case mode&fs.ModeSocket != 0:
		return "a socket"
	case mode&fs.ModeDevice != 0:
		return "a device"
	}
	return "something else"
}

// Open opens a regular file for reading. Links to the file are followed. Reading fails once ctx has
// ended. If the path is a device or a pipe, Open returns an error that wraps [ErrNotRegular]. If it
// is a directory, the error does not wrap [ErrNotRegular].
func Open(ctx context.Context, path string) (io.ReadCloser, error) {
	open := func() (*os.File, error) { return os.OpenFile(path, os.O_RDONLY|openNonblocking, 0) }
	if c := confinerOf(ctx); c != nil {
		if err := c.check(path); err != nil {
			return nil, err
		}
		open = func() (*os.File, error) { return c.open(path) }
	}
	// The file is checked before it is opened, because opening a device may have effects.
	info, err := os.Stat(path)
	if err != nil {
		return nil, err
	}
	if info.IsDir() {
		return nil, &inputerr.Error{File: path, Message: "this is a directory", Hint: "name a file"}
	}
	if !info.Mode().IsRegular() {
		return nil, NotRegularError(path, info.Mode())
	}
	f, err := openRegular(path, open, nil)
	if err != nil {
		return nil, err
	}
	return &cancellableFile{ctx, f}, nil
}

// A cancellableFile is an open file. Reading it fails once its context has ended.
type cancellableFile struct {
	ctx  context.Context
	file *os.File
}

func (s *cancellableFile) Read(p []byte) (int, error) {
	if err := s.ctx.Err(); err != nil {
		return 0, err // a pipe may never end
	}
	n, err := s.file.Read(p)
	if errors.Is(err, os.ErrDeadlineExceeded) {
		err = s.ctx.Err()
	}
	return n, err
}

func (s *cancellableFile) Close() error { return s.file.Close() }

// openRegular calls open, and returns the opened file. Before, the path was found to be a regular
// file; but the file may have been replaced since. So openRegular checks that the opened file is
// regular. If seen is not nil, the opened file must also be the same file as seen.
func openRegular(path string, open func() (*os.File, error), seen fs.FileInfo) (*os.File, error) {
	f, err := open()
	if err != nil {
		return nil, err
	}
	info, err := f.Stat()
	switch {
	case err != nil:
	case !info.Mode().IsRegular():
		err = NotRegularError(path, info.Mode())
	case seen != nil && !os.SameFile(seen, info):
		err = NotRegularError(path, fs.ModeSymlink)
	default:
		return f, nil
	}
	return nil, errors.Join(err, f.Close())
}

// OpenInput opens an input file that the user named: a regular file, or a pipe. For a pipe,
// OpenInput waits for the writer until ctx ends. In a context of [Confine] it opens no pipe.
func OpenInput(ctx context.Context, path string) (io.ReadCloser, error) {
	if confinerOf(ctx) != nil {
		return Open(ctx, path)
	}
	info, err := os.Stat(path)
	if err != nil || info.Mode()&fs.ModeNamedPipe == 0 {
		return Open(ctx, path)
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
		if o.err != nil {
			return nil, o.err
		}
		context.AfterFunc(ctx, func() { o.file.SetReadDeadline(time.Unix(1, 0)) })
		return &cancellableFile{ctx, o.file}, nil
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// ErrTooLong is the error for a file larger than allowed.
var ErrTooLong = errors.New("the file is too long")

// tooLongError returns the error for a file of more than maxBytes bytes. The error wraps
// [ErrTooLong].
func tooLongError(path string, maxBytes int64) error {
	return &inputerr.Error{File: path, Message: fmt.Sprintf("the file has more than %d bytes", maxBytes), Hint: "is it the right one?", Err: ErrTooLong}
}

// readAll reads a file of at most maxBytes bytes to its end. For a larger file the error wraps
// [ErrTooLong].
func readAll(f *os.File, path string, maxBytes int64) ([]byte, error) {
	if info, err := f.Stat(); err == nil && info.Size() > maxBytes {
		return nil, tooLongError(path, maxBytes)
	}
	data, err := io.ReadAll(io.LimitReader(f, maxBytes+1))
	if err == nil && int64(len(data)) > maxBytes {
		err = tooLongError(path, maxBytes)
	}
	return data, err
}
