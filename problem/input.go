package problem

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"hash"
	"io"
	"os"
	"path/filepath"

	"kir/fault"
)

// An Input is a file that a problem was read from.
type Input struct {
	Path   string `json:"path"`   // as the problem names it; the problem file itself by its base name
	SHA256 string `json:"sha256"` // hexadecimal
	Bytes  int64  `json:"bytes"`
}

// inputFile reads a file and takes down what it read.
type inputFile struct {
	ctx   context.Context
	file  *os.File
	hash  hash.Hash
	bytes int64
}

func (f *inputFile) Read(p []byte) (int, error) {
	if err := f.ctx.Err(); err != nil {
		return 0, err // a pipe may never end
	}
	n, err := f.file.Read(p)
	f.hash.Write(p[:n])
	f.bytes += int64(n)
	return n, err
}

// open opens a file to read. What the user can mend is a [fault.Error].
func open(ctx context.Context, path string) (*inputFile, error) {
	file, err := os.Open(path)
	switch {
	case errors.Is(err, os.ErrNotExist):
		return nil, &fault.Error{File: path, Message: "there is no such file", Hint: "check the path", Err: err}
	case errors.Is(err, os.ErrPermission):
		return nil, &fault.Error{File: path, Message: "the file may not be read", Hint: "check its permissions", Err: err}
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
	return &inputFile{ctx: ctx, file: file, hash: sha256.New()}, nil
}

// readInput reads a whole file of at most largest bytes.
func (l *loader) readInput(path string, largest int64) ([]byte, error) {
	f, err := open(l.ctx, path)
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
	l.takeDown(filepath.Base(path), f)
	return b.Bytes(), nil
}

// readNamed reads the file that a node names and takes it down among the
// inputs. read gets it as a stream, and the path for messages.
func (l *loader) readNamed(n *node, what string, read func(r io.Reader, path string) error) (err error) {
	name, err := n.str(what)
	if err != nil {
		return err
	}
	path := name
	if !filepath.IsAbs(path) {
		path = filepath.Join(l.dir, name)
	}
	f, err := open(l.ctx, path)
	if bad := (*fault.Error)(nil); errors.As(err, &bad) {
		// The place to mend is where the file is named.
		return hint(n.errorf("%s: %s", fault.Quote(name), bad.Message), "paths are relative to the problem file; looked for %s", path)
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
	l.takeDown(name, f)
	return nil
}

func (l *loader) takeDown(name string, f *inputFile) {
	l.problem.Inputs = append(l.problem.Inputs, Input{Path: name, SHA256: hex.EncodeToString(f.hash.Sum(nil)), Bytes: f.bytes})
}
