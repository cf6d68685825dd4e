package model

// A bag says which rows the bootstrap of a tree left out: a bit set of them.
type bag []uint64

func (b bag) leftOut(r int) bool { return b[r>>6]>>(r&63)&1 != 0 }

// drawBag draws a bootstrap sample, which a tree's stream of numbers begins with:
// as many rows as there are, with replacement. It counts them in drawn.
func drawBag(random stream, drawn []int32) bag {
	clear(drawn)
	for range drawn {
		drawn[random.below(len(drawn))]++
	}
	out := make(bag, (len(drawn)+63)/64)
	for r, n := range drawn {
		if n == 0 {
			out[r>>6] |= 1 << (r & 63)
		}
	}
	return out
}
