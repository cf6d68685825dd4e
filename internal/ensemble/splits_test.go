package ensemble

import (
	"slices"
	"testing"
)

// Splits are told once and in order, whether a line is as long as a short one can be, or
// one longer; after any other line.
func TestSplits(t *testing.T) {
	s := new(pieceStarts)
	for _, total := range []int32{0, 1, 62, 63, 64, 127, 128, maxShortLine - 2, maxShortLine - 1, maxShortLine, 3 * maxShortLine, 5, maxShortLine - 1, 70} {
		s.startLine(total)
		if s.isShort != (total < maxShortLine) {
			t.Errorf("%d splits: short is %t", total+1, s.isShort)
		}
		want := []int32{0}
		for _, k := range []int32{total, total / 2, 0, total, total - 1, 64, 63} {
			if k < 0 || k > total {
				continue
			}
			s.addStart(k)
			want = append(want, k)
		}
		slices.Sort(want)
		want = slices.Compact(want)
		got := s.sortedStarts(total)
		if !slices.Equal(got, want) {
			t.Errorf("%d splits: pieces start at %v, and should at %v", total+1, got, want)
		}
		changes := make([]leafChange, len(want))
		for k, start := range want {
			changes[k].piece = start
		}
		s.setPieceIndices(changes)
		for k := range changes {
			if changes[k].piece != int32(k) {
				t.Errorf("%d splits: what starts at %d is piece %d of %v", total+1, want[k], changes[k].piece, want)
			}
		}
	}
}
