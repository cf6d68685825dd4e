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

// A file of draws may come from someone else. The Parquet library allocates as much memory as
// counts and lengths in the file ask for. A few bytes can ask for gigabytes. So the code below
// reads the counts and lengths first and checks them against the largest part that the run can
// have.

// plainDictionary is the number of the Parquet encoding PLAIN_DICTIONARY. Older writers use it for
// indices and their dictionary, instead of RLE_DICTIONARY and PLAIN.
const plainDictionary = 2

// partBounds holds upper limits on the size of one file of draws. Larger files are rejected as
// damaged.
type partBounds struct {
	maxDraws       int64 // largest number of draws
	maxIngredients int64 // largest number of ingredients in all draws together
	maxFileBytes   int64 // largest size of the file, and of its uncompressed columns, in bytes
}

// newPartBounds returns the limits on the size of each file of draws of a run.
func newPartBounds(m *Manifest) partBounds {
	segment := int64(segmentDraws(&m.Settings))
	used := int64(min(m.IngredientCount(), m.Total))
	b := partBounds{maxDraws: minDrawsOfFullPart + segment, maxIngredients: minIngredientsOfFullPart + segment*used}
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
	b.maxFileBytes = b.maxDraws*int64(8*(2+len(m.Properties)+len(m.Conditions))+4) + 8*b.maxIngredients + names + 1<<20
	return b
}

// maxFooterBytes is the largest size, in bytes, of the footer of a file of draws. The footer lists
// the columns and their positions.
const maxFooterBytes = 1 << 20

// checkFooter returns an error if the footer of a file of draws is too long or cannot be read. The
// footer describes the columns of the file. The parameter size is the length of the file in bytes.
func checkFooter(data io.ReaderAt, size int64) error {
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
	if length > maxFooterBytes {
		return errors.New("its end is longer than that of any part")
	}
	text := make([]byte, length)
	if _, err := data.ReadAt(text, size-8-length); err != nil {
		return err
	}
	c := thriftReader{data: text}
	_, err := c.readStruct(0)
	return err
}

// checkColumns checks the sizes of all columns of the row group g. The parameter groupIndex is the
// index of g in the file, and data is the whole file.
func (r *partReader) checkColumns(data []byte, g parquet.RowGroup, groupIndex int, bounds partBounds) error {
	meta := r.file.Metadata().RowGroups[groupIndex]
	if g.NumRows() < 0 || g.NumRows() > bounds.maxDraws {
		return fmt.Errorf("it has %d draws", g.NumRows())
	}
	for k, column := range meta.Columns {
		values := g.NumRows()
		if k >= len(meta.Columns)-2 {
			values = bounds.maxIngredients
		}
		if err := checkColumn(data, &column.MetaData, values, bounds.maxFileBytes); err != nil {
			return fmt.Errorf("column %d: %w", k, err)
		}
	}
	return nil
}

// checkColumn returns an error if a column of a file of draws holds more than allowedValues values,
// or if its uncompressed data are longer than allowedBytes. The parameter data is the whole file,
// and meta describes the column.
func checkColumn(data []byte, meta *format.ColumnMetaData, allowedValues, allowedBytes int64) error {
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
		h := thriftReader{data: rest}
		page, err := h.readStruct(0)
		if err != nil {
			return err
		}
		length := page.number(3)
		if length < 0 || length > int64(len(h.data)) {
			return errors.New("a page ends behind it")
		}
		body := h.data[:length]
		rest = h.data[length:]
		p := pageBody{data: body, uncompressedSize: page.number(2), codec: meta.Codec}
		if allowedBytes -= p.uncompressedSize; p.uncompressedSize < 0 || allowedBytes < 0 {
			return errors.New("its pages are longer than those of any part")
		}
		switch {
		case page.structs[7] != nil: // a dictionary
			of := page.structs[7]
			if err := p.decompress(); err != nil {
				return err
			}
			if n := of.number(1); n < 0 || n > int64(len(p.data)) || of.number(2) != int64(format.Plain) && of.number(2) != plainDictionary {
				return errors.New("its dictionary has more values than bytes")
			}
		case page.structs[8] != nil: // values
			of := page.structs[8]
			n := of.number(1)
			if allowedValues -= n; n < 0 || allowedValues < 0 || of.number(2) < 0 || of.number(2) > n || of.number(3) < 0 || of.number(3) > n {
				return errors.New("its pages have more values than there are draws for")
			}
			if err := p.checkValues(n, of.number(6), of.number(5), format.Encoding(of.number(4))); err != nil {
				return err
			}
		default:
			return errors.New("it has a page of another kind")
		}
	}
	return nil
}

