package ensemble

import "math/bits"

// events sorts the changes along a line by split: into buckets of neighbouring
// splits, and within one by insertion.
type events struct {
	shift uint
	heads [buckets]int32 // by bucket, the first event's index + 1, ascending in k; 0
	used  [buckets / 64]uint64
	all   []event
}

// buckets is how many there are: more than most lines have pieces.
const buckets = 1024

type event struct{ k, tree, leaf, next int32 }

// begin forgets all events, for a line of total+1 splits.
func (e *events) begin(total int32) {
	e.shift = uint(max(bits.Len32(uint32(total))-bits.Len32(buckets-1), 0))
	e.all = e.all[:0]
}

// add notes that a tree has another leaf from split k on.
func (e *events) add(k, tree, leaf int32) {
	b := k >> e.shift
	e.used[b>>6] |= 1 << (b & 63)
	link := &e.heads[b]
	for *link != 0 && e.all[*link-1].k < k {
		link = &e.all[*link-1].next
	}
	made := event{k, tree, leaf, *link}
	*link = int32(len(e.all) + 1)
	e.all = append(e.all, made)
}

// pieces appends where pieces start, and the changes by piece. What is in starts
// counts as the first piece.
func (e *events) pieces(starts []int32, later []change) ([]int32, []change) {
	last := int32(0)
	for w, used := range e.used {
		for e.used[w] = 0; used != 0; used &= used - 1 {
			head := &e.heads[w<<6|bits.TrailingZeros64(used)]
			at := *head
			for *head = 0; at != 0; {
				v := &e.all[at-1]
				if v.k != last {
					last = v.k
					starts = append(starts, v.k)
				}
				later = append(later, change{v.tree, v.leaf, int32(len(starts) - 1)})
				at = v.next
			}
		}
	}
	return starts, later
}
