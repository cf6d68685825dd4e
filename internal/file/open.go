// Package file opens files to read and writes files whole; kir uses nothing else for either.
//
// The author of a directory that kir is given, of a problem or a run, may have put a link, a pipe
// or a device in the place of a file. [Open] or [OpenInput] opens a file that a person or a problem
// names. They follow links and accept only files that can be read to an end. The files that kir
// keeps for itself, in a run and beside a problem, are in a [Dir]. Below it kir follows no link,
// neither to read nor to write.
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

// NotRegularError returns the error for a path that is not a regular file. It wraps
// [ErrNotRegular].
func NotRegularError(path string, mode fs.FileMode) error {
	return &inputerr.Error{File: path, Message: "this is " + describeKind(mode) + ", not a regular file", Hint: "put the file itself in its place", Err: ErrNotRegular}
}

// notDirectoryError returns the error for a path that is not a directory.
func notDirectoryError(path string, mode fs.FileMode) error {
	what := "a file"
	if !mode.IsRegular() {
		what = describeKind(mode)
	}
	return &inputerr.Error{File: path, Message: "this is " + what + ", not a directory", Hint: "put the directory itself in its place", Err: ErrNotRegular}
}

// describeKind describes the kind of a file that is not regular.
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

// Open opens a regular file to read, until ctx ends. It follows links to it. For anything else the
// error is [ErrNotRegular], and Open does not wait.
func Open(ctx context.Context, path string) (io.ReadCloser, error) {
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
	f, err := openRegular(path, func() (*os.File, error) { return os.OpenFile(path, os.O_RDONLY|openNonblocking, 0) }, nil)
	if err != nil {
		return nil, err
	}
	return &stream{ctx, f}, nil
}

// A stream is a file that is read until a context ends.
type stream struct {
	ctx  context.Context
	file *os.File
}

func (s *stream) Read(p []byte) (int, error) {
	if err := s.ctx.Err(); err != nil {
		return 0, err // a pipe may never end
	}
	n, err := s.file.Read(p)
	if errors.Is(err, os.ErrDeadlineExceeded) {
		err = s.ctx.Err()
	}
	return n, err
}

func (s *stream) Close() error { return s.file.Close() }

// openRegular opens a file that was seen to be regular. It checks that the opened file still is
// regular and, where the system can tell, the same one.
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

// OpenInput opens a file that a person named to read: a regular file, or a pipe, for which it waits
// until ctx ends.
func OpenInput(ctx context.Context, path string) (io.ReadCloser, error) {
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
		return &stream{ctx, o.file}, nil
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// ErrTooLong is the error for a file larger than allowed.
var ErrTooLong = errors.New("the file is too long")

// tooLongError returns the error for a file of more than most bytes. It wraps [ErrTooLong].
func tooLongError(path string, most int64) error {
	return &inputerr.Error{File: path, Message: fmt.Sprintf("the file has more than %d bytes", most), Hint: "is it the right one?", Err: ErrTooLong}
}

// readAll reads a file of at most so many bytes to its end.
func readAll(f *os.File, path string, most int64) ([]byte, error) {
	if info, err := f.Stat(); err == nil && info.Size() > most {
		return nil, tooLongError(path, most)
	}
	data, err := io.ReadAll(io.LimitReader(f, most+1))
	if err == nil && int64(len(data)) > most {
		err = tooLongError(path, most)
	}
	return data, err
}