// A pageBody is the content of a page, that is, of a section of a column in a Parquet file.
type pageBody struct {
	data             []byte
	uncompressedSize int64                   // number of bytes after decompression
	codec            format.CompressionCodec // kind of compression of data; none after data was decompressed
}

// decompress decompresses the page in place. If the page is not compressed, decompress does
// nothing.
func (p *pageBody) decompress() error {
	codec := p.codec
	p.codec = format.Uncompressed
	switch codec {
	case format.Uncompressed:
		return nil
	case format.Snappy:
		// Compressed data begin with their length.
		if n, read := binary.Uvarint(p.data); read <= 0 || n > uint64(p.uncompressedSize) {
			return errors.New("a page is longer than it says")
		}
		var err error
		p.data, err = new(snappy.Codec).Decode(nil, p.data)
		return err
	}
	const window = 8 << 20 // of what a writer may look back over, which counts, too
	reader, err := zstd.NewReader(nil, zstd.WithDecoderConcurrency(1), zstd.WithDecoderMaxMemory(uint64(max(p.uncompressedSize, window))))
	if err != nil {
		return err
	}
	defer reader.Close()
	p.data, err = reader.DecodeAll(p.data, nil)
	if errors.Is(err, zstd.ErrDecoderSizeExceeded) || int64(len(p.data)) > p.uncompressedSize {
		return errors.New("a page is longer than it says")
	}
	return err
}

// checkValues checks that a page does not hold more values than it claims; the parameter values is
// the claimed number. The page begins with repetition levels and definition levels, which are not
// compressed. The parameters repetitions and definitions are their lengths in bytes. The values
// follow in the given encoding.
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
	if err := p.decompress(); err != nil {
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

// checkRuns checks that data in Parquet's RLE encoding hold at most maxValues values of the given
// width in bits. The last group of packed values may contain up to seven more values as padding.
func checkRuns(data []byte, bits, maxValues int64) error {
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
		if n > uint64(max(maxValues, 0)) || length > uint64(len(data)) {
			return errors.New("its runs have more values than it says")
		}
		maxValues -= int64(n)
		data = data[length:]
	}
	return nil
}

// thriftReader decodes Thrift's compact protocol, in which the descriptions in Parquet files are
// written. It never reads past the end of the data.
type thriftReader struct {
	data      []byte // bytes that are not decoded yet
	itemCount int    // number of list items decoded
}

// thriftStruct holds a decoded Thrift struct. Only its numbers and nested structs are kept, by the
// ids of their fields. Fields of other types are skipped.
type thriftStruct struct {
	numbers map[int64]int64
	structs map[int64]*thriftStruct
}

// number returns the number in the field with the given id, or 0 if the struct has no such field.
func (f *thriftStruct) number(id int64) int64 { return f.numbers[id] }

// Limits on the decoded data: the depth of nested structs, and the number of items of all lists
// together.
const (
	maxStructDepth = 32
	maxListItems   = 1 << 16
)

var errThriftFormat = errors.New("its description cannot be read")

