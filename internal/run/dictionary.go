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

// withDictionary returns a Parquet column type like t whose columns have a dictionary of values.
// The column then stores indexes into the dictionary. The bytes of the indexes are the same on all
// processors. The node of the column must be encoded as [parquet.RLEDictionary].
func withDictionary(t parquet.Type) parquet.Type { return dictionaryColumnType{t} }

type (
	// dictionaryColumnType is a column type whose dictionary is an [indexTypeDictionary].
	dictionaryColumnType struct{ parquet.Type }
	// indexTypeDictionary is a dictionary whose indexes have the type [dictionaryIndexType].
	indexTypeDictionary struct{ parquet.Dictionary }
	// dictionaryIndexType is the type of the indexes of a column. Its buffers are of type
	// [dictionaryIndexBuffer].
	dictionaryIndexType struct{ parquet.Type }
	// dictionaryIndexBuffer is a column buffer of indexes. Its pages are of type
	// [dictionaryIndexPage].
	dictionaryIndexBuffer struct{ parquet.ColumnBuffer }
	// dictionaryIndexPage is a page of indexes. Its type is [dictionaryIndexPageType].
	dictionaryIndexPage struct{ parquet.Page }
	// dictionaryIndexPageType is the type of a page of indexes. It encodes the indexes with
	// [appendIndexes].
	dictionaryIndexPageType struct{ parquet.Type }
)

func (t dictionaryColumnType) NewDictionary(column, count int, data encoding.Values) parquet.Dictionary {
	return indexTypeDictionary{t.Type.NewDictionary(column, count, data)}
}

func (d indexTypeDictionary) Type() parquet.Type { return dictionaryIndexType{d.Dictionary.Type()} }

func (t dictionaryIndexType) NewColumnBuffer(column, count int) parquet.ColumnBuffer {
	return dictionaryIndexBuffer{t.Type.NewColumnBuffer(column, count)}
}

func (b dictionaryIndexBuffer) Page() parquet.Page { return dictionaryIndexPage{b.ColumnBuffer.Page()} }

func (p dictionaryIndexPage) Type() parquet.Type { return dictionaryIndexPageType{p.Page.Type()} }

func (dictionaryIndexPageType) Encode(dst []byte, src encoding.Values, _ encoding.Encoding) ([]byte, error) {
	return appendIndexes(dst[:0], src.Int32()), nil
}

// minRunLength is the least number of equal consecutive indexes that are written as one repeated
// value instead of one by one.
const minRunLength = 8

// appendIndexes appends dictionary indexes to dst in the hybrid encoding of Apache Parquet
// (Encodings: "Run Length Encoding / Bit-Packing Hybrid"). First comes the bit width of the
// indexes. Long runs of equal indexes follow as one repeated value, and all other indexes as packed
// groups of eight.
func appendIndexes(dst []byte, indexes []int32) []byte {
	largest := uint32(0)
	for _, v := range indexes {
		largest |= uint32(v)
	}
	width := bits.Len32(largest)
	dst = append(dst, byte(width))
	for from := 0; from < len(indexes); {
		if n := runLength(indexes[from:]); n >= minRunLength || n == len(indexes)-from {
			dst = binary.AppendUvarint(dst, uint64(n)<<1)
			for b := 0; b < width; b += 8 {
				dst = append(dst, byte(uint32(indexes[from])>>b))
			}
			from += n
			continue
		}
		to := from
		for to < len(indexes) && runLength(indexes[to:]) < minRunLength {
			to += 8
		}
		groups := (to - from) / 8
		dst = binary.AppendUvarint(dst, uint64(groups)<<1|1)
		held, waiting := uint64(0), 0
		for k := from; k < to; k++ {
			if k < len(indexes) { // zeros fill up the last group
				held |= uint64(uint32(indexes[k])) << waiting
			}
			for waiting += width; waiting >= 8; waiting -= 8 {
				dst = append(dst, byte(held))
				held >>= 8
			}
		}
		from = min(to, len(indexes))
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
