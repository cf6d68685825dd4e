package property

// HeldOut measures how well the model predicts held-out pairs: their number, the share predicted
// correctly, and the share that the model expects to predict correctly. The two shares agree on
// average if the model is calibrated.
type HeldOut struct {
	Pairs         int
	Right, Stated float64
}

// maxLeaveOneOut is the greatest number of pairs for which each is held out alone.
const maxLeaveOneOut = 40

// NewHeldOut holds out each pair in turn, or a tenth of them if there are many. It learns from the
// other pairs and predicts the held-out ones.
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