// readUvarint reads an unsigned integer of variable length.
func (c *thriftReader) readUvarint() (uint64, error) {
	v, size := binary.Uvarint(c.data)
	if size <= 0 {
		return 0, errThriftFormat
	}
	c.data = c.data[size:]
	return v, nil
}

// readVarint reads a signed integer of variable length in zigzag encoding, which stores 0, −1, 1,
// −2, ... as 0, 1, 2, 3, ...
func (c *thriftReader) readVarint() (int64, error) {
	v, err := c.readUvarint()
	return int64(v>>1) ^ -int64(v&1), err
}

// readByte reads one byte.
func (c *thriftReader) readByte() (byte, error) {
	if len(c.data) == 0 {
		return 0, errThriftFormat
	}
	b := c.data[0]
	c.data = c.data[1:]
	return b, nil
}

// skipBytes skips n bytes of the data.
func (c *thriftReader) skipBytes(n uint64) error {
	if n > uint64(len(c.data)) {
		return errThriftFormat
	}
	c.data = c.data[n:]
	return nil
}

// readStruct reads a struct. The parameter depth says how many structs contain the struct.
func (c *thriftReader) readStruct(depth int) (*thriftStruct, error) {
	if depth > maxStructDepth {
		return nil, errThriftFormat
	}
	f := &thriftStruct{make(map[int64]int64), make(map[int64]*thriftStruct)}
	for id := int64(0); ; {
		head, err := c.readByte()
		if err != nil {
			return nil, err
		}
		if head == 0 {
			return f, nil
		}
		if delta := int64(head >> 4); delta != 0 {
			id += delta
		} else if id, err = c.readVarint(); err != nil {
			return nil, err
		}
		if err := c.readField(f, id, head&15, depth); err != nil {
			return nil, err
		}
	}
}

// readField reads the value of a field and, if it is a number or a struct, sets the value in f. The
// parameter id is the id of the field, and kind the code of its type.
func (c *thriftReader) readField(f *thriftStruct, id int64, kind byte, depth int) (err error) {
	switch kind {
	case 1, 2: // true, false
		f.numbers[id] = int64(2 - kind)
	case 4, 5, 6: // integers
		f.numbers[id], err = c.readVarint()
	case 12: // a struct
		f.structs[id], err = c.readStruct(depth + 1)
	default:
		err = c.skipItem(kind, depth)
	}
	return err
}

// skipItem skips one value. The parameter kind is the code of the type of the value, and depth says
// how many structs contain the value.
func (c *thriftReader) skipItem(kind byte, depth int) error {
	switch kind {
	case 1, 2, 3:
		_, err := c.readByte()
		return err
	case 4, 5, 6:
		_, err := c.readUvarint()
		return err
	case 7: // a number with a point
		return c.skipBytes(8)
	case 8: // bytes
		n, err := c.readUvarint()
		if err != nil {
			return err
		}
		return c.skipBytes(n)
	case 9, 10: // a list or a set
		head, err := c.readByte()
		if err != nil {
			return err
		}
		n := uint64(head >> 4)
		if n == 15 {
			if n, err = c.readUvarint(); err != nil {
				return err
			}
		}
		return c.skipItems(n, depth, head&15)
	case 11: // a map
		n, err := c.readUvarint()
		if err != nil || n == 0 {
			return err
		}
		kinds, err := c.readByte()
		if err != nil {
			return err
		}
		return c.skipItems(n, depth, kinds>>4, kinds&15)
	case 12:
		_, err := c.readStruct(depth + 1)
		return err
	}
	return errThriftFormat
}

// skipItems skips n items of a list or a map. The parameter kinds has the codes of the types: one
// for a list, two for the keys and the values of a map.
func (c *thriftReader) skipItems(n uint64, depth int, kinds ...byte) error {
	if n > uint64(len(c.data)) || depth > maxStructDepth {
		return errThriftFormat
	}
	if c.itemCount += int(n); c.itemCount > maxListItems {
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
