package run

import (
	"bytes"
	"compress/flate"
	"crypto/sha256"
	"encoding/binary"
	"encoding/gob"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/parquet-go/parquet-go"
	"github.com/parquet-go/parquet-go/compress/zstd"
	"github.com/parquet-go/parquet-go/encoding/thrift"
	"github.com/parquet-go/parquet-go/format"

	"kir/mcmc"
)

// took returns how many bytes of memory were asked for by what is done.
func took(do func()) uint64 {
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	do()
	runtime.ReadMemStats(&after)
	return after.TotalAlloc - before.TotalAlloc
}

// A forged part is one whose pages and end are written anew.
type forged struct {
	pages [][]byte // of each column, all its pages
	meta  format.FileMetaData
}

// dissect takes a part apart.
func dissect(t *testing.T, data []byte) *forged {
	t.Helper()
	f, err := parquet.OpenFile(bytes.NewReader(data), int64(len(data)))
	if err != nil {
		t.Fatal(err)
	}
	of := &forged{meta: *f.Metadata()}
	for _, c := range of.meta.RowGroups[0].Columns {
		from := c.MetaData.DataPageOffset
		if c.MetaData.DictionaryPageOffset != 0 {
			from = c.MetaData.DictionaryPageOffset
		}
		of.pages = append(of.pages, data[from:from+c.MetaData.TotalCompressedSize])
	}
	return of
}

// write puts it together again.
func (f *forged) write(t *testing.T) []byte {
	t.Helper()
	b := bytes.NewBufferString("PAR1")
	for k, pages := range f.pages {
		c := &f.meta.RowGroups[0].Columns[k].MetaData
		head := int64(b.Len())
		if c.DictionaryPageOffset != 0 {
			c.DataPageOffset += head - c.DictionaryPageOffset
			c.DictionaryPageOffset = head
		} else {
			c.DataPageOffset = head
		}
		c.TotalCompressedSize = int64(len(pages))
		b.Write(pages)
	}
	end, err := thrift.Marshal(new(thrift.CompactProtocol), &f.meta)
	if err != nil {
		t.Fatal(err)
	}
	b.Write(end)
	b.Write(binary.LittleEndian.AppendUint32(nil, uint32(len(end))))
	b.WriteString("PAR1")
	return b.Bytes()
}

// page is a page of values, with its head.
func page(t *testing.T, values int, encoding format.Encoding, levels [2][]byte, body []byte, size int) []byte {
	t.Helper()
	h := format.PageHeader{Type: format.DataPageV2, UncompressedPageSize: int32(size), CompressedPageSize: int32(len(levels[0]) + len(levels[1]) + len(body))}
	h.DataPageHeaderV2.Valid = true
	h.DataPageHeaderV2.V = format.DataPageHeaderV2{
		NumValues: int32(values), NumRows: int32(values), Encoding: encoding,
		RepetitionLevelsByteLength: int32(len(levels[0])), DefinitionLevelsByteLength: int32(len(levels[1])),
	}
	head, err := thrift.Marshal(new(thrift.CompactProtocol), &h)
	if err != nil {
		t.Fatal(err)
	}
	return bytes.Join([][]byte{head, levels[0], levels[1], body}, nil)
}

