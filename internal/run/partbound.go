package run

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"

	"github.com/klauspost/compress/zstd"
	"github.com/parquet-go/parquet-go"
	"github.com/parquet-go/parquet-go/compress/snappy"
	"github.com/parquet-go/parquet-go/format"
)

// A file of draws may come from someone else. The Parquet library allocates the memory that counts
// and lengths in the file ask for. A few bytes can ask for gigabytes. So this code reads them first
// and checks them against the most that a part of the run can have.

// plainDictionary is the encoding PLAIN_DICTIONARY. Older writers of Parquet use it for indices and
// their dictionary, instead of RLE_DICTIONARY and PLAIN.
const plainDictionary = 2

// partBounds is the most that a part of a run can have.
type partBounds struct {
	rows    int64 // draws
	entries int64 // ingredients of all draws
	bytes   int64 // of the file, and of its columns without their encodings
}

// boundsOf returns the bounds for the parts of a run.
func boundsOf(m *Manifest) partBounds {
	segment := int64(segmentDraws(&m.Settings))
	used := int64(min(m.IngredientCount(), m.Total))
	b := partBounds{rows: partDraws + segment, entries: partEntries + segment*used}
	const dictionary = 64 // bytes of a name in a dictionary and of its place, but for its text
	names := int64(0)
	if m.Counted == nil {
		for _, name := range m.Ingredients {
			names += int64(len(name)) + dictionary
		}
	} else {
		names = int64(m.Counted.Count) * int64(len(m.Counted.Prefix)+dictionary)
	}
	// Incompressible data take 4 bytes an index and an amount and 8 a number; the rest is for
	// headers.
	for _, c := range m.Conditions {
		for _, category := range c.Categories {
			names += int64(len(category)) + dictionary
		}
	}
	b.bytes = b.rows*int64(8*(2+len(m.Properties)+len(m.Conditions))+4) + 8*b.entries + names + 1<<20
	return b
}

// mostEnd is the largest footer of a part, which lists the columns and their places.
const mostEnd = 1 << 20

// checkEnd checks the footer of a part of the given size.
func checkEnd(data io.ReaderAt, size int64) error {
	end := make([]byte, 8)
	if size < 12 {
		return errors.New("it is too short")
	}
	if _, err := data.ReadAt(end, size-8); err != nil {
		return err
	}
	length := int64(binary.LittleEndian.Uint32(end))
	if length > size-12 {
		return errors.New("its end is longer than it")
	}
	if length > mostEnd {
		return errors.New("its end is longer than that of any part")
	}
	text := make([]byte, length)
	if _, err := data.ReadAt(text, size-8-length); err != nil {
		return err
	}
	c := compact{data: text}
	_, err := c.fields(0)
	return err
}

// checkColumns checks the pages of a part's columns, in a row group.
func (r *partReader) checkColumns(data []byte, g parquet.RowGroup, at int, most partBounds) error {
	meta := r.file.Metadata().RowGroups[at]
	if g.NumRows() < 0 || g.NumRows() > most.rows {
		return fmt.Errorf("it has %d draws", g.NumRows())
	}
	for k, column := range meta.Columns {
		values := g.NumRows()
		if k >= len(meta.Columns)-2 {
			values = most.entries
		}
		if err := checkColumn(data, &column.MetaData, values, most.bytes); err != nil {
			return fmt.Errorf("column %d: %w", k, err)
		}
	}
	return nil
}

