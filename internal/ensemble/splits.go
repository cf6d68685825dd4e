package ensemble

import (
	"math/bits"
	"slices"
)

// splits collects the splits at which pieces of a line begin. For short lines it uses a bit set.
type splits struct {
	short  bool
	set    [maxShort / 64]uint64
	piece  [maxShort]int32 // index of the piece that begins at each split
	long   []int32
	starts []int32
}

// maxShort is the greatest number of splits of a line for which splits uses a bit set.
const maxShort = 4096

// begin empties s for a line of total+1 splits.
func (s *splits) begin(total int32) {
	if s.short = total < maxShort; s.short {
		clear(s.set[:total>>6+1])
		s.set[0] = 1
		return
	}
	s.long = append(s.long[:0], 0)
}

// add records that a piece begins at split k.
func (s *splits) add(k int32) {
	if s.short {
		s.set[k>>6] |= 1 << (k & 63)
	} else {
		s.long = append(s.long, k)
	}
}

// finish returns the recorded splits, each once and ascending.
func (s *splits) finish(total int32) []int32 {
	s.starts = s.starts[:0]
	if !s.short {
		slices.Sort(s.long)
		s.starts = append(s.starts, slices.Compact(s.long)...)
		return s.starts
	}
	for w, set := range s.set[:total>>6+1] {
		for ; set != 0; set &= set - 1 {
			k := int32(w<<6 | bits.TrailingZeros64(set))
			s.piece[k] = int32(len(s.starts))
			s.starts = append(s.starts, k)
		}
	}
	return s.starts
}

// place replaces the split of each change by the index of the piece that begins there.
func (s *splits) place(changes []change) {
	for k := range changes {
		c := &changes[k]
		if s.short {
			c.piece = s.piece[c.piece]
			continue
		}
		at, _ := slices.BinarySearch(s.starts, c.piece)
		c.piece = int32(at)
	}
}
