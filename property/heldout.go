package property

// HeldOutAccuracy states how well [Comparisons] predicts answers that it did not learn from.
type HeldOutAccuracy struct {
	Pairs int // number of pairs
	// Accuracy is the fraction of pairs whose answer is predicted correctly. ExpectedAccuracy is the fraction that
	// the model itself expects to predict correctly. The two fractions are equal on average if the model is
	// calibrated.
	Accuracy, ExpectedAccuracy float64
}

// maxLeaveOneOut is the greatest number of pairs for leave-one-out cross-validation. More pairs are split into ten
// folds.
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