// TestPartBombs: files of draws of a few bytes that would take gigabytes are damaged, and
// take no more memory than a part.
func TestPartBombs(t *testing.T) {
	s := smallSpec(t, mcmc.Settings{Kernel: "balanced", Chains: 1, Warmup: 20, Draws: 600, Thin: 1, Seed: 3})
	dir, _ := start(t, s, Options{Workers: 1})
	path := filepath.Join(dir, filepath.FromSlash(partName(0, 0)))
	whole, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	packed := func(data []byte) []byte {
		out, err := new(zstd.Codec).Encode(nil, data)
		if err != nil {
			t.Fatal(err)
		}
		return out
	}
	uvarint := func(v ...uint64) (out []byte) {
		for _, v := range v {
			out = binary.AppendUvarint(out, v)
		}
		return out
	}
	const many = 1 << 28
	run := append(uvarint(2*many), 0)
	runs := bytes.Repeat(append(uvarint(2*60_000), 0), 5000)
	zeros := packed(make([]byte, 64<<20))
	none := [2][]byte{}
	list := len(dissect(t, whole).pages) - 2
	for name, change := range map[string]func(f *forged){
		"nothing": func(*forged) {},
		"a delta of many values": func(f *forged) {
			f.pages[0] = page(t, 600, format.DeltaBinaryPacked, none, packed(uvarint(128, 4, many, 0)), 64)
		},
		"a delta of many values that it says": func(f *forged) {
			f.pages[0] = page(t, many, format.DeltaBinaryPacked, none, packed(uvarint(128, 4, many, 0)), 64)
		},
		"a run of many indexes": func(f *forged) {
			f.pages[2] = append(f.dictionary(2), page(t, 600, format.RLEDictionary, none, packed(append([]byte{1}, run...)), 64)...)
		},
		"many runs of indexes": func(f *forged) {
			f.pages[2] = append(f.dictionary(2), page(t, 600, format.RLEDictionary, none, packed(append([]byte{1}, runs...)), 1<<20)...)
		},
		"a run of no bits": func(f *forged) {
			f.pages[2] = append(f.dictionary(2), page(t, 600, format.RLEDictionary, none, packed(append([]byte{0}, uvarint(2*many)...)), 64)...)
		},
		"many levels": func(f *forged) {
			f.pages[list] = append(f.dictionary(list), page(t, 600, format.RLEDictionary, [2][]byte{run, run}, packed([]byte{1, 2, 0}), 64)...)
		},
		"a list of many": func(f *forged) {
			body := packed(append([]byte{1}, run...))
			f.pages[list] = append(f.dictionary(list), page(t, many, format.RLEDictionary, [2][]byte{run, run}, body, 64)...)
		},
		"a page that unpacks": func(f *forged) {
			f.pages[1] = page(t, 600, format.Plain, none, zeros, 61<<20)
		},
		"a page that unpacks to more than it says": func(f *forged) {
			f.pages[1] = page(t, 600, format.Plain, none, zeros, 4800)
		},
		"many pages that unpack": func(f *forged) {
			one := page(t, 1, format.Plain, none, packed(make([]byte, 1<<20)), 1<<20)
			f.pages[1] = bytes.Repeat(one, 500)
		},
		"another compression": func(f *forged) {
			f.meta.RowGroups[0].Columns[1].MetaData.Codec = format.Gzip
		},
		"a long page": func(f *forged) {
			long := format.PageHeader{Type: format.DataPageV2, CompressedPageSize: math.MaxInt32, UncompressedPageSize: math.MaxInt32}
			long.DataPageHeaderV2.Valid = true
			f.pages[1], err = thrift.Marshal(new(thrift.CompactProtocol), &long)
		},
		"many draws": func(f *forged) {
			f.meta.NumRows, f.meta.RowGroups[0].NumRows = 1<<40, 1<<40
		},
		"a dictionary of many": func(f *forged) {
			h := format.PageHeader{Type: format.DictionaryPage, CompressedPageSize: 2, UncompressedPageSize: 64}
			h.DictionaryPageHeader.Valid = true
			h.DictionaryPageHeader.V.NumValues = many
			var head []byte
			head, err = thrift.Marshal(new(thrift.CompactProtocol), &h)
			f.pages[2] = append(append(head, 1, 0), f.pages[2]...)
		},
	} {
		f := dissect(t, whole)
		change(f)
		if err != nil {
			t.Fatal(name, err)
		}
		bomb := f.write(t)
		read(t, name, path, dir, bomb, name == "nothing")
	}
	// An end that speaks of many columns, and is no longer.
	for name, list := range map[string][]byte{
		"row groups": append([]byte{0x49, 0xfc}, uvarint(many)...), "names": append([]byte{0x29, 0xf8}, uvarint(many)...),
		"a name": append([]byte{0x68}, uvarint(math.MaxInt32)...), "nested": bytes.Repeat([]byte{0x1c}, 1<<16),
	} {
		b := append([]byte("PAR1"), list...)
		b = binary.LittleEndian.AppendUint32(b, uint32(len(list)))
		read(t, "an end with many "+name, path, dir, append(b, "PAR1"...), false)
	}
}

// dictionary returns a column's page of its dictionary.
func (f *forged) dictionary(k int) []byte {
	h := thriftReader{data: f.pages[k]}
	head, err := h.readStruct(0)
	if err != nil {
		panic(err)
	}
	return bytes.Clone(f.pages[k][:len(f.pages[k])-len(h.data)+int(head.number(3))])
}

