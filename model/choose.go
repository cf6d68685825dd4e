package model

import (
	"cmp"
	"context"
	"fmt"

	"slices"

	"kir/internal/portable"
)

// A Candidate is one way to grow a forest. [Choose] compares candidates.
type Candidate struct {
	Name     string    // name of the candidate in the results of [Choose]
	Features []Feature // the quantities that the forest's tests may use, as in [Data.Features]
	Options  Options
}

// maxChoiceTrees is the greatest number of trees of each forest that [Choose] grows to compare
// candidates.
const maxChoiceTrees = 100

// defaultFoldCount is the number of folds, that is, of parts into which cross-validation divides
// the rows.
const defaultFoldCount = 5

// GrowBest chooses one of the candidates by [Choose], with the seed of the first candidate, and
// grows a forest of all rows by the chosen candidate. [Forest.Choice] of the forest returns the
// result of the comparison.
func GrowBest(ctx context.Context, d *Data, candidates []Candidate, repeats int) (*Forest, error) {
	c, err := Choose(ctx, d, candidates, repeats, defaultFoldCount, candidates[0].Options.Seed)
	if err != nil {
		return nil, err
	}
	whole := *d
	whole.Features = candidates[c.Chosen].Features
	f, err := Grow(ctx, &whole, candidates[c.Chosen].Options)
	if err != nil {
		return nil, err
	}
	f.candidateChoice = c
	return f, nil
}

// Choose compares candidates by repeated cross-validation. In each repeat it divides the rows into
// folds, and predicts each fold by a forest grown from the other folds. Rows with similar labels go
// to different folds.
//
// Choose takes the first candidate that is nearly as good as the best one: its loss exceeds the
// lowest loss by at most one standard error of the difference (Breiman et al. 1984, section 3.4.3).
// So list the simplest candidates first. Data and candidates are as for [Grow]. The result depends
// only on the data, the candidates and the seed.
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
		fold := dealFolds(newRandomStream(seed, streamForFolding, uint64(repeat)), &labels, c.Folds)
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

// differenceMoments returns the moments of the differences a[r] − b[r] over all rows r. If b is
// nil, it takes the moments of a[r].
func differenceMoments(a, b []float64) (m meanAccumulator) {
	for r, v := range a {
		if b != nil {
			v -= b[r]
		}
		m.add(v)
	}
	return m
}

// dealFolds divides the rows into folds and returns the index of the fold of each row. It takes the
// rows in the order of their labels, and rows with equal labels in random order. It deals them in
// rounds: each round gives one row to each fold, in a new random order of the folds.
func dealFolds(random randomStream, labels *labelling, folds int) []int {
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
func shuffle(random randomStream, p []int) {
	for k := range p {
		at := random.drawBelow(k + 1)
		p[k] = p[at]
		p[at] = k
	}
}

// addFoldLosses predicts the rows of one fold by a forest that is grown from the other folds. It
// adds the loss of each predicted row r to sum[r]. The element fold[r] is the index of the fold of
// row r, and foldIndex is the index of the predicted fold.
func (q *Candidate) addFoldLosses(ctx context.Context, d *Data, labels *labelling, fold []int, foldIndex int, sum []float64) error {
	known := *d
	known.Features, known.Rows, known.Classes, known.Numbers, known.SD = q.Features, nil, nil, nil, nil
	for r, of := range fold {
		switch {
		case of == foldIndex:
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
		if of != foldIndex {
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
