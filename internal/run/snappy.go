package run

import (
	"encoding/binary"
	"math/bits"

	"github.com/parquet-go/parquet-go/compress/snappy"
)

// plainSnappy compresses by the library's format in bytes that follow from the input
// alone: the library's own encoder is assembly on amd64, and finds other matches than
// what it has elsewhere.
type plainSnappy struct{ snappy.Codec }

const (
	snappyBlock = 1 << 16 // which no copy reaches beyond
	snappyTable = 13      // bits of the tables of what was seen where
)

// Encode returns the length of src and then, for each block of it, literals and copies of
// what is in the block before (Snappy compressed format description, 2011).
func (*plainSnappy) Encode(dst, src []byte) ([]byte, error) {
	dst = binary.AppendUvarint(dst[:0], uint64(len(src)))
	for len(src) > 0 {
		n := min(len(src), snappyBlock)
		dst = appendSnappy(dst, src[:n])
		src = src[n:]
	}
	return dst, nil
}

// appendSnappy appends a block. It looks first where the next eight bytes were seen last,
// since that is a longer copy, then the next four, at places ever further apart while it
// finds nothing.
func appendSnappy(dst, block []byte) []byte {
	var eights, fours [1 << snappyTable]uint16
	done, at := 0, 1
	for at+8 <= len(block) {
		next := binary.LittleEndian.Uint64(block[at:])
		eight := &eights[next*0x9e3779b97f4a7c15>>(64-snappyTable)]
		four := &fours[uint32(next)*0x9e3779b1>>(32-snappyTable)]
		before := int(*eight)
		if binary.LittleEndian.Uint64(block[before:]) != next {
			before = int(*four)
		}
		*eight, *four = uint16(at), uint16(at)
		if binary.LittleEndian.Uint32(block[before:]) != uint32(next) {
			at += 1 + (at-done)>>5
			continue
		}
		for before > 0 && at > done && block[before-1] == block[at-1] {
			before, at = before-1, at-1
		}
		dst = appendLiteral(dst, block[done:at])
		n := same(block[before:], block[at:])
		dst = appendCopy(dst, at-before, n)
		at += n
		done = at
	}
	return appendLiteral(dst, block[done:])
}

// appendCopy appends n ≥ 4 bytes from so far back.
func appendCopy(dst []byte, back, n int) []byte {
	for n > 11 || n > 3 && back >= 1<<11 {
		part := min(n, 64)
		if n > 64 && n < 68 { // what is left is at least 4
			part = 60
		}
		dst = append(dst, byte(part-1)<<2|2, byte(back), byte(back>>8))
		n -= part
	}
	if n > 0 {
		dst = append(dst, byte(back>>8)<<5|byte(n-4)<<2|1, byte(back))
	}
	return dst
}

// same returns how many bytes of b, which goes on to the end of the block, are those
// of a.
func same(a, b []byte) int {
	n := 0
	for len(b)-n >= 8 {
		if d := binary.LittleEndian.Uint64(a[n:]) ^ binary.LittleEndian.Uint64(b[n:]); d != 0 {
			return n + bits.TrailingZeros64(d)/8
		}
		n += 8
	}
	for n < len(b) && a[n] == b[n] {
		n++
	}
	return n
}

// appendLiteral appends bytes as they are, at most a block.
func appendLiteral(dst, bytes []byte) []byte {
	switch n := len(bytes) - 1; {
	case n < 0:
		return dst
	case n < 60:
		dst = append(dst, byte(n)<<2)
	case n < 1<<8:
		dst = append(dst, 60<<2, byte(n))
	default:
		dst = append(dst, 61<<2, byte(n), byte(n>>8))
	}
	return append(dst, bytes...)
}
