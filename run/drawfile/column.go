package drawfile

import (
	"encoding/binary"
	"iter"
	"math"
	"math/bits"
	"slices"
)

// A column makes the values section of its pages. Rows that repeat the one
// before are not looked at: a column remembers up to which row its stream goes,
// and catches up when its value changes or the page ends.

// recent remembers where in a page's stream some values have been. Few values
// come again and again where there are no properties: they are copied.
type recent [64]struct {
	Bits uint64
	Next int // 1 and the place of the value in the page; 0 if there is none
}

// place returns the place of a value that a copy reaches, or −1, and notes that it
// is at another one now.
func (r *recent) place(bits uint64, now int) int {
	e := &r[bits*0x9e3779b97f4a7c15>>58]
	at := e.Next - 1
	if e.Bits != bits || now-at >= farOffset {
		at = -1
	}
	e.Bits, e.Next = bits, now+1
	return at
}

// within says whether all places are those of a stream.
func (r *recent) within(s *snappy) bool {
	for _, e := range r {
		if e.Next < 0 || e.Next > s.Size {
			return false
		}
	}
	return true
}

// scalarColumn has one value a row, of 4 or 8 bytes.
type scalarColumn struct {
	Width  int
	Bits   uint64 // the current value
	Stream snappy
	Recent recent
	Rows   int // of the page that the stream covers
	Chunk  chunk
}

// next says that the row after the first rows of the page has a value.
func (c *scalarColumn) next(rows int, bits uint64) {
	if rows > 0 {
		if bits == c.Bits {
			return
		}
		c.catchUp(rows)
	}
	c.Bits = bits
	c.Rows = rows + 1
	now := c.Stream.Size
	if at := c.Recent.place(bits, now); at >= 0 {
		c.Stream.copyValue(now-at, c.Width)
		return
	}
	var b [8]byte
	binary.LittleEndian.PutUint64(b[:], bits)
	c.Stream.literal(b[:c.Width])
	c.Chunk.bound(bits, c.Width)
}

func (c *scalarColumn) catchUp(rows int) {
	if more := rows - c.Rows; more > 0 {
		c.Stream.copy(c.Width, more*c.Width)
		c.Rows = rows
	}
}

// listColumn has a list of entries a row. An entry is written as its number in
// the dictionary of the row group, or, if Plain, as it is.
//
// A page is written in one of two forms. Where little changes from row to row,
// numbers take whole bytes, and are literals and copies of the row before. Where
// most changes there is nothing to copy: all rows are written, and a number takes
// no more bits than it needs. The form of a page is the one in which the page
// before it is the smaller.
type listColumn struct {
	Width int  // bytes of an entry that is copied: 1, 2 or 4
	Bits  uint // of one that is packed; 0 if none ever is
	Plain bool

	// The entries that have a number. If All, each entry is its own number.
	All        bool
	Dictionary []int32
	most       int32   // the last entry
	numbers    []int32 // by entry: its number and 1, or 0; nil if Plain or All

	Entries []int32 // the current list
	Rows    int     // of the page that is written, but for Pending

	// A page of changes.
	Image   []byte // the current list as it is written
	Stream  snappy
	Pending int // bytes that repeat those of a list back

	// A page of whole rows.
	Whole   bool // the page is one
	Packed  packed
	Waiting []int32 // numbers to be packed after these
	Changes int     // what it would at most take as a page of changes, in bytes
	scratch []int32

	Chunk chunk
}

const (
	// mostAll is up to how many entries all of them have a number.
	mostAll = 1 << 12
	// leastBits is the least that a packed number takes. It bounds how many a
	// page of a given size can hold.
	leastBits = 4
	// mostWaiting is how many numbers are packed at once, or a list more.
	mostWaiting = 1 << 10
)

// newListColumn returns the column for entries from 0 to most, each of which is
// its own number if all is true.
func newListColumn(most int, all bool) listColumn {
	c := listColumn{Width: 4, Bits: max(leastBits, uint(bits.Len(uint(most)))), All: all, most: int32(most)}
	switch {
	case most < 1<<8:
		c.Width = 1
	case most < 1<<16:
		c.Width = 2
	}
	if c.Bits > mostPacked {
		c.Bits = 0
	}
	if !all {
		c.numbers = make([]int32, most+1)
	}
	return c
}

// number returns the number of an entry in the dictionary.
func (c *listColumn) number(entry int32) int32 {
	if c.All || c.Plain {
		return entry
	}
	if n := c.numbers[entry]; n > 0 {
		return n - 1
	}
	c.Dictionary = append(c.Dictionary, entry)
	c.numbers[entry] = int32(len(c.Dictionary))
	return c.numbers[entry] - 1
}

