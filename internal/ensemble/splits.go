package ensemble

import (
	"math/bits"
	"slices"
)

// A pieceStarts collects the positions at which the pieces of a line begin. A piece is a range of
// positions at which no tree changes its leaf. For short lines, a bit set holds the positions.
type pieceStarts struct {
	isShort      bool                      // whether the line has at most maxShortLine positions
	startBits    [maxShortLine / 64]uint64 // for a short line: bit set of the recorded positions
	pieceIndices [maxShortLine]int32       // for a short line: pieceIndices[k] is the index of the piece that begins at position k
	longStarts   []int32                   // for a longer line: the recorded positions, unsorted
	starts       []int32                   // the recorded positions, ascending; set by sortedStarts
}

// maxShortLine is the greatest number of positions of a line for which [pieceStarts] uses a bit
// set.
const maxShortLine = 4096

// startLine forgets all recorded positions and records position 0. The line has the positions 0, …,
// total.
func (s *pieceStarts) startLine(total int32) {
	if s.isShort = total < maxShortLine; s.isShort {
		clear(s.startBits[:total>>6+1])
		s.startBits[0] = 1
		return
	}
	s.longStarts = append(s.longStarts[:0], 0)
}

// addStart records that a piece begins at position k.
func (s *pieceStarts) addStart(k int32) {
	if s.isShort {
		s.startBits[k>>6] |= 1 << (k & 63)
	} else {
		s.longStarts = append(s.longStarts, k)
	}
}

// sortedStarts returns the recorded positions, each once and ascending.
func (s *pieceStarts) sortedStarts(total int32) []int32 {
	s.starts = s.starts[:0]
	if !s.isShort {
		slices.Sort(s.longStarts)
		s.starts = append(s.starts, slices.Compact(s.longStarts)...)
		return s.starts
	}
	for w, set := range s.startBits[:total>>6+1] {
		for ; set != 0; set &= set - 1 {
			k := int32(w<<6 | bits.TrailingZeros64(set))
			s.pieceIndices[k] = int32(len(s.starts))
			s.starts = append(s.starts, k)
		}
	}
	return s.starts
}

// setPieceIndices replaces the position in each change by the index of the piece that begins at the
// position.
func (s *pieceStarts) setPieceIndices(changes []leafChange) {
	for k := range changes {
		c := &changes[k]
		if s.isShort {
			c.piece = s.pieceIndices[c.piece]
			continue
		}
		at, _ := slices.BinarySearch(s.starts, c.piece)
		c.piece = int32(at)
	}
}
