package drawfile

import (
	"encoding/binary"
	"slices"
)

// packed is a sequence of numbers of so many bits each, one after the other, the
// lowest bit first: the bit-packed runs of the Parquet format. It begins with
// room for the tag of the one Snappy literal that it becomes.
type packed struct {
	Out   []byte
	Rest  uint64 // the bits after Out, fewer than 8
	Count uint   // of these
}

const (
	// literalTag is the length of a literal's tag that can say any length.
	literalTag = 5
	// mostPacked is how many bits a number may have, so that two go into a word of
	// 64 bits after 7 others; of mostPacked/2, four do, and of mostPacked/4, eight.
	mostPacked = 28
	// spare is how much longer than its numbers a slice for [packed.append] is.
	spare = 8
)

func (p *packed) reset() {
	p.Out = append(p.Out[:0], make([]byte, literalTag)...)
	p.Rest, p.Count = 0, 0
}

// append appends numbers of width bits. Eight at a time are written, the last ones
// with whatever is in the slice behind them, and whole words; what is too much is
// written over by the next ones.
func (p *packed) append(numbers []int32, width uint) {
	if cap(numbers)-len(numbers) < spare {
		numbers = slices.Grow(numbers, spare)
	}
	n, at, count, rest := len(numbers), len(p.Out), p.Count, p.Rest
	numbers = numbers[:n+spare]

	size := uint(at)*8 + count + uint(n)*width
	if room := int(size/8) + spare*mostPacked/8 + 8; cap(p.Out) < room {
		p.Out = slices.Grow(p.Out, room-at)
	}
	out := p.Out[:cap(p.Out)]
	w, w2, w4 := width&63, 2*width&63, 4*width&63
	for ; n > 0; n -= 8 {
		k := (*[8]int32)(numbers)
		numbers = numbers[8:]
		a, b := uint64(k[0])|uint64(k[1])<<w, uint64(k[2])|uint64(k[3])<<w
		c, d := uint64(k[4])|uint64(k[5])<<w, uint64(k[6])|uint64(k[7])<<w
		if width <= mostPacked/4 {
			at, count, rest = word(out, at, count, rest, a|b<<w2|(c|d<<w2)<<w4, 2*w4)
			continue
		}
		if width <= mostPacked/2 {
			at, count, rest = word(out, at, count, rest, a|b<<w2, w4)
			at, count, rest = word(out, at, count, rest, c|d<<w2, w4)
			continue
		}
		at, count, rest = word(out, at, count, rest, a, w2)
		at, count, rest = word(out, at, count, rest, b, w2)
		at, count, rest = word(out, at, count, rest, c, w2)
		at, count, rest = word(out, at, count, rest, d, w2)
	}
	end := size / 8
	p.Count = size & 7
	p.Rest = uint64(out[end]) & (1<<p.Count - 1)
	p.Out = out[:end]
}

// word writes so many bits at a place, after the bits of rest, of which there are
// count. It returns what all three are then.
func word(out []byte, at int, count uint, rest, bits uint64, n uint) (int, uint, uint64) {
	rest |= bits << (count & 63)
	binary.LittleEndian.PutUint64(out[at:], rest)
	count += n
	return at + int(count>>3), count & 7, rest >> (count & 0x38)
}

// holds says whether the sequence can be one of so many numbers.
func (p *packed) holds(numbers int, width uint) bool {
	return p.Count < 8 && p.Rest>>p.Count == 0 && len(p.Out) >= literalTag &&
		numbers >= 0 && 8*(len(p.Out)-literalTag)+int(p.Count) == numbers*int(width)
}

// end ends the sequence of so many numbers: with zeros up to a multiple of eight
// numbers, as the format wants, and as a literal.
func (p *packed) end(numbers int, width uint) snappy {
	size := (numbers + 7) / 8 * int(width)
	p.Out = append(p.Out, byte(p.Rest))[:len(p.Out)+int(p.Count+7)/8]
	p.Out = append(p.Out, make([]byte, size-(len(p.Out)-literalTag))...)
	p.Out[0] = 63 << 2
	binary.LittleEndian.PutUint32(p.Out[1:], uint32(size-1))
	return snappy{Out: p.Out, Size: size}
}
