package drawfile

import (
	"encoding/binary"
	"fmt"
	"hash/crc32"
	"math"
	"slices"

	"github.com/klauspost/compress/s2"
	"github.com/parquet-go/parquet-go/encoding/thrift"
	"github.com/parquet-go/parquet-go/format"
)

// endPage ends the open page, and the row group when it is large enough.
func (w *Writer) endPage() error {
	rows := w.Rows
	if rows == 0 {
		return nil
	}
	if err := w.sequencePage(&w.Chain, int64(w.schema.Chain), 0); err != nil {
		return err
	}
	if err := w.sequencePage(&w.Draw, w.Written-int64(rows), 1); err != nil {
		return err
	}
	if err := w.scalarPage(&w.Density); err != nil {
		return err
	}
	if err := w.scalarPage(&w.Used); err != nil {
		return err
	}
	for k := range w.Scores {
		if err := w.scalarPage(&w.Scores[k]); err != nil {
			return err
		}
	}
	w.Levels.catchUp(rows)
	if err := w.listPage(&w.Ingredient); err != nil {
		return err
	}
	if err := w.listPage(&w.Amount); err != nil {
		return err
	}
	w.Levels.Stream.reset()
	w.Levels.Recent = recent{}
	w.Levels.Rows, w.Levels.Entries = 0, 0
	w.GroupRows += rows
	w.Rows, w.Room = 0, 0
	grown := len(w.Groups) / growAfter
	if w.GroupRows >= groupRows<<grown || w.groupBytes() >= groupBytes<<grown {
		return w.endGroup()
	}
	return nil
}

// sequencePage writes a page of first, first+step, ... as DELTA_BINARY_PACKED:
// blocks of 128 differences in 4 miniblocks, whose excess over the smallest
// difference of their block takes 0 bits.
func (w *Writer) sequencePage(c *chunk, first, step int64) error {
	b := binary.AppendUvarint(nil, 128)
	b = binary.AppendUvarint(b, 4)
	b = binary.AppendUvarint(b, uint64(w.Rows))
	b = binary.AppendVarint(b, first)
	values := &w.scratch.before
	values.reset()
	values.literal(b)
	if blocks := (w.Rows - 1 + 127) / 128; blocks > 0 {
		block := append(binary.AppendVarint(b[:0], step), 0, 0, 0, 0)
		values.literal(block)
		values.copy(len(block), (blocks-1)*len(block))
	}
	return w.page(c, format.DeltaBinaryPacked, w.Rows, values)
}

// scalarPage writes the column's page and begins the next one.
func (w *Writer) scalarPage(c *scalarColumn) error {
	c.catchUp(w.Rows)
	if err := w.page(&c.Chunk, format.Plain, w.Rows, &c.Stream); err != nil {
		return err
	}
	c.Stream.reset()
	c.Recent = recent{}
	c.Rows = 0
	return nil
}

// listPage writes the column's page and begins the next one. The page consists
// of the repetition levels; of the definition levels, which are all 1, as one
// run; and of the entries, plain or as one run of bit-packed numbers. Where a
// number takes 8, 16 or 32 bits, packing is writing one after the other.
func (w *Writer) listPage(c *listColumn) error {
	c.catchUp(w.Rows)
	entries := w.Levels.Entries
	before, after := &w.scratch.before, &w.scratch.after
	before.reset()
	after.reset()

	var b [16]byte
	before.literal(binary.LittleEndian.AppendUint32(b[:0], uint32(w.Levels.Stream.Size)))
	run := append(binary.AppendUvarint(b[4:4], uint64(entries)<<1), 1)
	binary.LittleEndian.PutUint32(b[:4], uint32(len(run)))
	definition := b[:4+len(run)]
	encoding := format.Plain
	stream, width := c.end(entries)
	if !c.Plain {
		encoding = format.RLEDictionary
		definition = append(definition, byte(width))
		definition = binary.AppendUvarint(definition, uint64(entries+7)/8<<1|1)
	}
	after.literal(definition)
	if err := w.page(&c.Chunk, encoding, entries, before, &w.Levels.Stream, after, &stream); err != nil {
		return err
	}
	c.begin(entries)
	return nil
}

