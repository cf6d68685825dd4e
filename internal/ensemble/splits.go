package ensemble

import (
	"math/bits"
	"slices"
)

// A pieceStarts collects the positions of a line at which pieces begin. For short lines it uses a
// bit set.
type pieceStarts struct {
	isShort      bool                      // whether the line is short
	startBits    [maxShortLine / 64]uint64 // for a short line: bit set of the positions
	pieceIndices [maxShortLine]int32       // for a short line, by position: the index of the piece that begins there
	longStarts   []int32                   // for a long line: the positions, unsorted
	starts       []int32                   // the positions, ascending; set by sortedStarts
}

// maxShortLine is the greatest number of positions of a line for which [pieceStarts] uses a bit
// set.
const maxShortLine = 4096

// startLine empties s for a line with the positions 0, …, total.
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

// setPieceIndices replaces the position in each change by the index of the piece that begins there.
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