// read reads a run with another part, and sees that it takes little.
func read(t *testing.T, name, path, dir string, part []byte, fine bool) {
	t.Helper()
	if err := os.WriteFile(path, part, 0o644); err != nil {
		t.Fatal(err)
	}
	var failed error
	memory := took(func() {
		r, err := Open(t.Context(), NewDirectoryStore(dir))
		if err != nil {
			t.Fatal(err)
		}
		for _, err := range r.Draws(t.Context()) {
			failed = err
		}
		_, counted := readDrawCount(t.Context(), NewDirectoryStore(dir), File{Name: partName(0, 0), Size: int64(len(part))}, r.Manifest, 0)
		if fine && counted != nil {
			t.Error(counted)
		}
	})
	if fine != (failed == nil) || failed != nil && !errors.Is(failed, ErrDamaged) || memory > 64<<20 {
		t.Errorf("%s: %d bytes take %d MB: %v", name, len(part), memory>>20, failed)
	}
	t.Logf("%s: %d bytes take %d kB: %v", name, len(part), memory>>10, failed)
}

// TestStateBombs: a state that unpacks to more than a state of the run can have is damaged,
// and takes no more memory than one.
func TestStateBombs(t *testing.T) {
	for _, kernel := range []string{"balanced", "tempered"} {
		s := smallSpec(t, mcmc.Settings{Kernel: kernel, Chains: 1, Warmup: 50, Draws: 40, Thin: 1, Seed: 3})
		dir, _ := start(t, s, Options{Workers: 1})
		m, err := readManifest(t.Context(), NewDirectoryStore(dir))
		if err != nil {
			t.Fatal(err)
		}
		fine, err := loadState(t.Context(), NewDirectoryStore(dir), m, 0)
		if err != nil {
			t.Fatal(err)
		}
		for name, change := range map[string]func(s *state, w *flate.Writer) error{
			"a long chain": func(s *state, w *flate.Writer) error {
				s.Walk = make([]byte, 200<<20)
				return gob.NewEncoder(w).Encode(s)
			},
			"many of the best": func(s *state, w *flate.Writer) error {
				s.Best = make([]Best, 1<<20)
				return gob.NewEncoder(w).Encode(s)
			},
			"zeros": func(_ *state, w *flate.Writer) error {
				_, err := w.Write(make([]byte, 200<<20))
				return err
			},
		} {
			var b bytes.Buffer
			b.WriteString(stateHeader)
			w, err := flate.NewWriter(&b, flate.BestSpeed)
			if err != nil {
				t.Fatal(err)
			}
			bomb := *fine
			if err := errors.Join(change(&bomb, w), w.Close()); err != nil {
				t.Fatal(err)
			}
			sum := sha256.Sum256(b.Bytes())
			b.Write(sum[:])
			if err := os.WriteFile(filepath.Join(dir, filepath.FromSlash(stateName(0))), b.Bytes(), 0o644); err != nil {
				t.Fatal(err)
			}
			bomb = state{}
			runtime.GC()
			var failed error
			memory := took(func() { _, failed = loadState(t.Context(), NewDirectoryStore(dir), m, 0) })
			// What unpacks to too much is not held at all; a list within that is.
			const most = 32 << 20
			if !errors.Is(failed, ErrDamaged) || memory > most {
				t.Errorf("%s, %s: %d bytes take %d MB: %v", kernel, name, b.Len(), memory>>20, failed)
			}
			t.Logf("%s, %s: %d bytes take %d MB: %v", kernel, name, b.Len(), memory>>20, failed)
		}
	}
}

// TestLongFiles: a file of a run that has more than it may is damaged, and is not read.
func TestLongFiles(t *testing.T) {
	s := smallSpec(t, mcmc.Settings{Kernel: "balanced", Chains: 1, Warmup: 20, Draws: 40, Thin: 1, Seed: 3})
	for _, name := range []string{manifestName, stateName(0), partName(0, 0)} {
		dir, _ := start(t, s, Options{Workers: 1})
		if err := os.Truncate(filepath.Join(dir, filepath.FromSlash(name)), 1<<40); err != nil {
			t.Skip(err) // no holes in files
		}
		var said string
		memory := took(func() {
			r, err := Open(t.Context(), NewDirectoryStore(dir))
			if err == nil {
				for _, e := range r.Draws(t.Context()) {
					err = e
				}
			}
			said = fmt.Sprint(err)
		})
		if memory > 16<<20 || name == partName(0, 0) && !strings.Contains(said, ErrDamaged.Error()) || name == manifestName && !strings.Contains(said, "has more than") {
			t.Errorf("%s takes %d MB: %s", name, memory>>20, said)
		}
	}
}
