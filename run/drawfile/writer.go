package drawfile

import (
	"io"
	"math"
)

const (
	magic     = "PAR1"
	createdBy = "kir"

	// A page ends when it has pageRows rows or its lists fill pageBytes.
	pageRows  = 1 << 13
	pageBytes = 1 << 20
	// A row group ends with the page that gives it groupRows rows or makes it
	// groupBytes large, compressed. As the format allows mostGroups in a file,
	// they become twice as large after every growAfter.
	groupRows  = 1 << 18
	groupBytes = 4 << 20
	mostGroups = 1<<15 - 1
	growAfter  = 1 << 13
	// mostAllNames is how long the names of all ingredients may be, together, to
	// stand in the dictionary of every row group.
	mostAllNames = 1 << 16
	// maxDictionaryTotal is the largest Total whose amounts are
	// dictionary-encoded.
	maxDictionaryTotal = 1<<16 - 1
)

// A Draw is what a file says of one draw besides its number. The slices are of
// equal length but for Scores.
type Draw struct {
	LogDensity  float64
	Scores      []float64 // by property
	Ingredients []int32   // by place; at least one
	Amounts     []int32   // by place
}

// A Writer writes the draws of one chain, numbered from 0. It must not be used
// by two goroutines at once.
type Writer struct {
	w      io.Writer
	schema Schema
	state

	scratch struct {
		before, after snappy
	}
}

// state is what a Writer must remember from draw to draw.
type state struct {
	Size    int64 // bytes written
	Written int64 // draws, those of the open page and row group among them
	Groups  []group

	GroupRows int // draws in the row group's complete pages
	Rows      int // draws in the open page
	Room      int // draws that it may have

	Chain, Draw chunk
	Density     scalarColumn
	Used        scalarColumn
	Scores      []scalarColumn
	Levels      levels
	Ingredient  listColumn
	Amount      listColumn
}

// group is a row group in the file.
type group struct {
	Rows   int
	Chunks []chunkMeta
}

// chunkMeta is what the footer says of a column in a row group.
type chunkMeta struct {
	Values                   int64
	Pages                    int
	Uncompressed, Compressed int64
	Offset, Data             int64 // of the first page and of the first data page
	Min, Max                 []byte
}

// NewWriter returns a Writer that begins a file.
func NewWriter(w io.Writer, s Schema) (*Writer, error) {
	out, err := newWriter(w, s)
	if err != nil {
		return nil, err
	}
	return out, out.write([]byte(magic))
}

func newWriter(w io.Writer, s Schema) (*Writer, error) {
	if err := s.check(); err != nil {
		return nil, err
	}
	out := &Writer{w: w, schema: s}
	out.Density.Width, out.Used.Width = 8, 4
	out.Scores = make([]scalarColumn, len(s.Properties))
	for k := range out.Scores {
		out.Scores[k].Width = 8
	}
	names := 0
	for _, name := range s.Ingredients {
		names += len(name)
	}
	out.Ingredient = newListColumn(len(s.Ingredients)-1, len(s.Ingredients) <= mostAll && names <= mostAllNames)
	if s.Total <= maxDictionaryTotal {
		out.Amount = newListColumn(s.Total, s.Total < mostAll)
	} else {
		out.Amount = listColumn{Width: 4, Plain: true}
	}
	return out, nil
}

// Draws returns the number of draws written.
func (w *Writer) Draws() int64 { return w.Written }

// Write appends a draw. changed lists, in ascending order, the places at which
// it may differ from the draw before, out of those that both have.
func (w *Writer) Write(d *Draw, changed []int32) error {
	if 2*len(changed) > len(d.Ingredients) || w.Rows >= w.Room {
		return w.WriteNew(d)
	}
	w.writeScalars(d)
	w.Ingredient.next(w.Rows, d.Ingredients, changed)
	w.Amount.next(w.Rows, d.Amounts, changed)
	w.Rows++
	w.Written++
	return nil
}

// WriteNew appends a draw that may differ from the draw before in everything.
func (w *Writer) WriteNew(d *Draw) error {
	if w.Rows >= w.Room {
		if err := w.endPage(); err != nil {
			return err
		}
	}
	w.writeScalars(d)
	w.Ingredient.whole(w.Rows, d.Ingredients)
	w.Amount.whole(w.Rows, d.Amounts)
	w.Rows++
	w.Written++
	return nil
}

