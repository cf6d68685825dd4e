package drawfile

import (
	"bytes"
	"cmp"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"iter"
	"os"
	"syscall"

	"github.com/parquet-go/parquet-go"
	"github.com/parquet-go/parquet-go/encoding"
	"github.com/parquet-go/parquet-go/encoding/thrift"
	"github.com/parquet-go/parquet-go/format"
)

// ErrDamaged is returned for a file that is not one of draws, or no longer.
var ErrDamaged = errors.New("not a file of draws, or damaged")

// A Row is a draw with its number.
type Row struct {
	Chain  int32
	Number int64
	Draw
}

// A Reader reads a file of draws.
type Reader struct {
	file       *os.File
	parquet    *parquet.File
	properties []string
	resolve    func(name string) (int32, error)
}

// OpenReader opens a file of draws. resolve gives the number that stands for an
// ingredient in [Draw]; it is asked once a row group for each name.
//
// Errors name the file. Those of a damaged file are ErrDamaged.
func OpenReader(path string, resolve func(name string) (int32, error)) (r *Reader, err error) {
	file, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	r = &Reader{file: file, resolve: resolve}
	defer func() {
		if err != nil {
			file.Close()
		}
	}()
	info, err := file.Stat()
	if err != nil {
		return nil, err
	}
	if err := r.guard(func() error {
		// The library takes memory for the footer before it looks for it.
		var end [4 + len(magic)]byte
		if _, err := file.ReadAt(end[:], info.Size()-int64(len(end))); err != nil {
			return err
		}
		if footer := binary.LittleEndian.Uint32(end[:]); int64(footer) > info.Size() {
			return fmt.Errorf("its footer claims %d bytes", footer)
		}
		r.parquet, err = parquet.OpenFile(file, info.Size(), parquet.SkipPageIndex(true), parquet.SkipBloomFilters(true))
		return err
	}); err != nil {
		return nil, err
	}
	return r, r.guard(r.checkSchema)
}

// Close closes the file.
func (r *Reader) Close() error { return r.file.Close() }

// Draws returns the number of draws.
func (r *Reader) Draws() int64 { return r.parquet.NumRows() }

// Properties returns the names of the properties.
func (r *Reader) Properties() []string { return r.properties }

// guard makes errors name the file and be ErrDamaged unless the disk has
// failed. The library that decodes pages panics on some that are damaged; this,
// too, becomes an error.
func (r *Reader) guard(do func() error) (err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("%s: %w: %v", r.file.Name(), ErrDamaged, p)
		}
	}()
	err = do()
	var disk syscall.Errno
	if err == nil || errors.As(err, &disk) {
		return err
	}
	return fmt.Errorf("%s: %w: %w", r.file.Name(), ErrDamaged, err)
}

// checkSchema verifies that the columns are those that a Writer makes.
func (r *Reader) checkSchema() error {
	fields := r.parquet.Root().Columns()
	if len(fields) < 6 {
		return fmt.Errorf("it has %d columns", len(fields))
	}
	for _, f := range fields[4 : len(fields)-2] {
		r.properties = append(r.properties, f.Name())
	}
	want := Schema{Properties: r.properties}
	if err := want.check(); err != nil {
		return err
	}
	paths := want.paths()
	for k, f := range fields {
		leaf := f
		for _, name := range paths[k][1:] {
			if leaf = leaf.Column(name); leaf == nil {
				break
			}
		}
		if f.Name() != paths[k][0] || leaf == nil || !leaf.Leaf() || leaf.Optional() || leaf.Type().Kind() != parquet.Kind(want.kind(k)) {
			return fmt.Errorf("column %d is not %s as kir writes it", k+1, paths[k][0])
		}
	}
	return nil
}

