// Package file is the one way in which kir opens files to read and writes files whole.
//
// Whoever gave kir a directory, a problem's or a run's, may have put a link, a pipe or a
// device in the place of a file. A file that a person or a problem names is opened by
// [Open] or [OpenInput], which follow links and take nothing but what can be read to an end.
// The files that kir keeps for itself, in a run and beside a problem, are in a [Dir],
// below which no link is followed, neither to read nor to write.
package file

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"time"

	"kir/internal/fault"
)

// ErrNotRegular is behind the error of something that is there in the place of a file
// and is none, such as a device.
var ErrNotRegular = errors.New("not a regular file")

// NotRegularError is the error of what is in the place of a file, [ErrNotRegular].
func NotRegularError(path string, mode fs.FileMode) error {
	return &fault.Error{File: path, Message: "this is " + describeKind(mode) + ", not a regular file", Hint: "put the file itself in its place", Err: ErrNotRegular}
}

// notDirectoryError is the error of what is in the place of a directory.
func notDirectoryError(path string, mode fs.FileMode) error {
	what := "a file"
	if !mode.IsRegular() {
		what = describeKind(mode)
	}
	return &fault.Error{File: path, Message: "this is " + what + ", not a directory", Hint: "put the directory itself in its place", Err: ErrNotRegular}
}

// describeKind says what a file is that is no regular one.
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

// Open opens a regular file to read, until ctx ends; links to it are followed. What is no
// regular file is [ErrNotRegular], and is not waited for.
func Open(ctx context.Context, path string) (io.ReadCloser, error) {
	// Looking first is for devices, which may do something when they are opened.
	info, err := os.Stat(path)
	if err != nil {
		return nil, err
	}
	if info.IsDir() {
		return nil, &fault.Error{File: path, Message: "this is a directory", Hint: "name a file"}
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

// openRegular opens a file that was seen to be a regular one, and sees that it still is, and
// the same one, where that is known.
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

// OpenInput opens what a person named to read: a regular file, or a pipe, which is waited for
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

// ErrTooLong is behind the error of a file that has more than it should.
var ErrTooLong = errors.New("the file is too long")

// tooLongError is the error of a file that has more than it may.
func tooLongError(path string, most int64) error {
	return &fault.Error{File: path, Message: fmt.Sprintf("the file has more than %d bytes", most), Hint: "is it the right one?", Err: ErrTooLong}
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
