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
	// fourPacked and mostPacked are how many bits a number may have so that four
	// of them, and two, go into a word of 64 bits with 7 bits before them.
	fourPacked = 14
	mostPacked = 28
)

func (p *packed) reset() {
	p.Out = append(p.Out[:0], make([]byte, literalTag)...)
	p.Rest, p.Count = 0, 0
}

// append appends numbers of width bits, of which there are at most mostPacked.
func (p *packed) append(numbers []int32, width uint) {
	at := len(p.Out)
	// Whole words are written, of which the last bytes are then written over.
	p.Out = slices.Grow(p.Out, len(numbers)*int(width)/8+16)
	out := p.Out[:cap(p.Out)]
	rest, count := p.Rest, p.Count
	if width <= fourPacked {
		for len(numbers) >= 4 {
			low := uint64(numbers[0]) | uint64(numbers[1])<<(width&63)
			high := uint64(numbers[2]) | uint64(numbers[3])<<(width&63)
			rest |= (low | high<<(2*width&63)) << (count & 63)
			binary.LittleEndian.PutUint64(out[at:], rest)
			count += 4 * width
			at += int(count >> 3)
			rest >>= count & 0x38
			count &= 7
			numbers = numbers[4:]
		}
	}
	for _, n := range numbers {
		rest |= uint64(n) << (count & 63)
		binary.LittleEndian.PutUint64(out[at:], rest)
		count += width
		at += int(count >> 3)
		rest >>= count & 0x38
		count &= 7
	}
	p.Out, p.Rest, p.Count = out[:at], rest, count
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
