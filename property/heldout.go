package property

// HeldOut is how well held-out pairs are predicted: how many of them there are, the
// share that is predicted right, and the share that the model states, which
// is the same on average if it is honest.
type HeldOut struct {
	Pairs         int
	Right, Stated float64
}

// maxLeaveOneOut is up to how many pairs each is left out alone.
const maxLeaveOneOut = 40

// NewHeldOut leaves out each pair in turn, or of many a tenth of them, learns from
// the others, and tells those.
func NewHeldOut(n, total int, group []int, pairs []Pair) (HeldOut, error) {
	h := HeldOut{Pairs: len(pairs)}
	if len(pairs) < 2 {
		return HeldOut{}, nil
	}
	folds := len(pairs)
	if folds > maxLeaveOneOut {
		folds = 10
	}
	for fold := range folds {
		var in, out []Pair
		for k, p := range pairs {
			if k%folds == fold {
				out = append(out, p)
			} else {
				in = append(in, p)
			}
		}
		c, err := NewComparisons(n, total, group, in)
		if err != nil {
			return h, err
		}
		taste := c.Posterior()
		for _, p := range out {
			share := taste.PreferenceProbability(p.Better, p.Worse)
			if share > 0.5 {
				h.Right += 1 / float64(len(pairs))
			} else if share == 0.5 {
				h.Right += 0.5 / float64(len(pairs))
			}
			h.Stated += max(share, 1-share) / float64(len(pairs))
		}
	}
	return h, nil
}