// page appends a data page of the joined streams to a chunk.
func (w *Writer) page(c *chunk, encoding format.Encoding, values int, streams ...*snappy) error {
	c.Values += int64(values)
	c.Count++
	return c.append(&format.PageHeader{
		Type: format.DataPage,
		DataPageHeader: thrift.New(format.DataPageHeader{
			NumValues:               int32(values),
			Encoding:                encoding,
			DefinitionLevelEncoding: format.RLE,
			RepetitionLevelEncoding: format.RLE,
		}),
	}, streams...)
}

// append appends a page to the chunk: its header, completed, and the Snappy block
// that streams make.
func (c *chunk) append(header *format.PageHeader, streams ...*snappy) error {
	size, compressed := 0, 0
	for _, s := range streams {
		size += s.Size
		compressed += len(s.Out)
	}
	var b [binary.MaxVarintLen64]byte
	preamble := binary.AppendUvarint(b[:0], uint64(size))
	compressed += len(preamble)
	if size > math.MaxInt32 || compressed > math.MaxInt32 {
		return fmt.Errorf("a page of %d bytes is larger than the Parquet format allows: a draw has too many ingredients", size)
	}
	sum := crc32.ChecksumIEEE(preamble)
	for _, s := range streams {
		sum = crc32.Update(sum, crc32.IEEETable, s.Out)
	}
	header.UncompressedPageSize = int32(size)
	header.CompressedPageSize = int32(compressed)
	header.CRC = int32(sum)
	head, err := thrift.Marshal(new(thrift.CompactProtocol), header)
	if err != nil {
		return err
	}
	if room := len(head) + compressed; cap(c.Pages)-len(c.Pages) < room {
		c.Pages = slices.Grow(c.Pages, max(room, cap(c.Pages))) // twice as large, at least
	}
	c.Pages = append(append(c.Pages, head...), preamble...)
	for _, s := range streams {
		c.Pages = append(c.Pages, s.Out...)
	}
	c.Uncompressed += int64(len(head) + size)
	return nil
}

// dictionaryPage returns the page that the numbers of a list column refer to,
// in a chunk of its own; none if the column is plain.
func (w *Writer) dictionaryPage(c *listColumn, appendEntry func(b []byte, entry int32) []byte) (chunk, error) {
	var page chunk
	if c.Plain {
		return page, nil
	}
	b := make([]byte, 0, 32*c.numbered())
	for entry := range c.dictionary() {
		b = appendEntry(b, entry)
	}
	block := s2.EncodeSnappy(nil, b)
	_, preamble := binary.Uvarint(block)
	err := page.append(&format.PageHeader{
		Type: format.DictionaryPage,
		DictionaryPageHeader: thrift.New(format.DictionaryPageHeader{
			NumValues: int32(c.numbered()),
			Encoding:  format.Plain,
		}),
	}, &snappy{Out: block[preamble:], Size: len(b)})
	return page, err
}

// endGroup writes the open row group to the file.
func (w *Writer) endGroup() error {
	if w.GroupRows == 0 {
		return nil
	}
	if len(w.Groups) == mostGroups {
		return fmt.Errorf("the file of draws has %d row groups, the most that the Parquet format allows: use a larger thin", mostGroups)
	}
	last := w.Written - int64(w.Rows)
	bound := func(c *chunk, least, most uint64) { c.Bounded, c.Min, c.Max = true, least, most }
	bound(&w.Chain, uint64(w.schema.Chain), uint64(w.schema.Chain))
	bound(&w.Draw, uint64(last-int64(w.GroupRows)), uint64(last-1))

	names, err := w.dictionaryPage(&w.Ingredient, func(b []byte, entry int32) []byte {
		name := w.schema.Ingredients[entry]
		return append(binary.LittleEndian.AppendUint32(b, uint32(len(name))), name...)
	})
	if err != nil {
		return err
	}
	amounts, err := w.dictionaryPage(&w.Amount, func(b []byte, entry int32) []byte {
		return binary.LittleEndian.AppendUint32(b, uint32(entry))
	})
	if err != nil {
		return err
	}
	chunks := w.chunks()
	g := group{Rows: w.GroupRows}
	for k, c := range chunks {
		m := chunkMeta{
			Values:       c.Values,
			Pages:        c.Count,
			Offset:       w.Size,
			Uncompressed: c.Uncompressed,
		}
		var dictionary chunk
		switch k {
		case len(chunks) - 2:
			dictionary = names
		case len(chunks) - 1:
			dictionary = amounts
		}
		m.Uncompressed += dictionary.Uncompressed
		m.Data = m.Offset + int64(len(dictionary.Pages))
		m.Compressed = int64(len(dictionary.Pages) + len(c.Pages))
		if c.Bounded {
			m.Min, m.Max = w.bounds(k, c)
		}
		g.Chunks = append(g.Chunks, m)
		if err := w.write(dictionary.Pages); err != nil {
			return err
		}
		if err := w.write(c.Pages); err != nil {
			return err
		}
		c.reset()
	}
	w.Groups = append(w.Groups, g)
	w.GroupRows = 0
	w.Ingredient.forget()
	w.Amount.forget()
	return nil
}