// writeScalars appends what a draw has besides the entries of its lists.
func (w *Writer) writeScalars(d *Draw) {
	rows, used := w.Rows, len(d.Ingredients)
	w.Density.next(rows, math.Float64bits(d.LogDensity))
	for k := range w.Scores {
		w.Scores[k].next(rows, math.Float64bits(d.Scores[k]))
	}
	if rows == 0 || used != w.Levels.Length {
		w.Used.next(rows, uint64(used))
		w.Levels.next(rows, used)
		w.makeRoom(used)
	}
}

// Replace appends the last draw so many times, and then once more with another
// ingredient at a place. It is Repeat, and Write for that change alone.
func (w *Writer) Replace(repeats, place int, ingredient int32) error {
	rows := w.Rows + repeats
	if rows >= w.Room {
		return w.replaceAcross(repeats, place, ingredient)
	}
	w.Ingredient.replace(rows, place, ingredient)
	w.Rows = rows + 1
	w.Written += int64(repeats) + 1
	return nil
}

// replaceAcross is Replace where a page ends.
func (w *Writer) replaceAcross(repeats, place int, ingredient int32) error {
	if err := w.Repeat(repeats); err != nil {
		return err
	}
	if w.Rows < w.Room {
		return w.Replace(0, place, ingredient)
	}
	if err := w.endPage(); err != nil {
		return err
	}
	w.Ingredient.Entries[place] = ingredient
	w.begin()
	return nil
}

// Repeat appends the last draw n more times.
func (w *Writer) Repeat(n int) error {
	if w.Rows+n <= w.Room {
		w.Rows += n
		w.Written += int64(n)
		return nil
	}
	for n > 0 {
		if w.Rows >= w.Room {
			if err := w.endPage(); err != nil {
				return err
			}
			w.begin()
			n--
			continue
		}
		step := min(n, w.Room-w.Rows)
		w.Rows += step
		w.Written += int64(step)
		n -= step
	}
	return nil
}

// begin starts a page with the last draw once more.
func (w *Writer) begin() {
	w.Density.next(0, w.Density.Bits)
	w.Used.next(0, w.Used.Bits)
	for k := range w.Scores {
		w.Scores[k].next(0, w.Scores[k].Bits)
	}
	w.Levels.next(0, w.Levels.Length)
	w.makeRoom(w.Levels.Length)
	w.Ingredient.whole(0, w.Ingredient.Entries)
	w.Amount.whole(0, w.Amount.Entries)
	w.Rows = 1
	w.Written++
}

// makeRoom says how many rows the page may have, if all from the one after the
// next on are as long as that.
func (w *Writer) makeRoom(used int) {
	width := w.Ingredient.Width + w.Amount.Width
	left := pageBytes - w.Levels.Entries*width
	if more := pageRows - w.Rows - 1; more*used*width <= left {
		w.Room = pageRows
	} else {
		w.Room = w.Rows + 1 + max(0, left)/(used*width)
	}
}

// groupBytes returns the size of the open row group without its open page.
func (w *Writer) groupBytes() int {
	n := 0
	for _, c := range w.chunks() {
		n += len(c.Pages)
	}
	for entry := range w.Ingredient.dictionary() {
		n += 4 + len(w.schema.Ingredients[entry])
	}
	return n + 4*w.Amount.numbered()
}

// chunks returns the row group's columns in the order of the file.
func (w *Writer) chunks() []*chunk {
	chunks := []*chunk{&w.Chain, &w.Draw, &w.Density.Chunk, &w.Used.Chunk}
	for k := range w.Scores {
		chunks = append(chunks, &w.Scores[k].Chunk)
	}
	return append(chunks, &w.Ingredient.Chunk, &w.Amount.Chunk)
}

// Close ends the file. It does not close what it writes to.
func (w *Writer) Close() error {
	if err := w.endPage(); err != nil {
		return err
	}
	if err := w.endGroup(); err != nil {
		return err
	}
	return w.footer()
}

func (w *Writer) write(b []byte) error {
	n, err := w.w.Write(b)
	w.Size += int64(n)
	return err
}
