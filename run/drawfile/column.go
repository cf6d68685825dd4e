package drawfile

import (
	"encoding/binary"
	"math"
)

// A column makes the values section of its pages. Rows that repeat the one
// before are not looked at: a column remembers up to which row its stream goes,
// and catches up when its value changes or the page ends.

// scalarColumn has one value a row, of 4 or 8 bytes.
type scalarColumn struct {
	Width  int
	Bits   uint64 // the current value
	Stream snappy
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
	var b [8]byte
	binary.LittleEndian.PutUint64(b[:], bits)
	c.Stream.literal(b[:c.Width])
	c.Rows = rows + 1
	c.Chunk.bound(bits, c.Width)
}

func (c *scalarColumn) catchUp(rows int) {
	c.Stream.copy(c.Width, (rows-c.Rows)*c.Width)
	c.Rows = rows
}

// listColumn has a list of entries a row. An entry is written as its number in
// the dictionary of the row group, or, if Plain, as it is.
type listColumn struct {
	Width int // bytes of an entry: 1, 2 or 4
	Plain bool

	Dictionary []int32 // the entries that have a number
	numbers    []int32 // by entry: its number and 1, or 0; nil if Plain

	Entries []int32 // the current list
	Image   []byte  // the current list as it is written
	Stream  snappy
	Rows    int // of the page that the stream covers, but for
	Pending int // bytes that repeat those of a list back

	Chunk chunk
}

// newListColumn returns the column for entries from 0 to most.
func newListColumn(most int) listColumn {
	c := listColumn{Width: 4}
	switch {
	case most < 1<<8:
		c.Width = 1
	case most < 1<<16:
		c.Width = 2
	}
	c.numbers = make([]int32, most+1)
	return c
}

// number returns the number of an entry in the dictionary.
func (c *listColumn) number(entry int32) int32 {
	if n := c.numbers[entry]; n > 0 {
		return n - 1
	}
	c.Dictionary = append(c.Dictionary, entry)
	c.numbers[entry] = int32(len(c.Dictionary))
	return c.numbers[entry] - 1
}

// encode puts an entry into the image, which is long enough.
func (c *listColumn) encode(place int, entry int32) {
	if !c.Plain {
		entry = c.number(entry)
	}
	switch c.Width {
	case 1:
		c.Image[place] = byte(entry)
	case 2:
		binary.LittleEndian.PutUint16(c.Image[2*place:], uint16(entry))
	default:
		binary.LittleEndian.PutUint32(c.Image[4*place:], uint32(entry))
	}
}

// whole says that the row after the first rows of the page has a list, whatever
// came before.
func (c *listColumn) whole(rows int, list []int32) {
	c.catchUp(rows)
	c.resize(len(list))
	copy(c.Entries, list)
	c.encodeAll(list)
	c.Stream.literal(c.Image)
	c.Rows = rows + 1
}

// encodeAll puts a list into the image, which is as long.
func (c *listColumn) encodeAll(list []int32) {
	switch image := c.Image; {
	case c.Width == 1:
		for place, entry := range list {
			n := c.numbers[entry]
			if n == 0 {
				n = c.number(entry) + 1
			}
			image[place] = byte(n - 1)
		}
	case c.Width == 2:
		for _, entry := range list {
			n := c.numbers[entry]
			if n == 0 {
				n = c.number(entry) + 1
			}
			binary.LittleEndian.PutUint16(image, uint16(n-1))
			image = image[2:]
		}
	default:
		for place, entry := range list {
			c.encode(place, entry)
		}
	}
}

// next says that the row after the first rows of the page, which are at least
// one, has a list that differs from the one before at most in length and at the
// given places, in ascending order.
func (c *listColumn) next(rows int, list []int32, changed []int32) {
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
	c.resize(len(list))
	for place := shared; place < len(list); place++ {
		c.Entries[place] = list[place]
		c.encode(place, list[place])
	}
	c.Stream.literal(c.Image[shared*width:])
	c.Pending, c.Rows = 0, rows+1
}

// replace says that the row after the first rows of the page, which are at least
// one, has the list of the one before but for another entry at a place. It is
// next for the change that is the most frequent by far.
func (c *listColumn) replace(rows, place int, entry int32) {
	width, length := c.Width, len(c.Image)
	at := place * width
	pending := c.Pending + (rows-c.Rows)*length + at
	c.Pending, c.Rows = length-at-width, rows+1
	c.Entries[place] = entry
	if width == 2 && 0 < pending && pending <= mostCopied && length < farOffset {
		n := c.numbers[entry]
		if n == 0 {
			n = c.number(entry) + 1
		}
		binary.LittleEndian.PutUint16(c.Image[at:], uint16(n-1))
		c.Stream.copyThenPair(length, pending, uint16(n-1))
		return
	}
	c.encode(place, entry)
	c.Stream.copy(length, pending)
	c.Stream.literal(c.Image[at : at+width])
}

// resize makes room for a list.
func (c *listColumn) resize(n int) {
	c.Entries = resized(c.Entries, n)
	c.Image = resized(c.Image, n*c.Width)
}

// resized returns s with length n and as much of its contents as fits.
func resized[T any](s []T, n int) []T {
	if n <= cap(s) {
		return s[:n]
	}
	return append(s[:cap(s)], make([]T, n-cap(s))...)
}

func (c *listColumn) catchUp(rows int) {
	c.Stream.copy(len(c.Image), c.Pending+(rows-c.Rows)*len(c.Image))
	c.Pending, c.Rows = 0, rows
}

// forget empties the dictionary for the next row group.
func (c *listColumn) forget() {
	for _, entry := range c.Dictionary {
		c.numbers[entry] = 0
	}
	c.Dictionary = c.Dictionary[:0]
}

// levels makes the repetition levels that the two lists share: 0 at the first
// entry of a row and 1 at the others, as one run each.
type levels struct {
	Length  int    // of the current list
	Image   []byte // its runs
	Stream  snappy
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
	l.Image = append(l.Image[:0], 1<<1, 0)
	if length > 1 {
		l.Image = append(binary.AppendUvarint(l.Image, uint64(length-1)<<1), 1)
	}
	l.Stream.literal(l.Image)
	l.Rows = rows + 1
	l.Entries += length
}

func (l *levels) catchUp(rows int) {
	l.Stream.copy(len(l.Image), (rows-l.Rows)*len(l.Image))
	l.Entries += (rows - l.Rows) * l.Length
	l.Rows = rows
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
