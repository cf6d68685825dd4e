package drawfile

import "encoding/binary"

// snappy is a stream of Snappy elements made by hand: literals, and copies of
// what the stream holds already. It has no preamble, so that streams can be
// joined; see [appendBlock].
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
		case offset >= 1<<16:
			s.Out = append(s.Out, byte(length-1)<<2|3, byte(offset), byte(offset>>8), byte(offset>>16), byte(offset>>24))
		case 4 <= length && length < 12 && offset < 1<<11:
			s.Out = append(s.Out, byte(offset>>8)<<5|byte(length-4)<<2|1, byte(offset))
		default:
			s.Out = append(s.Out, byte(length-1)<<2|2, byte(offset), byte(offset>>8))
		}
	}
}

// appendBlock joins streams to a whole Snappy block, and returns how many bytes
// it stands for.
func appendBlock(dst []byte, streams ...*snappy) (block []byte, size int) {
	for _, s := range streams {
		size += s.Size
	}
	dst = binary.AppendUvarint(dst, uint64(size))
	for _, s := range streams {
		dst = append(dst, s.Out...)
	}
	return dst, size
}
