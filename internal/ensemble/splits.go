package ensemble

import (
	"math/bits"
	"slices"
)

// splits are where pieces of a line start. Those of short lines are a bit set.
type splits struct {
	short  bool
	set    [maxShort / 64]uint64
	piece  [maxShort]int32 // by split at which one starts, which of the pieces
	long   []int32
	starts []int32
}

// maxShort is up to how many splits a short line has.
const maxShort = 4096

// begin forgets all, for a line of total+1 splits.
func (s *splits) begin(total int32) {
	if s.short = total < maxShort; s.short {
		clear(s.set[:total>>6+1])
		s.set[0] = 1
		return
	}
	s.long = append(s.long[:0], 0)
}

// add notes that a piece starts at split k.
func (s *splits) add(k int32) {
	if s.short {
		s.set[k>>6] |= 1 << (k & 63)
	} else {
		s.long = append(s.long, k)
	}
}

// finish returns where pieces start, each once and ascending.
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

// place makes the splits of changes the pieces that start there.
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
