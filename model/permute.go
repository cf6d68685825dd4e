package model

import (
	"context"
)

// permute computes the importance of each feature. A tree that does not test a feature counts as an
// importance of 0.
func (f *Forest) permute(ctx context.Context, t *table, labels *labelling, bags []bag) ([]Importance, error) {
	worse := make([][]featureLoss, len(f.trees))
	err := inParallel(ctx, f.options.Workers, len(f.trees), func() func(int) error {
		p := permuter{
			forest: f, table: t, labels: labels,
			x:     make([]int32, t.features),
			loss:  make([]float64, t.rows),
			value: make([]int32, t.rows),
			moved: make([]bool, t.rows),
		}
		return func(k int) (err error) {
			worse[k], err = p.losses(ctx, k, bags[k])
			return err
		}
	})
	if err != nil {
		return nil, err
	}
	moments := make([]moment, t.features)
	for _, losses := range worse {
		for _, l := range losses {
			moments[l.feature].sum += l.loss
			moments[l.feature].squares += float64(l.loss * l.loss)
		}
	}
	scale := 1.0
	if f.Numeric() {
		if scale = labels.variance(); scale == 0 {
			scale = 1
		}
	}
	importances := make([]Importance, t.features)
	for k := range moments {
		moments[k].n = float64(len(f.trees))
		importances[k] = Importance{moments[k].mean() / scale, moments[k].standardError() / scale}
	}
	return importances, nil
}

func (l *labelling) variance() float64 {
	var m moment
	mean := 0.0
	for _, k := range l.labelOf {
		mean += l.numbers[k] / float64(len(l.labelOf))
	}
	for _, k := range l.labelOf {
		m.add(float64((l.numbers[k] - mean) * (l.numbers[k] - mean)))
	}
	return m.mean()
}

// A featureLoss is the rise of a tree's mean loss when a feature is permuted.
type featureLoss struct {
	feature int32
	loss    float64
}

// A permuter permutes features for one tree after another.
type permuter struct {
	forest *Forest
	table  *table
	labels *labelling

	x      []int32   // scratch: the features of one row; zero between uses
	guess  []float64 // by leaf: the class or number it predicts
	rows   []int32   // the rows left out, in an order that each feature shuffles further
	loss   []float64 // by row that the tree left out: the tree's loss
	value  []int32   // by row: the permuted feature; zero between uses
	moved  []bool    // by row; false between uses
	donors []int32   // the rows left out that have a positive value of the feature
}

// losses returns the losses of the features that tree k tests, ascending by feature.
func (p *permuter) losses(ctx context.Context, k int, out bag) ([]featureLoss, error) {
	t := &p.forest.trees[k]
	random := newStream(p.forest.options.Seed, permuting, uint64(k))
	p.guess = p.guess[:0]
	for l := range int32(t.leaves()) {
		p.guess = append(p.guess, p.forest.guess(t, l))
	}
	p.rows = p.rows[:0]
	for r := range p.table.rows {
		if !out.leftOut(r) {
			continue
		}
		p.rows = append(p.rows, int32(r))
		p.table.writeRow(r, p.x)
		p.loss[r] = p.lossOf(t, int32(r))
		p.table.clear(r, p.x)
	}
	if len(p.rows) == 0 {
		return nil, nil
	}
	tested := make([]bool, p.table.features)
	for _, n := range t.nodes {
		if n.feature >= 0 {
			tested[n.feature] = true
		}
	}
	var losses []featureLoss
	for f := range tested {
		if !tested[f] {
			continue
		}
		if err := context.Cause(ctx); err != nil {
			return nil, err
		}
		losses = append(losses, featureLoss{int32(f), p.permuteFeature(t, int32(f), out, random)})
	}
	return losses, nil
}

// permuteFeature returns the rise of tree t's mean loss when feature f is permuted among the rows
// left out. Most values are zero, so permuting them amounts to giving the positive ones to rows
// drawn without replacement.
func (p *permuter) permuteFeature(t *tree, f int32, out bag, random stream) float64 {
	from, to := p.table.colStart[f], p.table.colStart[f+1]
	p.donors = p.donors[:0]
	for c := from; c < to; c++ {
		r := p.table.colRow[c]
		if !out.leftOut(int(r)) {
			continue
		}
		k := len(p.donors)
		chosen := k + random.below(len(p.rows)-k)
		p.rows[k], p.rows[chosen] = p.rows[chosen], p.rows[k]
		p.value[p.rows[k]] = p.table.colValue[c]
		p.donors = append(p.donors, r)
	}
	rise := 0.0
	predict := func(r int32) {
		if p.moved[r] {
			return
		}
		p.moved[r] = true
		p.table.writeRow(int(r), p.x)
		if p.x[f] != p.value[r] {
			p.x[f] = p.value[r]
			rise += p.lossOf(t, r) - p.loss[r]
		}
		p.x[f] = 0
		p.table.clear(int(r), p.x)
	}
	takers := p.rows[:len(p.donors)]
	for k := range takers {
		predict(takers[k])
		predict(p.donors[k])
	}
	for k := range takers {
		p.moved[takers[k]], p.moved[p.donors[k]] = false, false
		p.value[takers[k]] = 0
	}
	return rise / float64(len(p.rows))
}

// lossOf returns the loss of tree t for row r, whose features are in p.x.
func (p *permuter) lossOf(t *tree, r int32) float64 {
	guess, label := p.guess[t.leaf(p.x)], p.labels.labelOf[r]
	if p.forest.Numeric() {
		gap := guess - p.labels.numbers[label]
		return float64(gap * gap)
	}
	return indicator(int32(guess) != label)
}

// guess returns the prediction of leaf l: its mean number, or the index of its most frequent class,
// the first of several.
func (f *Forest) guess(t *tree, l int32) float64 {
	labels, counts := t.content(l)
	if !f.Numeric() {
		most := 0
		for c := range counts {
			if counts[c] > counts[most] {
				most = c
			}
		}
		return float64(labels[most])
	}
	mean, weight := 0.0, float64(t.weight(l))
	for c, label := range labels {
		mean += float64(float64(counts[c]) / weight * f.numbers[label])
	}
	return mean
}
