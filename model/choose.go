package model

import (
	"cmp"
	"context"
	"fmt"

	"slices"

	"kir/internal/portable"
)

// A Candidate is one way to grow a forest, to be compared with others by [Choose].
type Candidate struct {
	Name     string
	Features []Feature // the quantities that the forest may test, as in [Data.Features]
	Options  Options
}

// maxChoiceTrees is the greatest number of trees of the forests that [Choose] grows for its
// comparison.
const maxChoiceTrees = 100

// defaultFolds is the number of parts into which cross-validation divides the rows.
const defaultFolds = 5

// GrowBest chooses among candidates, as [Choose] does with the seed of the first candidate. It
// grows a forest of all rows by the chosen candidate. The returned forest keeps the choice.
func GrowBest(ctx context.Context, d *Data, candidates []Candidate, repeats int) (*Forest, error) {
	c, err := Choose(ctx, d, candidates, repeats, defaultFolds, candidates[0].Options.Seed)
	if err != nil {
		return nil, err
	}
	whole := *d
	whole.Features = candidates[c.Chosen].Features
	f, err := Grow(ctx, &whole, candidates[c.Chosen].Options)
	if err != nil {
		return nil, err
	}
	f.choice = c
	return f, nil
}

// Choose compares candidates by repeated cross-validation. It divides the rows into folds and
// predicts each fold by a forest of the other folds. Rows with similar labels go to different
// folds.
//
// Choose takes the first candidate whose loss exceeds the lowest loss by at most one standard error
// of the difference (Breiman et al. 1984, section 3.4.3). So list the simplest candidates first.
// Data and candidates are as for [Grow]. The result depends only on the data, the candidates and
// the seed.
func Choose(ctx context.Context, d *Data, candidates []Candidate, repeats, folds int, seed uint64) (*CandidateChoice, error) {
	c := &CandidateChoice{Repeats: repeats, Folds: min(folds, len(d.Rows)), Loss: "log loss"}
	if d.Numbers != nil {
		c.Loss = "CRPS"
	}
	if err := d.check(); err != nil {
		return nil, fmt.Errorf("choosing a forest: %w", err)
	}
	if c.Folds < 2 || repeats < 1 || len(candidates) == 0 {
		return nil, fmt.Errorf("choosing a forest: there are %d rows, %d repeats and %d candidates; there must be two rows, and one of the others", len(d.Rows), repeats, len(candidates))
	}
	labels := d.labelling()
	losses := make([][]float64, len(candidates)) // by candidate and row: the sum of the losses over all repeats
	for k := range losses {
		losses[k] = make([]float64, len(d.Rows))
	}
	for repeat := range repeats {
		fold := dealFolds(newStream(seed, foldPurpose, uint64(repeat)), &labels, c.Folds)
		for part := range c.Folds {
			for k, q := range candidates {
				if err := q.addFoldLosses(ctx, d, &labels, fold, part, losses[k]); err != nil {
					return nil, err
				}
			}
		}
	}
	best := 0
	for k, q := range candidates {
		loss, gain := differenceMoments(losses[k], nil), differenceMoments(losses[0], losses[k])
		n := float64(repeats)
		c.Tried = append(c.Tried, CandidateResult{q.Name, loss.mean() / n, loss.standardError() / n, gain.mean() / n, gain.standardError() / n})
		if c.Tried[k].Loss < c.Tried[best].Loss {
			best = k
		}
	}
	for c.Chosen = range c.Tried {
		if above := differenceMoments(losses[c.Chosen], losses[best]); above.mean() <= above.standardError() {
			break
		}
	}
	return c, nil
}

// differenceMoments accumulates the differences a[r] − b[r] over all rows. A nil b counts as 0.
func differenceMoments(a, b []float64) (m meanAccumulator) {
	for r, v := range a {
		if b != nil {
			v -= b[r]
		}
		m.add(v)
	}
	return m
}

// dealFolds returns the index of the fold of each row. The rows are dealt in the order of their
// labels, and equal labels in random order. Each round gives one row to each fold, in a new random
// order of the folds.
func dealFolds(random stream, labels *labelling, folds int) []int {
	order := make([]int, len(labels.labelIndices))
	shuffle(random, order)
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(labels.labelIndices[a], labels.labelIndices[b]) })
	fold := make([]int, len(order))
	round := make([]int, folds)
	for k, r := range order {
		if k%folds == 0 {
			shuffle(random, round)
		}
		fold[r] = round[k%folds]
	}
	return fold
}

// shuffle sets p to a random permutation of 0, …, len(p) − 1.
func shuffle(random stream, p []int) {
	for k := range p {
		at := random.drawBelow(k + 1)
		p[k] = p[at]
		p[at] = k
	}
}

// addFoldLosses adds to sum[r] the loss of each row r of one fold, predicted by a forest of the
// other folds. The element fold[r] is the index of the fold of row r, and part is the index of the
// predicted fold.
func (q *Candidate) addFoldLosses(ctx context.Context, d *Data, labels *labelling, fold []int, part int, sum []float64) error {
	known := *d
	known.Features, known.Rows, known.Classes, known.Numbers, known.SD = q.Features, nil, nil, nil, nil
	for r, of := range fold {
		switch {
		case of == part:
			continue
		case d.Classes != nil:
			known.Classes = append(known.Classes, d.Classes[r])
		default:
			known.Numbers = append(known.Numbers, d.Numbers[r])
			if d.SD != nil {
				known.SD = append(known.SD, d.SD[r])
			}
		}
		known.Rows = append(known.Rows, d.Rows[r])
	}
	o := q.Options
	o.Trees, o.Importances = min(cmp.Or(o.Trees, maxChoiceTrees), maxChoiceTrees), false
	f, err := Grow(ctx, &known, o)
	if err != nil {
		return err
	}
	// The forest knows only the labels of its own rows.
	at := make([]int, max(len(f.classes), len(f.numbers)))
	for k := range at {
		if d.Classes != nil {
			at[k], _ = slices.BinarySearch(labels.classes, f.classes[k])
		} else {
			at[k], _ = slices.BinarySearch(labels.numbers, f.numbers[k])
		}
	}
	law := make([]float64, labels.labelCount())
	x := make([]int32, len(d.Ingredients))
	for r, of := range fold {
		if of != part {
			continue
		}
		for _, p := range d.Rows[r] {
			x[p.Ingredient] = p.Amount
		}
		clear(law)
		for k, w := range f.labelWeights(x) {
			law[at[k]] = w
		}
		for _, p := range d.Rows[r] {
			x[p.Ingredient] = 0
		}
		if label := int(labels.labelIndices[r]); d.Classes != nil {
			sum[r] -= portable.Log(max(law[label], 0.5/float64(len(f.trees))))
		} else {
			sum[r] += crps(labels.numbers, law, label)
		}
	}
	return nil
}
