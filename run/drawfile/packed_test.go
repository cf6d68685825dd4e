package drawfile

import (
	"bytes"
	"encoding/binary"
	"math/rand/v2"
	"testing"

	"github.com/klauspost/compress/s2"
)

// Bit for bit, the simple way.
func TestPacked(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 1))
	for width := uint(1); width <= mostPacked; width++ {
		for range 20 {
			var p packed
			p.reset()
			var bits []byte
			count := 0
			for range 1 + r.IntN(30) {
				numbers := make([]int32, 40)
				for k := range numbers {
					numbers[k] = int32(r.Uint32())
				}
				numbers = numbers[:r.IntN(len(numbers))]
				for k := range numbers {
					numbers[k] = r.Int32N(1 << width)
					for b := range width {
						bits = append(bits, byte(numbers[k]>>b&1))
					}
				}
				p.append(numbers, width)
				count += len(numbers)
				if !p.holds(count, width) || p.holds(count+1, width) || p.holds(count-1, width) {
					t.Fatalf("a sequence of %d numbers of %d bits takes itself for another", count, width)
				}
			}
			if count == 0 {
				continue
			}
			want := make([]byte, (count+7)/8*int(width))
			for k, b := range bits {
				want[k/8] |= b << (k % 8)
			}
			s := p.end(count, width)
			got, err := s2.Decode(nil, append(binary.AppendUvarint(nil, uint64(s.Size)), s.Out...))
			if err != nil || !bytes.Equal(got, want) {
				t.Fatalf("%d numbers of %d bits are %x (%v), want %x", count, width, got, err, want)
			}
		}
	}
}
