package drawfile

import (
	"encoding/binary"
	"slices"
)

// snappy is a stream of Snappy elements made by hand: literals, and copies of
// what the stream holds already. It has no preamble, so that streams can be
// joined; see [chunk.append].
//
// The format is described in format_description.txt of google/snappy.
type snappy struct {
	Out  []byte
	Size int // bytes that the elements stand for
}

func (s *snappy) reset() { s.Out, s.Size = s.Out[:0], 0 }

// literal writes bytes as they are.
func (s *snappy) literal(b []byte) {
	s.Size += len(b)
	for len(b) > 0 {
		n := min(len(b), 1<<16)
		switch {
		case n <= 60:
			s.Out = append(s.Out, byte(n-1)<<2)
		case n <= 1<<8:
			s.Out = append(s.Out, 60<<2, byte(n-1))
		default:
			s.Out = append(s.Out, 61<<2, byte(n-1), byte((n-1)>>8))
		}
		s.Out = append(s.Out, b[:n]...)
		b = b[n:]
	}
}

// copy writes n bytes that repeat those offset bytes back. n may be larger than
// offset: the bytes are then a pattern of length offset.
func (s *snappy) copy(offset, n int) {
	s.Size += n
	for n > 0 {
		length := min(n, 64)
		n -= length
		switch {
		case offset >= farOffset:
			s.Out = append(s.Out, byte(length-1)<<2|3, byte(offset), byte(offset>>8), byte(offset>>16), byte(offset>>24))
		case 4 <= length && length < 12 && offset < 1<<11:
			s.Out = append(s.Out, byte(offset>>8)<<5|byte(length-4)<<2|1, byte(offset))
		default:
			s.Out = append(s.Out, byte(length-1)<<2|2, byte(offset), byte(offset>>8))
		}
	}
}

// copyValue is copy of up to 64 bytes from less than farOffset back.
func (s *snappy) copyValue(offset, n int) {
	s.Size += n
	if 4 <= n && n < 12 && offset < 1<<11 {
		s.Out = append(s.Out, byte(offset>>8)<<5|byte(n-4)<<2|1, byte(offset))
	} else {
		s.Out = append(s.Out, byte(n-1)<<2|2, byte(offset), byte(offset>>8))
	}
}

const (
	// farOffset is the first offset that takes more than two bytes.
	farOffset = 1 << 16
	// mostCopied is the longest copy that copyThenPair makes.
	mostCopied = 256
)

// copyThenPair is copy, of 1 to mostCopied bytes from less than farOffset back,
// and then literal of the two bytes of pair, the lower one first.
//
// It does so without a branch, since lengths cannot be foretold. The first copy
// is the one shorter than 64 bytes; three copies of 64 bytes are always written
// after it, and those that are too many are then written over.
func (s *snappy) copyThenPair(offset, n int, pair uint16) {
	const most = 4*3 + 4
	end := len(s.Out)
	if cap(s.Out)-end < most {
		s.Out = slices.Grow(s.Out, most)
	}
	out := s.Out[end : end+most]
	tag := uint32(offset)<<8 | 2
	binary.LittleEndian.PutUint32(out, uint32(n-1)&63<<2|tag)
	binary.LittleEndian.PutUint32(out[3:], 63<<2|tag)
	binary.LittleEndian.PutUint32(out[6:], 63<<2|tag)
	binary.LittleEndian.PutUint32(out[9:], 63<<2|tag)
	copies := 1 + uint(n-1)/64
	binary.LittleEndian.PutUint32(out[3*copies:], 1<<2|uint32(pair)<<8)
	s.Out = s.Out[:end+3*int(copies)+3]
	s.Size += n + 2
}
