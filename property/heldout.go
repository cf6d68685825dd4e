package property

// HeldOutAccuracy summarises how well [Comparisons] predicts answers that were held out, that is, not used to
// learn.
type HeldOutAccuracy struct {
	Pairs            int     // number of pairs of compositions whose answers were predicted
	Accuracy         float64 // fraction of pairs whose answer is predicted correctly
	ExpectedAccuracy float64 // fraction that the model expects to predict correctly, by its probabilities; equal to Accuracy on average if the model is calibrated
}

// maxLeaveOneOut is the greatest number of pairs for which each pair is predicted from all other pairs
// (leave-one-out cross-validation). More pairs are divided into ten folds.
const maxLeaveOneOut = 40

// CrossValidate measures the predictions of [Comparisons] by cross-validation: leave-one-out for up to 40 pairs, ten
// folds for more. The arguments are those of [NewComparisons]. The result is zero for fewer than two pairs.
func CrossValidate(n, total int, group []int, pairs []Pair) (HeldOutAccuracy, error) {
	h := HeldOutAccuracy{Pairs: len(pairs)}
	if len(pairs) < 2 {
		return HeldOutAccuracy{}, nil
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
				h.Accuracy += 1 / float64(len(pairs))
			} else if share == 0.5 {
				h.Accuracy += 0.5 / float64(len(pairs))
			}
			h.ExpectedAccuracy += max(share, 1-share) / float64(len(pairs))
		}
	}
	return h, nil
}