// encode puts an entry into the image, which is long enough.
func (c *listColumn) encode(place int, entry int32) {
	n := c.number(entry)
	switch c.Width {
	case 1:
		c.Image[place] = byte(n)
	case 2:
		binary.LittleEndian.PutUint16(c.Image[2*place:], uint16(n))
	default:
		binary.LittleEndian.PutUint32(c.Image[4*place:], uint32(n))
	}
}

// pack writes a list to a page of whole rows, and makes it the current one.
func (c *listColumn) pack(list []int32) {
	if c.All {
		// What waits ends with the current list: it is not kept twice. No list
		// that waits is changed.
		from := len(c.Waiting)
		c.Waiting = append(c.Waiting, list...)
		c.Entries = c.Waiting[from:len(c.Waiting):len(c.Waiting)]
	} else {
		c.Entries = append(c.Entries[:0], list...)
		for _, entry := range list {
			c.Waiting = append(c.Waiting, c.number(entry))
		}
	}
	if len(c.Waiting) >= mostWaiting {
		c.packWaiting()
	}
}

// packWaiting packs the numbers that wait for it.
func (c *listColumn) packWaiting() {
	c.Packed.append(c.Waiting, c.Bits)
	c.Waiting = c.Waiting[:0]
}

// whole says that the row after the first rows of the page has a list, whatever
// came before.
func (c *listColumn) whole(rows int, list []int32) {
	c.catchUp(rows)
	c.Rows = rows + 1
	if c.Whole {
		c.Changes += len(list) * c.Width
		c.pack(list)
		return
	}
	c.Entries = append(c.Entries[:0], list...)
	c.Image = resized(c.Image, len(list)*c.Width)
	for place, entry := range list {
		c.encode(place, entry)
	}
	c.Stream.literal(c.Image)
}

// next says that the row after the first rows of the page, which are at least
// one, has a list that differs from the one before at most in length and at the
// given places, in ascending order.
func (c *listColumn) next(rows int, list []int32, changed []int32) {
	if c.Whole {
		c.nextWhole(rows, list, changed)
		return
	}
	width, length := c.Width, len(c.Image)
	pending, from := -1, 0
	for _, place := range changed {
		entry := list[place]
		if entry == c.Entries[place] {
			continue
		}
		if pending < 0 {
			pending = c.Pending + (rows-c.Rows)*length
		}
		at := int(place) * width
		if pending += at - from; pending > 0 {
			c.Stream.copy(length, pending)
			pending = 0
		}
		c.Entries[place] = entry
		c.encode(int(place), entry)
		from = at + width
		c.Stream.literal(c.Image[at:from])
	}
	if len(list) == len(c.Entries) {
		if pending >= 0 {
			c.Pending, c.Rows = length-from, rows+1
		}
		return
	}
	if pending < 0 {
		pending = c.Pending + (rows-c.Rows)*length
	}
	shared := min(len(list), len(c.Entries))
	c.Stream.copy(length, pending+shared*width-from)
	c.Entries = append(c.Entries[:shared], list[shared:]...)
	c.Image = resized(c.Image, len(list)*width)
	for place := shared; place < len(list); place++ {
		c.encode(place, list[place])
	}
	c.Stream.literal(c.Image[shared*width:])
	c.Pending, c.Rows = 0, rows+1
}

// changeBytes is what a changed entry takes of a page of changes besides itself: a
// copy up to it and the tag of a literal.
const changeBytes = 4

// nextWhole is next for a page of whole rows.
func (c *listColumn) nextWhole(rows int, list []int32, changed []int32) {
	c.catchUp(rows)
	for _, place := range changed {
		if list[place] != c.Entries[place] {
			c.Changes += changeBytes + c.Width
		}
	}
	if added := len(list) - len(c.Entries); added != 0 {
		c.Changes += changeBytes + max(0, added)*c.Width
	}
	c.pack(list)
	c.Rows = rows + 1
}

// replace says that the row after the first rows of the page, which are at least
// one, has the list of the one before but for another entry at a place. It is
// next for the change that is the most frequent by far.
func (c *listColumn) replace(rows, place int, entry int32) {
	if c.Whole {
		c.catchUp(rows)
		c.scratch = append(c.scratch[:0], c.Entries...)
		c.scratch[place] = entry
		c.Changes += changeBytes + c.Width
		c.pack(c.scratch)
		c.Rows = rows + 1
		return
	}
	width, length := c.Width, len(c.Image)
	at := place * width
	pending := c.Pending + (rows-c.Rows)*length + at
	c.Pending, c.Rows = length-at-width, rows+1
	c.Entries[place] = entry
	if width == 2 && 0 < pending && pending <= mostCopied && length < farOffset {
		n := entry
		if !c.All {
			if n = c.numbers[entry] - 1; n < 0 {
				n = c.number(entry)
			}
		}
		binary.LittleEndian.PutUint16(c.Image[at:], uint16(n))
		c.Stream.copyThenPair(length, pending, uint16(n))
		return
	}
	c.encode(place, entry)
	c.Stream.copy(length, pending)
	c.Stream.literal(c.Image[at : at+width])
}

