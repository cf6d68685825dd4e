package zarr

import (
	"bytes"
	"compress/zlib"
	"encoding/binary"
	"encoding/json"
	"errors"
	"io"
	"maps"
	"reflect"
	"slices"
	"testing"
)

// made writes a small store and returns its files.
func made(t *testing.T, write func(files map[string][]byte, name string, data []byte) error) (map[string][]byte, error) {
	t.Helper()
	files := make(map[string][]byte)
	s, err := Create(func(name string, data []byte) error { return write(files, name, bytes.Clone(data)) }, map[string]any{"by": "kir"})
	if err != nil {
		return files, err
	}
	if err := s.Group("posterior", nil); err != nil {
		return files, err
	}
	if err := s.Range("posterior", "draw", 3); err != nil {
		return files, err
	}
	if err := s.Strings("posterior", "ingredient", []string{"Gin", "Crème"}); err != nil {
		return files, err
	}
	a, err := s.Array("posterior", "used", "ingredients used", "<i4", []int{2, 3}, []int{1, 3}, []string{"chain", "draw"})
	if err != nil {
		return files, err
	}
	for chain := range 2 {
		if err := a.Put([]byte{1, 0, 0, 0, 2, 0, 0, 0, byte(chain), 0, 0, 0}, chain, 0); err != nil {
			return files, err
		}
	}
	return files, s.Close()
}

// TestStore: the files are those of version 2 of the format, and the consolidated
// metadata of the root and of a group is what stands in their files.
func TestStore(t *testing.T) {
	files, err := made(t, func(files map[string][]byte, name string, data []byte) error { files[name] = data; return nil })
	if err != nil {
		t.Fatal(err)
	}
	want := []string{".zattrs", ".zgroup", ".zmetadata", "posterior/.zattrs", "posterior/.zgroup", "posterior/.zmetadata",
		"posterior/draw/.zarray", "posterior/draw/.zattrs", "posterior/draw/0", "posterior/ingredient/.zarray", "posterior/ingredient/.zattrs", "posterior/ingredient/0",
		"posterior/used/.zarray", "posterior/used/.zattrs", "posterior/used/0.0", "posterior/used/1.0"}
	if got := slices.Sorted(maps.Keys(files)); !slices.Equal(got, want) {
		t.Fatalf("the files are %q", got)
	}
	read := func(name string) (v map[string]any) {
		t.Helper()
		if err := json.Unmarshal(files[name], &v); err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		return v
	}
	for group, below := range map[string]string{".zmetadata": "", "posterior/.zmetadata": "posterior/"} {
		of := read(group)
		if of["zarr_consolidated_format"] != 1.0 {
			t.Errorf("%s is of the format %v", group, of["zarr_consolidated_format"])
		}
		all := of["metadata"].(map[string]any)
		for name, v := range all {
			if !reflect.DeepEqual(v, any(read(below+name))) {
				t.Errorf("%s has %s as %v", group, name, v)
			}
		}
		if want := 10 - 2*len(below)/len("posterior/"); len(all) != want {
			t.Errorf("%s tells of %d files, want %d", group, len(all), want)
		}
	}
	if got, want := read("posterior/used/.zarray"), map[string]any{"zarr_format": 2.0, "shape": []any{2.0, 3.0}, "chunks": []any{1.0, 3.0}, "dtype": "<i4", "compressor": map[string]any{"id": "zlib", "level": 1.0}, "fill_value": nil, "order": "C", "filters": nil}; !reflect.DeepEqual(got, want) {
		t.Errorf("an array is described as %v", got)
	}
	if of := read("posterior/draw/.zarray"); !reflect.DeepEqual(of["shape"], []any{3.0}) || !reflect.DeepEqual(of["chunks"], []any{3.0}) {
		t.Errorf("a coordinate is described as %v", of)
	}
	if of := read("posterior/ingredient/.zarray"); !reflect.DeepEqual(of["shape"], []any{2.0}) || !reflect.DeepEqual(of["chunks"], []any{2.0}) {
		t.Errorf("names are described as %v", of)
	}
	if got, want := read("posterior/used/.zattrs"), map[string]any{"_ARRAY_DIMENSIONS": []any{"chain", "draw"}, "long_name": "ingredients used"}; !reflect.DeepEqual(got, want) {
		t.Errorf("its attributes are %v", got)
	}
	if read(".zattrs")["by"] != "kir" || read(".zgroup")["zarr_format"] != 2.0 || read("posterior/ingredient/.zarray")["dtype"] != "<U5" || read("posterior/draw/.zarray")["dtype"] != "<i8" || len(read("posterior/.zattrs")) != 0 {
		t.Error("groups and coordinates are described otherwise")
	}
	var text bytes.Buffer
	for _, word := range []string{"Gin\x00\x00", "Crème"} {
		for _, r := range word {
			text.Write(binary.LittleEndian.AppendUint32(nil, uint32(r)))
		}
	}
	for name, want := range map[string][]byte{
		"posterior/used/1.0":     {1, 0, 0, 0, 2, 0, 0, 0, 1, 0, 0, 0},
		"posterior/draw/0":       {0, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 2, 0, 0, 0, 0, 0, 0, 0},
		"posterior/ingredient/0": text.Bytes(),
	} {
		z, err := zlib.NewReader(bytes.NewReader(files[name]))
		if err != nil {
			t.Fatal(err)
		}
		if got, err := io.ReadAll(z); err != nil || !bytes.Equal(got, want) {
			t.Errorf("%s holds %v, %v, want %v", name, got, err, want)
		}
	}

	// Whatever cannot be written is told of.
	full := errors.New("the disk is full")
	for _, name := range want {
		if _, err := made(t, func(files map[string][]byte, at string, data []byte) error {
			if at == name {
				return full
			}
			return nil
		}); !errors.Is(err, full) {
			t.Errorf("%s cannot be written: %v", name, err)
		}
	}
}
