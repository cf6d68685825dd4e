package ensemble

// BoundsInBox returns a lower and an upper bound of the sum of each target over a box of
// compositions. The compositions of the box have from lo[i] to hi[i] units of each ingredient i,
// and amounts that sum to total. The bounds are the sums of the least and of the greatest leaf
// value that each tree can reach in the box.
func (s *Score) BoundsInBox(lo, hi []int32, total int) (least, greatest []float64) {
	from, to := make([]int32, len(s.slots)), make([]int32, len(s.slots))
	for k := range s.slots {
		at := &s.slots[k]
		a, b := int64(0), int64(0)
		for q, i := range at.source.Ingredients {
			switch l, h := int64(lo[i]), int64(hi[i]); {
			case at.source.CountsUsed:
				a, b = a+min(l, 1), b+min(h, 1)
			case at.isWeighted():
				w := at.source.Weights[q]
				a, b = a+min(w*l, w*h), b+max(w*l, w*h)
			default:
				a, b = a+l, b+h
			}
		}
		if !at.source.CountsUsed && !at.isWeighted() {
			b = min(b, int64(total))
		}
		from[k], to[k] = at.comparedNumber(a), at.comparedNumber(b)
	}
	leaves := make([][]int32, len(s.roots))
	var todo []int32
	for t, root := range s.roots {
		for todo = append(todo[:0], root); len(todo) > 0; {
			at := todo[len(todo)-1]
			if todo = todo[:len(todo)-1]; at < 0 {
				leaves[t] = append(leaves[t], ^at)
				continue
			}
			n := &s.treeNodes[at]
			if to[n.slot] > n.threshold {
				todo = append(todo, n.right)
			}
			if from[n.slot] <= n.threshold {
				todo = append(todo, n.left)
			}
		}
	}
	for g := range s.Terms {
		low, high := s.sharedSumComputer().sumBounds(g, leaves)
		least, greatest = append(least, low), append(greatest, high)
	}
	return least, greatest
}

// BoundsInBoxCost returns the approximate time that [Score.BoundsInBox] takes, in nanoseconds.
func (s *Score) BoundsInBoxCost() int64 { return int64(5 * len(s.treeNodes)) }
