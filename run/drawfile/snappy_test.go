package drawfile

import (
	"bytes"
	"encoding/binary"
	"math/rand/v2"
	"testing"

	"github.com/klauspost/compress/s2"
)

// The library decodes what the elements stand for.
func TestSnappyElements(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 1))
	for range 2000 {
		var s snappy
		var want []byte
		for range 1 + r.IntN(20) {
			offset := 0
			if len(want) > 0 {
				offset = 1 + r.IntN(len(want))
			}
			length := 1 + r.IntN(1<<r.IntN(9))
			switch kind := r.IntN(6); {
			case kind < 2 || offset == 0:
				if r.IntN(30) == 0 {
					length = 1 + r.IntN(200_000)
				}
				b := make([]byte, length)
				for k := range b {
					b[k] = byte(r.Uint32())
				}
				s.literal(b)
				want = append(want, b...)
			case kind == 2 && offset < farOffset && length <= mostCopied:
				pair := uint16(r.Uint32())
				s.copyThenPair(offset, length, pair)
				for range length {
					want = append(want, want[len(want)-offset])
				}
				want = append(want, byte(pair), byte(pair>>8))
			case kind == 3 && offset < farOffset && length <= 64:
				s.copyValue(offset, length)
				for range length {
					want = append(want, want[len(want)-offset])
				}
			default:
				s.copy(offset, length)
				for range length {
					want = append(want, want[len(want)-offset])
				}
			}
		}
		if s.Size != len(want) {
			t.Fatalf("the size is %d, want %d", s.Size, len(want))
		}
		block := append(binary.AppendUvarint(nil, uint64(s.Size)), s.Out...)
		got, err := s2.Decode(nil, block)
		if err != nil || !bytes.Equal(got, want) {
			t.Fatalf("decoded %d bytes with error %v, want %d", len(got), err, len(want))
		}
	}
}
