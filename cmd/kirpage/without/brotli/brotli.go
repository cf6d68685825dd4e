// Package brotli is what the program of a browser has of a codec that kir's draws never use:
// the names that package parquet is compiled with. See scripts/site-modules.
package brotli

import (
	"errors"
	"io"
)

var errWithout = errors.New("the page without a server neither reads nor writes brotli")

// WriterOptions are as those of the codec.
type WriterOptions struct{ Quality, LGWin int }

// A Writer fails.
type Writer struct{}

// NewWriterOptions returns a Writer.
func NewWriterOptions(io.Writer, WriterOptions) *Writer { return new(Writer) }

func (*Writer) Write([]byte) (int, error) { return 0, errWithout }

// Close fails.
func (*Writer) Close() error { return errWithout }

// Reset does nothing.
func (*Writer) Reset(io.Writer) {}

// A Reader fails.
type Reader struct{}

// NewReader returns a Reader.
func NewReader(io.Reader) *Reader { return new(Reader) }

func (*Reader) Read([]byte) (int, error) { return 0, errWithout }

// Reset does nothing.
func (*Reader) Reset(io.Reader) error { return nil }