// resized returns s with length n and as much of its contents as fits.
func resized[T any](s []T, n int) []T {
	if n <= cap(s) {
		return s[:n]
	}
	return append(s[:cap(s)], make([]T, n-cap(s))...)
}

// catchUp writes the rows that repeat the last one written.
func (c *listColumn) catchUp(rows int) {
	if c.Whole {
		for range rows - c.Rows {
			c.pack(c.Entries)
		}
		c.Rows = rows
		return
	}
	c.Stream.copy(len(c.Image), c.Pending+(rows-c.Rows)*len(c.Image))
	c.Pending, c.Rows = 0, rows
}

// end ends the page, of so many entries: it returns its stream, which is valid
// until the next page is begun, and the bits of an entry in it.
func (c *listColumn) end(entries int) (stream snappy, width uint) {
	if c.Whole {
		c.packWaiting()
		return c.Packed.end(entries, c.Bits), c.Bits
	}
	if !c.Plain {
		c.Stream.literal(make([]byte, ((entries+7)/8*8-entries)*c.Width))
	}
	return c.Stream, uint(8 * c.Width)
}

// begin begins the page after one of so many entries, in the form that suits that
// one.
func (c *listColumn) begin(entries int) {
	if c.Bits > 0 {
		changes := c.Changes
		if !c.Whole {
			changes = len(c.Stream.Out)
		}
		c.Whole = changes > entries*int(c.Bits)/8
	}
	c.Stream.reset()
	c.Packed.reset()
	c.Rows, c.Pending, c.Changes = 0, 0, 0
}

// forget empties the dictionary for the next row group.
func (c *listColumn) forget() {
	for _, entry := range c.Dictionary {
		c.numbers[entry] = 0
	}
	c.Dictionary = c.Dictionary[:0]
}

// dictionary yields the entries in the order of their numbers.
func (c *listColumn) dictionary() iter.Seq[int32] {
	return func(yield func(int32) bool) {
		if !c.All {
			slices.Values(c.Dictionary)(yield)
			return
		}
		for entry := range c.most + 1 {
			if !yield(entry) {
				return
			}
		}
	}
}

// numbered returns how many entries have a number.
func (c *listColumn) numbered() int {
	if c.All {
		return int(c.most) + 1
	}
	return len(c.Dictionary)
}

// levels makes the repetition levels that the two lists share: 0 at the first
// entry of a row and 1 at the others, as one run each.
type levels struct {
	Length  int // of the current list
	Size    int // of its runs
	Stream  snappy
	Recent  recent
	Rows    int // of the page that the stream covers
	Entries int // in these rows
}

// next says that the row after the first rows of the page has a list of a
// length.
func (l *levels) next(rows, length int) {
	if rows > 0 {
		if length == l.Length {
			return
		}
		l.catchUp(rows)
	}
	l.Length = length
	l.Rows = rows + 1
	l.Entries += length
	now := l.Stream.Size
	l.Size = 2
	if length > 1 {
		l.Size += (bits.Len(uint(length-1)<<1)+6)/7 + 1
	}
	if at := l.Recent.place(uint64(length), now); at >= 0 {
		l.Stream.copyValue(now-at, l.Size)
		return
	}
	var b [2 + binary.MaxVarintLen64 + 1]byte
	image := append(b[:0], 1<<1, 0)
	if length > 1 {
		image = append(binary.AppendUvarint(image, uint64(length-1)<<1), 1)
	}
	l.Stream.literal(image)
}

func (l *levels) catchUp(rows int) {
	if more := rows - l.Rows; more > 0 {
		l.Stream.copy(l.Size, more*l.Size)
		l.Entries += more * l.Length
		l.Rows = rows
	}
}

// chunk is what a row group holds of one column.
type chunk struct {
	Pages        []byte // with their headers
	Count        int    // of the pages
	Values       int64
	Uncompressed int64 // size of the pages with their headers, before compression

	Bounded  bool
	Min, Max uint64 // bits
}

func (c *chunk) reset() { *c = chunk{Pages: c.Pages[:0]} }

// bound widens the bounds so that they hold a value: a double of 8 bytes or an
// integer of 4.
func (c *chunk) bound(bits uint64, width int) {
	switch {
	case !c.Bounded:
		c.Bounded, c.Min, c.Max = true, bits, bits
	case width == 4:
		if int32(bits) < int32(c.Min) {
			c.Min = bits
		}
		if int32(bits) > int32(c.Max) {
			c.Max = bits
		}
	default:
		x := math.Float64frombits(bits)
		if x < math.Float64frombits(c.Min) {
			c.Min = bits
		}
		if x > math.Float64frombits(c.Max) {
			c.Max = bits
		}
	}
}
