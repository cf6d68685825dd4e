package model

import (
	"cmp"
	"context"
	"fmt"

	"slices"

	"kir/internal/portable"
)

// A Candidate is one way to grow a forest from some data.
type Candidate struct {
	Name     string
	Features []Feature // the quantities that splits may test, as in [Data.Features]
	Options  Options
}

// choosingTrees is the greatest number of trees of the forests that are compared.
const choosingTrees = 100

// folds is the number of folds of the cross-validation.
const folds = 5

// GrowBest chooses among candidates, as [Choose] does with the first candidate's seed. It grows the
// chosen one and keeps the choice with the forest.
func GrowBest(ctx context.Context, d *Data, candidates []Candidate, repeats int) (*Forest, error) {
	c, err := Choose(ctx, d, candidates, repeats, folds, candidates[0].Options.Seed)
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

// Choose compares candidates by repeated cross-validation. It deals the rows to folds, rows with
// similar labels to different ones, and predicts each fold by a forest of the others. It chooses
// the first candidate whose loss is at most one standard error of their difference above the lowest
// (Breiman et al. 1984, section 3.4.3). So list the simplest candidates first. Data and candidates
// are as for [Grow]; the result depends only on them and the seed.
func Choose(ctx context.Context, d *Data, candidates []Candidate, repeats, folds int, seed uint64) (*Choice, error) {
	c := &Choice{Repeats: repeats, Folds: min(folds, len(d.Rows)), Loss: "log loss"}
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
		fold := dealFolds(newStream(seed, folding, uint64(repeat)), &labels, c.Folds)
		for part := range c.Folds {
			for k, q := range candidates {
				if err := q.losses(ctx, d, &labels, fold, part, losses[k]); err != nil {
					return nil, err
				}
			}
		}
	}
	best := 0
	for k, q := range candidates {
		loss, gain := differenceMoments(losses[k], nil), differenceMoments(losses[0], losses[k])
		n := float64(repeats)
		c.Tried = append(c.Tried, Tried{q.Name, loss.mean() / n, loss.standardError() / n, gain.mean() / n, gain.standardError() / n})
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

// differenceMoments returns the moments of a − b; a nil b is 0.
func differenceMoments(a, b []float64) (m moment) {
	for r, v := range a {
		if b != nil {
			v -= b[r]
		}
		m.add(v)
	}
	return m
}

// dealFolds returns the fold of each row. It deals the rows in the order of their labels, equal
// labels in random order. Each round of dealing has a random order of the folds.
func dealFolds(random stream, labels *labelling, folds int) []int {
	order := make([]int, len(labels.labelOf))
	shuffle(random, order)
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(labels.labelOf[a], labels.labelOf[b]) })
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

// shuffle sets a slice to a random permutation of its indices.
func shuffle(random stream, p []int) {
	for k := range p {
		at := random.below(k + 1)
		p[k] = p[at]
		p[at] = k
	}
}

// losses adds to sum the loss of each row of a fold, predicted from the other folds.
func (q *Candidate) losses(ctx context.Context, d *Data, labels *labelling, fold []int, part int, sum []float64) error {
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
	o.Trees, o.Importances = min(cmp.Or(o.Trees, choosingTrees), choosingTrees), false
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
	law := make([]float64, labels.distinctLabels())
	x := make([]int32, len(d.Ingredients))
	for r, of := range fold {
		if of != part {
			continue
		}
		for _, p := range d.Rows[r] {
			x[p.Ingredient] = p.Amount
		}
		clear(law)
		for k, w := range f.weights(x) {
			law[at[k]] = w
		}
		for _, p := range d.Rows[r] {
			x[p.Ingredient] = 0
		}
		if label := int(labels.labelOf[r]); d.Classes != nil {
			sum[r] -= portable.Log(max(law[label], 0.5/float64(len(f.trees))))
		} else {
			sum[r] += crps(labels.numbers, law, label)
		}
	}
	return nil
}