// checkPages verifies the sizes that the headers of a row group's pages claim,
// which the library takes memory for before it looks at what is there.
func (r *Reader) checkPages(g *format.RowGroup) error {
	header := make([]byte, 256)
	for k := range g.Columns {
		m := &g.Columns[k].MetaData
		at, left := m.DataPageOffset, m.TotalCompressedSize
		if m.DictionaryPageOffset > 0 {
			at = m.DictionaryPageOffset
		}
		if at < 0 || left < 0 || at > r.parquet.Size()-left || m.Codec != format.Snappy {
			return fmt.Errorf("column %d is not within the file", k+1)
		}
		for left > 0 {
			n, err := r.file.ReadAt(header[:min(int64(len(header)), left)], at)
			if err != nil {
				return err
			}
			reader := new(thrift.CompactProtocol).NewReaderFromBytes(header[:n])
			var page format.PageHeader
			if err := thrift.NewDecoder(reader).Decode(&page); err != nil {
				return err
			}
			compressed, size, values := int64(page.CompressedPageSize), int64(page.UncompressedPageSize), int64(0)
			if page.DataPageHeader.Valid {
				values = int64(page.DataPageHeader.V.NumValues)
			}
			// Snappy makes at most 64 bytes of 3. A list has leastBits an entry at
			// least, and other pages have a row a value.
			if compressed < 0 || size < 0 || size > 22*(compressed+1) || values < 0 || values > max(pageRows, size*8/leastBits) {
				return fmt.Errorf("a page of column %d claims %d values in %d bytes made of %d", k+1, values, size, compressed)
			}
			used := int64(reader.BytesRead()) + compressed
			at, left = at+used, left-used
		}
		if left < 0 {
			return fmt.Errorf("the pages of column %d are longer than it is", k+1)
		}
	}
	return nil
}

// All returns the draws in the order of the file. What a Row refers to is valid
// until the next one. The sequence ends with the first error.
func (r *Reader) All() iter.Seq2[*Row, error] { return r.Every(1) }

// Every returns the draws 0, stride, 2·stride, … as All does. All pages are read
// and their numbers of draws checked, but of the draws in between only the
// lengths are looked at.
func (r *Reader) Every(stride int) iter.Seq2[*Row, error] {
	return func(yield func(*Row, error) bool) {
		row := &Row{Draw: Draw{Scores: make([]float64, len(r.properties))}}
		next := int64(0)
		for n, g := range r.parquet.RowGroups() {
			if err := r.guard(func() error { return r.checkPages(&r.parquet.Metadata().RowGroups[n]) }); err != nil {
				yield(nil, err)
				return
			}
			b := &block{group: g}
			more, err := r.rows(b, row, &next, int64(stride), yield)
			if err = cmp.Or(err, b.close()); err != nil {
				yield(nil, err)
				return
			}
			if !more {
				return
			}
		}
		if next != r.Draws() {
			yield(nil, r.guard(func() error { return fmt.Errorf("it holds %d draws and should hold %d", next, r.Draws()) }))
		}
	}
}

// rows yields the rows of a row group whose numbers are multiples of stride, and
// says whether more are wanted. A panic in yield is the caller's, and not caught.
func (r *Reader) rows(b *block, row *Row, next *int64, stride int64, yield func(*Row, error) bool) (more bool, err error) {
	for {
		found := false
		err := r.guard(func() (err error) {
			found, err = b.read(r)
			return err
		})
		if err != nil || !found {
			return true, err
		}
		for k, number := range b.number {
			if number != *next || b.chain[k] != b.chain[0] {
				return false, r.guard(func() error {
					return fmt.Errorf("draw %d of chain %d stands where draw %d of chain %d should", number, b.chain[k], *next, b.chain[0])
				})
			}
			*next++
			if number%stride != 0 {
				b.skip(k)
				continue
			}
			if !b.row(k, row) {
				return false, r.guard(func() error {
					return fmt.Errorf("the lists of draw %d do not have the length that they should", b.number[k])
				})
			}
			if !yield(row, nil) {
				return false, nil
			}
		}
		if !b.ended() {
			return false, r.guard(func() error {
				return fmt.Errorf("the lists of draw %d or one before do not have the length that they should", *next-1)
			})
		}
	}
}

// A block is a page of each column of a row group. A Writer ends the pages of
// all columns at the same rows.
type block struct {
	group   parquet.RowGroup
	readers []parquet.Pages // by column
	pages   []parquet.Page

	chain       []int32
	number      []int64
	density     []float64
	used        []int32
	scores      [][]float64
	ingredients lists
	amounts     lists
}

