package ensemble

import (
	"math/bits"
	"slices"
)

// splits are where pieces of a line start. Those of short lines are a bit set.
type splits struct {
	short  bool
	set    [maxShort / 64]uint64
	before [maxShort / 64]int32 // by word of the set, the pieces that start before it
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
		s.before[w] = int32(len(s.starts))
		for ; set != 0; set &= set - 1 {
			s.starts = append(s.starts, int32(w<<6|bits.TrailingZeros64(set)))
		}
	}
	return s.starts
}

// piece returns which piece starts at split k.
func (s *splits) piece(k int32) int32 {
	if s.short {
		return s.before[k>>6] + int32(bits.OnesCount64(s.set[k>>6]&(1<<(k&63)-1)))
	}
	at, _ := slices.BinarySearch(s.starts, k)
	return int32(at)
}
