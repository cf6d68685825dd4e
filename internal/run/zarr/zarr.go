// Package zarr writes arrays as Zarr version 2, the layout of files that
// xarray.open_zarr and ArviZ read: a directory for each array and group, JSON
// that describes it, and a file for each chunk.
//
// The format is that of the specification at
// zarr-specs.readthedocs.io/en/latest/v2/v2.0.html, with xarray's convention
// that the attribute _ARRAY_DIMENSIONS names an array's dimensions, and with
// consolidated metadata, so that a reader opens one file instead of many.
package zarr

import (
	"bytes"
	"compress/zlib"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
	"unicode/utf8"
)

// A Store is a Zarr hierarchy.
type Store struct {
	write    func(name string, data []byte) error
	metadata map[string]json.RawMessage // by path, for .zmetadata
}

// Create makes a store, with attributes of its root, of files that are written to
// paths with slashes.
func Create(write func(name string, data []byte) error, attributes map[string]any) (*Store, error) {
	s := &Store{write: write, metadata: make(map[string]json.RawMessage)}
	return s, s.Group("", attributes)
}

// Group makes a group below the root.
func (s *Store) Group(name string, attributes map[string]any) error {
	if err := s.describe(join(name, ".zgroup"), map[string]any{"zarr_format": 2}); err != nil {
		return err
	}
	if attributes == nil {
		attributes = map[string]any{}
	}
	return s.describe(join(name, ".zattrs"), attributes)
}

func join(group, name string) string {
	if group == "" {
		return name
	}
	return group + "/" + name
}

// describe writes a file of metadata.
func (s *Store) describe(path string, v any) error {
	data, err := json.MarshalIndent(v, "", "  ")
	if err != nil {
		return err
	}
	s.metadata[path] = data
	return s.write(path, data)
}

// Close writes the consolidated metadata of the root and of each group.
func (s *Store) Close() error {
	groups := []string{""}
	for path := range s.metadata {
		if group, ok := strings.CutSuffix(path, "/.zgroup"); ok {
			groups = append(groups, group)
		}
	}
	for _, group := range groups {
		below := make(map[string]json.RawMessage)
		for path, data := range s.metadata {
			if group == "" {
				below[path] = data
			} else if rest, ok := strings.CutPrefix(path, group+"/"); ok {
				below[rest] = data
			}
		}
		data, err := json.MarshalIndent(map[string]any{"zarr_consolidated_format": 1, "metadata": below}, "", "  ")
		if err != nil {
			return err
		}
		if err := s.write(join(group, ".zmetadata"), data); err != nil {
			return err
		}
	}
	return nil
}

// An Array is an array of a store that chunks are put into.
type Array struct {
	store *Store
	path  string
	out   bytes.Buffer
}

// Array makes an array in a group: its type as NumPy writes it ("<i4", "<f8",
// "<U12"), its shape, the shape of its chunks and the names of its dimensions.
// Every chunk has to be put: there is no fill value, since xarray would take
// numbers equal to it for missing ones. title is what the array is called for people.
func (s *Store) Array(group, name, title, dtype string, shape, chunks []int, dimensions []string) (*Array, error) {
	if err := s.describe(join(group, name+"/.zarray"), map[string]any{
		"zarr_format": 2, "shape": shape, "chunks": chunks, "dtype": dtype,
		"compressor": map[string]any{"id": "zlib", "level": 1},
		"fill_value": nil, "order": "C", "filters": nil,
	}); err != nil {
		return nil, err
	}
	return &Array{store: s, path: join(group, name)}, s.describe(join(group, name+"/.zattrs"), map[string]any{"_ARRAY_DIMENSIONS": dimensions, "long_name": title})
}

// Put writes a chunk, given by its place among the chunks. data are the whole
// chunk's elements in little-endian order, the last dimension fastest; what lies
// beyond the array's end is padding.
func (a *Array) Put(data []byte, at ...int) error {
	a.out.Reset()
	w, err := zlib.NewWriterLevel(&a.out, zlib.BestSpeed)
	if err != nil {
		return err
	}
	if _, err := w.Write(data); err != nil {
		return err
	}
	if err := w.Close(); err != nil {
		return err
	}
	names := make([]string, len(at))
	for k, c := range at {
		names[k] = strconv.Itoa(c)
	}
	return a.store.write(join(a.path, strings.Join(names, ".")), a.out.Bytes())
}

// Strings makes a one-dimensional array of text, one chunk of fixed width.
func (s *Store) Strings(group, name string, values []string) error {
	width := 1
	for _, v := range values {
		width = max(width, utf8.RuneCountInString(v))
	}
	a, err := s.Array(group, name, name, fmt.Sprintf("<U%d", width), []int{len(values)}, []int{len(values)}, []string{name})
	if err != nil {
		return err
	}
	data := make([]byte, 4*width*len(values))
	for k, v := range values {
		at := 4 * width * k
		for _, r := range v {
			binary.LittleEndian.PutUint32(data[at:], uint32(r))
			at += 4
		}
	}
	return a.Put(data, 0)
}

// Range makes the coordinate 0, 1, …, n−1.
func (s *Store) Range(group, name string, n int) error {
	a, err := s.Array(group, name, name, "<i8", []int{n}, []int{max(n, 1)}, []string{name})
	if err != nil {
		return err
	}
	data := make([]byte, 8*n)
	for k := range n {
		binary.LittleEndian.PutUint64(data[8*k:], uint64(k))
	}
	return a.Put(data, 0)
}