// read reads the next pages. It returns false at the end of the row group.
func (b *block) read(r *Reader) (more bool, err error) {
	chunks := b.group.ColumnChunks()
	if b.readers == nil {
		for _, c := range chunks {
			b.readers = append(b.readers, c.Pages())
		}
	}
	b.release()
	ended := 0
	for _, pages := range b.readers {
		p, err := pages.ReadPage()
		switch {
		case err == nil:
			b.pages = append(b.pages, p)
		case err == io.EOF:
			ended++
		default:
			return false, err
		}
	}
	if ended == len(b.readers) {
		return false, nil
	}
	if ended > 0 {
		return false, errors.New("its columns differ in length")
	}
	values := func(k int) *encoding.Values {
		v := b.pages[k].Data()
		return &v
	}
	b.chain, b.number, b.density, b.used = values(0).Int32(), values(1).Int64(), values(2).Double(), values(3).Int32()
	b.scores = b.scores[:0]
	for k := range r.properties {
		b.scores = append(b.scores, values(4+k).Double())
	}
	last := len(b.pages) - 1
	if err := b.ingredients.set(b.pages[last-1], func(v parquet.Value) (int32, error) {
		return r.resolve(string(v.ByteArray()))
	}); err != nil {
		return false, err
	}
	if err := b.amounts.set(b.pages[last], func(v parquet.Value) (int32, error) { return v.Int32(), nil }); err != nil {
		return false, err
	}
	rows := len(b.number)
	equal := len(b.chain) == rows && len(b.density) == rows && len(b.used) == rows
	for _, s := range b.scores {
		equal = equal && len(s) == rows
	}
	if !equal {
		return false, errors.New("the pages of its columns differ in length")
	}
	return true, nil
}

// row makes row the k-th of the block. Rows are visited in order. It returns
// false if a list has another length than the draw should have.
func (b *block) row(k int, row *Row) bool {
	row.Chain, row.Number, row.LogDensity = b.chain[k], b.number[k], b.density[k]
	for n, s := range b.scores {
		row.Scores[n] = s[k]
	}
	used := int(b.used[k])
	var a, c bool
	row.Ingredients, a = b.ingredients.next(row.Ingredients[:0], used)
	row.Amounts, c = b.amounts.next(row.Amounts[:0], used)
	return a && c
}

// skip goes past the k-th row of the block. What is wrong with its length is found
// at the next row that is not skipped.
func (b *block) skip(k int) {
	n := int(b.used[k])
	b.ingredients.at += n
	b.amounts.at += n
}

// ended says whether both lists end with the block's last row.
func (b *block) ended() bool {
	return b.ingredients.at == len(b.ingredients.values) && b.amounts.at == len(b.amounts.values)
}

// release gives the pages back.
func (b *block) release() {
	for _, p := range b.pages {
		parquet.Release(p)
	}
	b.pages = b.pages[:0]
}

func (b *block) close() (err error) {
	b.release()
	for _, p := range b.readers {
		err = cmp.Or(err, p.Close())
	}
	return err
}

// lists are those of a page, to be taken one after the other.
type lists struct {
	levels     []byte // 0 where a list begins
	values     []int32
	dictionary []int32 // what the values stand for; nil if for themselves
	at         int
}

// set makes l the lists of a page. The first page of a row group that has a
// dictionary sets it for all of them.
func (l *lists) set(p parquet.Page, resolve func(parquet.Value) (int32, error)) error {
	v := p.Data()
	l.levels, l.values, l.at = p.RepetitionLevels(), v.Int32(), 0
	if len(l.levels) != len(l.values) || p.NumNulls() > 0 {
		return errors.New("a list has entries that are null or empty")
	}
	d := p.Dictionary()
	if d == nil || l.dictionary != nil {
		return nil
	}
	l.dictionary = make([]int32, d.Len())
	for k := range l.dictionary {
		var err error
		if l.dictionary[k], err = resolve(d.Index(int32(k))); err != nil {
			return err
		}
	}
	return nil
}

// next appends the next list to dst. It returns false if it is not n long.
func (l *lists) next(dst []int32, n int) ([]int32, bool) {
	end := l.at + n
	if n < 1 || l.at < 0 || end > len(l.values) || l.levels[l.at] != 0 ||
		bytes.IndexByte(l.levels[l.at+1:end], 0) >= 0 || end < len(l.levels) && l.levels[end] != 0 {
		return dst, false
	}
	values := l.values[l.at:end]
	l.at = end
	if l.dictionary == nil {
		return append(dst, values...), true
	}
	for _, v := range values {
		if uint(v) >= uint(len(l.dictionary)) {
			return dst, false
		}
		dst = append(dst, l.dictionary[v])
	}
	return dst, true
}