// checkColumn checks the pages of a column, which must not exceed the given numbers of values and
// bytes.
func checkColumn(data []byte, meta *format.ColumnMetaData, values, bytes int64) error {
	if meta.Codec != format.Zstd && meta.Codec != format.Snappy && meta.Codec != format.Uncompressed {
		return fmt.Errorf("it is compressed by %v", meta.Codec)
	}
	from := meta.DataPageOffset
	if meta.DictionaryPageOffset != 0 {
		from = meta.DictionaryPageOffset
	}
	size := int64(len(data))
	if from < 0 || from > size || meta.TotalCompressedSize < 0 || meta.TotalCompressedSize > size-from {
		return errors.New("it lies outside of the file")
	}
	for rest := data[from : from+meta.TotalCompressedSize]; len(rest) > 0; {
		h := compact{data: rest}
		page, err := h.fields(0)
		if err != nil {
			return err
		}
		length := page.at(3)
		if length < 0 || length > int64(len(h.data)) {
			return errors.New("a page ends behind it")
		}
		body := h.data[:length]
		rest = h.data[length:]
		p := pageBody{data: body, size: page.at(2), codec: meta.Codec}
		if bytes -= p.size; p.size < 0 || bytes < 0 {
			return errors.New("its pages are longer than those of any part")
		}
		switch {
		case page.of[7] != nil: // a dictionary
			of := page.of[7]
			if err := p.unpack(); err != nil {
				return err
			}
			if n := of.at(1); n < 0 || n > int64(len(p.data)) || of.at(2) != int64(format.Plain) && of.at(2) != plainDictionary {
				return errors.New("its dictionary has more values than bytes")
			}
		case page.of[8] != nil: // values
			of := page.of[8]
			n := of.at(1)
			if values -= n; n < 0 || values < 0 || of.at(2) < 0 || of.at(2) > n || of.at(3) < 0 || of.at(3) > n {
				return errors.New("its pages have more values than there are draws for")
			}
			if err := p.checkValues(n, of.at(6), of.at(5), format.Encoding(of.at(4))); err != nil {
				return err
			}
		default:
			return errors.New("it has a page of another kind")
		}
	}
	return nil
}

// A pageBody is the content of a page.
type pageBody struct {
	data  []byte
	size  int64                   // without compression
	codec format.CompressionCodec // of what is not yet unpacked
}

// unpack decompresses the page.
func (p *pageBody) unpack() error {
	codec := p.codec
	p.codec = format.Uncompressed
	switch codec {
	case format.Uncompressed:
		return nil
	case format.Snappy:
		// Compressed data begin with their length.
		if n, read := binary.Uvarint(p.data); read <= 0 || n > uint64(p.size) {
			return errors.New("a page is longer than it says")
		}
		var err error
		p.data, err = new(snappy.Codec).Decode(nil, p.data)
		return err
	}
	const window = 8 << 20 // of what a writer may look back over, which counts, too
	reader, err := zstd.NewReader(nil, zstd.WithDecoderConcurrency(1), zstd.WithDecoderMaxMemory(uint64(max(p.size, window))))
	if err != nil {
		return err
	}
	defer reader.Close()
	p.data, err = reader.DecodeAll(p.data, nil)
	if errors.Is(err, zstd.ErrDecoderSizeExceeded) || int64(len(p.data)) > p.size {
		return errors.New("a page is longer than it says")
	}
	return err
}

// checkValues checks that a page does not hold more values than it claims: its levels, which are
// not compressed, with their byte lengths, and the values behind them.
func (p *pageBody) checkValues(values, repetitions, definitions int64, encoding format.Encoding) error {
	for _, length := range []int64{repetitions, definitions} {
		if length < 0 || length > int64(len(p.data)) {
			return errors.New("the levels of a page are longer than it")
		}
		const levelBits = 1
		if err := checkRuns(p.data[:length], levelBits, values); err != nil {
			return err
		}
		p.data = p.data[length:]
	}
	if err := p.unpack(); err != nil {
		return err
	}
	switch encoding {
	case format.Plain:
		return nil // a value takes its bytes
	case format.RLEDictionary, plainDictionary:
		if len(p.data) == 0 {
			return nil
		}
		return checkRuns(p.data[1:], int64(p.data[0]), values)
	case format.DeltaBinaryPacked:
		// The header before the values holds the block size, its number of parts, and the number of
		// values.
		for rest, k := p.data, 0; k < 3; k++ {
			v, size := binary.Uvarint(rest)
			if size <= 0 || k == 2 && v > uint64(values) {
				return errors.New("a page has more values than it says")
			}
			rest = rest[size:]
		}
		return nil
	}
	return fmt.Errorf("a page is encoded as %v", encoding)
}

// checkRuns checks that runs of repeated and of packed values (Parquet's RLE) hold no more values
// than given. It allows for those that fill up the last eight of each packed run. bits is the width
// of a value.
func checkRuns(data []byte, bits, values int64) error {
	for len(data) > 0 {
		head, size := binary.Uvarint(data)
		if size <= 0 {
			return errors.New("a run is cut off")
		}
		data = data[size:]
		n, length := head>>1, uint64(bits+7)/8
		if head&1 != 0 {
			if n > uint64(len(data)) && bits > 0 {
				return errors.New("a run is cut off")
			}
			length, n = n*uint64(bits), 8*n
			n -= min(n, 7)
		}
		if n > uint64(max(values, 0)) || length > uint64(len(data)) {
			return errors.New("its runs have more values than it says")
		}
		values -= int64(n)
		data = data[length:]
	}
	return nil
}