// bounds returns the smallest and largest value of a chunk, the k-th, as the
// format writes them.
func (w *Writer) bounds(k int, c *chunk) (least, most []byte) {
	least = binary.LittleEndian.AppendUint64(nil, c.Min)
	most = binary.LittleEndian.AppendUint64(nil, c.Max)
	switch w.schema.kind(k) {
	case format.Int32:
		return least[:4], most[:4]
	case format.Double:
		// Readers may take a bound of either zero for the other.
		if math.Float64frombits(c.Min) == 0 {
			least = binary.LittleEndian.AppendUint64(least[:0], math.Float64bits(math.Copysign(0, -1)))
		}
		if math.Float64frombits(c.Max) == 0 {
			most = binary.LittleEndian.AppendUint64(most[:0], 0)
		}
	}
	return least, most
}

// footer writes the end of the file.
func (w *Writer) footer() error {
	meta := format.FileMetaData{
		Version:   1,
		Schema:    w.schema.elements(),
		NumRows:   w.Written,
		CreatedBy: createdBy,
	}
	paths := w.schema.paths()
	for range paths {
		meta.ColumnOrders = append(meta.ColumnOrders, format.ColumnOrder{Value: new(format.TypeDefinedOrder)})
	}
	for n, g := range w.Groups {
		group := format.RowGroup{NumRows: int64(g.Rows), FileOffset: g.Chunks[0].Offset, Ordinal: int16(n)}
		for k, m := range g.Chunks {
			group.TotalByteSize += m.Uncompressed
			group.TotalCompressedSize += m.Compressed
			group.Columns = append(group.Columns, format.ColumnChunk{MetaData: w.columnMetaData(k, paths[k], m)})
		}
		meta.RowGroups = append(meta.RowGroups, group)
	}
	b, err := thrift.Marshal(new(thrift.CompactProtocol), &meta)
	if err != nil {
		return err
	}
	if len(b) > math.MaxInt32 {
		return fmt.Errorf("a footer of %d bytes is larger than the Parquet format allows", len(b))
	}
	b = binary.LittleEndian.AppendUint32(b, uint32(len(b)))
	return w.write(append(b, magic...))
}

func (w *Writer) columnMetaData(k int, path []string, m chunkMeta) format.ColumnMetaData {
	meta := format.ColumnMetaData{
		Type:                  w.schema.kind(k),
		PathInSchema:          path,
		Codec:                 format.Snappy,
		NumValues:             m.Values,
		TotalUncompressedSize: m.Uncompressed,
		TotalCompressedSize:   m.Compressed,
		DataPageOffset:        m.Data,
	}
	data := format.Plain
	switch {
	case path[0] == chainColumn || path[0] == drawColumn:
		data = format.DeltaBinaryPacked
	case m.Data > m.Offset:
		data = format.RLEDictionary
		meta.DictionaryPageOffset = m.Offset
		meta.EncodingStats = append(meta.EncodingStats, format.PageEncodingStats{PageType: format.DictionaryPage, Encoding: format.Plain, Count: 1})
		meta.Encoding = append(meta.Encoding, format.Plain)
	}
	meta.Encoding = append(meta.Encoding, data, format.RLE)
	meta.EncodingStats = append(meta.EncodingStats, format.PageEncodingStats{PageType: format.DataPage, Encoding: data, Count: int32(m.Pages)})
	if m.Min != nil {
		meta.Statistics = format.Statistics{MinValue: m.Min, MaxValue: m.Max}
	}
	return meta
}
