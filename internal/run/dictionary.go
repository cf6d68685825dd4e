package run

import (
	"encoding/binary"
	"math/bits"

	"github.com/parquet-go/parquet-go"
	"github.com/parquet-go/parquet-go/encoding"
)

// The Parquet library writes dictionary pages in runs that differ between processors: its AVX2 code
// ends a run where four indexes repeat the four before them. The code below replaces only the
// encoding of a page of dictionary indexes. The library does everything else.

// withDictionary returns a column type like t whose columns have a dictionary. The pages of indexes
// are encoded identically on all processors. The node of the column must be encoded as
// [parquet.RLEDictionary].
func withDictionary(t parquet.Type) parquet.Type { return indexedType{t} }

type (
	indexedType       struct{ parquet.Type }
	indexedDictionary struct{ parquet.Dictionary }
	indexesType       struct{ parquet.Type }
	indexesBuffer     struct{ parquet.ColumnBuffer }
	indexesPage       struct{ parquet.Page }
	indexesPageType   struct{ parquet.Type }
)

func (t indexedType) NewDictionary(column, count int, data encoding.Values) parquet.Dictionary {
	return indexedDictionary{t.Type.NewDictionary(column, count, data)}
}

func (d indexedDictionary) Type() parquet.Type { return indexesType{d.Dictionary.Type()} }

func (t indexesType) NewColumnBuffer(column, count int) parquet.ColumnBuffer {
	return indexesBuffer{t.Type.NewColumnBuffer(column, count)}
}

func (b indexesBuffer) Page() parquet.Page { return indexesPage{b.ColumnBuffer.Page()} }

func (p indexesPage) Type() parquet.Type { return indexesPageType{p.Page.Type()} }

func (indexesPageType) Encode(dst []byte, src encoding.Values, _ encoding.Encoding) ([]byte, error) {
	return appendIndexes(dst[:0], src.Int32()), nil
}

// minRunLength is the least number of equal indexes that are written as a run of repeated values.
const minRunLength = 8

// appendIndexes appends the bit width of the indexes, then runs of equal indexes and, in packed
// groups of eight, all other indexes (Apache Parquet, Encodings: "Run Length Encoding / Bit-Packing
// Hybrid").
func appendIndexes(dst []byte, places []int32) []byte {
	largest := uint32(0)
	for _, v := range places {
		largest |= uint32(v)
	}
	width := bits.Len32(largest)
	dst = append(dst, byte(width))
	for from := 0; from < len(places); {
		if n := runLength(places[from:]); n >= minRunLength || n == len(places)-from {
			dst = binary.AppendUvarint(dst, uint64(n)<<1)
			for b := 0; b < width; b += 8 {
				dst = append(dst, byte(uint32(places[from])>>b))
			}
			from += n
			continue
		}
		to := from
		for to < len(places) && runLength(places[to:]) < minRunLength {
			to += 8
		}
		groups := (to - from) / 8
		dst = binary.AppendUvarint(dst, uint64(groups)<<1|1)
		held, waiting := uint64(0), 0
		for k := from; k < to; k++ {
			if k < len(places) { // zeros fill up the last group
				held |= uint64(uint32(places[k])) << waiting
			}
			for waiting += width; waiting >= 8; waiting -= 8 {
				dst = append(dst, byte(held))
				held >>= 8
			}
		}
		from = min(to, len(places))
	}
	return dst
}

// runLength returns the number of elements at the beginning of v that equal v[0].
func runLength(v []int32) int {
	n := 1
	for n < len(v) && v[n] == v[0] {
		n++
	}
	return n
}