// compact reads Thrift's compact protocol and never past the end of the data.
type compact struct {
	data  []byte
	items int
}

// fields are the fields of a struct: numbers, and structs within it. Other fields are skipped.
type fields struct {
	value map[int64]int64
	of    map[int64]*fields
}

// at returns the number with an id, 0 if it is absent.
func (f *fields) at(id int64) int64 { return f.value[id] }

// Bounds of the protocol data: the depth of nested structs, and the number of items of all lists.
const (
	deepest   = 32
	mostItems = 1 << 16
)

var errCompact = errors.New("its description cannot be read")

// uvarint reads an unsigned number.
func (c *compact) uvarint() (uint64, error) {
	v, size := binary.Uvarint(c.data)
	if size <= 0 {
		return 0, errCompact
	}
	c.data = c.data[size:]
	return v, nil
}

// varint reads a signed number.
func (c *compact) varint() (int64, error) {
	v, err := c.uvarint()
	return int64(v>>1) ^ -int64(v&1), err
}

// byte reads one.
func (c *compact) byte() (byte, error) {
	if len(c.data) == 0 {
		return 0, errCompact
	}
	b := c.data[0]
	c.data = c.data[1:]
	return b, nil
}

// skip skips n bytes.
func (c *compact) skip(n uint64) error {
	if n > uint64(len(c.data)) {
		return errCompact
	}
	c.data = c.data[n:]
	return nil
}

// fields reads a struct.
func (c *compact) fields(depth int) (*fields, error) {
	if depth > deepest {
		return nil, errCompact
	}
	f := &fields{make(map[int64]int64), make(map[int64]*fields)}
	for id := int64(0); ; {
		head, err := c.byte()
		if err != nil {
			return nil, err
		}
		if head == 0 {
			return f, nil
		}
		if delta := int64(head >> 4); delta != 0 {
			id += delta
		} else if id, err = c.varint(); err != nil {
			return nil, err
		}
		if err := c.field(f, id, head&15, depth); err != nil {
			return nil, err
		}
	}
}

// field reads a field of the given kind.
func (c *compact) field(f *fields, id int64, kind byte, depth int) (err error) {
	switch kind {
	case 1, 2: // true, false
		f.value[id] = int64(2 - kind)
	case 4, 5, 6: // integers
		f.value[id], err = c.varint()
	case 12: // a struct
		f.of[id], err = c.fields(depth + 1)
	default:
		err = c.skipItem(kind, depth)
	}
	return err
}

// skipItem skips an item of the given kind.
func (c *compact) skipItem(kind byte, depth int) error {
	switch kind {
	case 1, 2, 3:
		_, err := c.byte()
		return err
	case 4, 5, 6:
		_, err := c.uvarint()
		return err
	case 7: // a number with a point
		return c.skip(8)
	case 8: // bytes
		n, err := c.uvarint()
		if err != nil {
			return err
		}
		return c.skip(n)
	case 9, 10: // a list or a set
		head, err := c.byte()
		if err != nil {
			return err
		}
		n := uint64(head >> 4)
		if n == 15 {
			if n, err = c.uvarint(); err != nil {
				return err
			}
		}
		return c.skipItems(n, depth, head&15)
	case 11: // a map
		n, err := c.uvarint()
		if err != nil || n == 0 {
			return err
		}
		kinds, err := c.byte()
		if err != nil {
			return err
		}
		return c.skipItems(n, depth, kinds>>4, kinds&15)
	case 12:
		_, err := c.fields(depth + 1)
		return err
	}
	return errCompact
}

// skipItems skips n groups of items of the given kinds.
func (c *compact) skipItems(n uint64, depth int, kinds ...byte) error {
	if n > uint64(len(c.data)) || depth > deepest {
		return errCompact
	}
	if c.items += int(n); c.items > mostItems {
		return errors.New("its description has more in it than that of any part")
	}
	for range n {
		for _, kind := range kinds {
			if err := c.skipItem(kind, depth+1); err != nil {
				return err
			}
		}
	}
	return nil
}
