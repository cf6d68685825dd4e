package model

import (
	"context"
)

// permutationImportances computes the importance of each feature. A tree that does not test a
// feature counts as an importance of 0. The parameter leftOut holds, for each tree, the rows that
// the tree left out.
func (f *Forest) permutationImportances(ctx context.Context, t *table, labels *labelling, leftOut []leftOutRows) ([]Importance, error) {
	worse := make([][]featureLossRise, len(f.trees))
	err := inParallel(ctx, f.options.Workers, len(f.trees), func() func(int) error {
		p := permuter{
			forest: f, table: t, labels: labels,
			x:              make([]int32, t.featureCount),
			rowLosses:      make([]float64, t.rowCount),
			permutedValues: make([]int32, t.rowCount),
			predicted:      make([]bool, t.rowCount),
		}
		return func(k int) (err error) {
			worse[k], err = p.lossRises(ctx, k, leftOut[k])
			return err
		}
	})
	if err != nil {
		return nil, err
	}
	moments := make([]meanAccumulator, t.featureCount)
	for _, losses := range worse {
		for _, l := range losses {
			moments[l.feature].sum += l.rise
			moments[l.feature].sumSquares += float64(l.rise * l.rise)
		}
	}
	scale := 1.0
	if f.Numeric() {
		if scale = labels.variance(); scale == 0 {
			scale = 1
		}
	}
	importances := make([]Importance, t.featureCount)
	for k := range moments {
		moments[k].n = float64(len(f.trees))
		importances[k] = Importance{moments[k].mean() / scale, moments[k].standardError() / scale}
	}
	return importances, nil
}

// variance returns the variance of the numeric labels of the rows.
func (l *labelling) variance() float64 {
	var m meanAccumulator
	mean := 0.0
	for _, k := range l.labelIndices {
		mean += l.numbers[k] / float64(len(l.labelIndices))
	}
	for _, k := range l.labelIndices {
		m.add(float64((l.numbers[k] - mean) * (l.numbers[k] - mean)))
	}
	return m.mean()
}

// A featureLossRise tells by how much the mean loss of a tree rises if a feature is permuted.
type featureLossRise struct {
	feature int32
	rise    float64
}

// A permuter permutes features and measures the loss of one tree after another.
type permuter struct {
	forest *Forest
	table  *table
	labels *labelling

	x              []int32   // scratch memory: the features of one row; zero between uses
	leafGuesses    []float64 // by leaf: the predicted number, or the index of the predicted class
	leftOutRows    []int32   // the rows that the tree left out, in an order that each feature shuffles further
	rowLosses      []float64 // by row: the loss of the tree before a permutation; set for left-out rows only
	permutedValues []int32   // by row: the value of the feature after the permutation; zero between uses
	predicted      []bool    // by row: whether the row has been predicted after the permutation; false between uses
	donorRows      []int32   // the left-out rows with a positive value of the feature
}

// lossRises returns, for each feature that the tree with index k tests, the rise of the tree's mean
// loss if the feature is permuted. The parameter out holds the rows that the tree left out. The
// result is in ascending order of the features.
func (p *permuter) lossRises(ctx context.Context, k int, out leftOutRows) ([]featureLossRise, error) {
	t := &p.forest.trees[k]
	random := newStream(p.forest.options.Seed, permutePurpose, uint64(k))
	p.leafGuesses = p.leafGuesses[:0]
	for l := range int32(t.leafCount()) {
		p.leafGuesses = append(p.leafGuesses, p.forest.leafGuess(t, l))
	}
	p.leftOutRows = p.leftOutRows[:0]
	for r := range p.table.rowCount {
		if !out.contains(r) {
			continue
		}
		p.leftOutRows = append(p.leftOutRows, int32(r))
		p.table.writeRow(r, p.x)
		p.rowLosses[r] = p.rowLoss(t, int32(r))
		p.table.clearRow(r, p.x)
	}
	if len(p.leftOutRows) == 0 {
		return nil, nil
	}
	tested := make([]bool, p.table.featureCount)
	for _, n := range t.nodes {
		if n.feature >= 0 {
			tested[n.feature] = true
		}
	}
	var losses []featureLossRise
	for f := range tested {
		if !tested[f] {
			continue
		}
		if err := context.Cause(ctx); err != nil {
			return nil, err
		}
		losses = append(losses, featureLossRise{int32(f), p.permuteFeature(t, int32(f), out, random)})
	}
	return losses, nil
}

// permuteFeature returns the rise of the mean loss of tree t if feature f is permuted among the
// left-out rows. Most values are zero. To permute the values, the positive values are given to rows
// that are drawn without replacement.
func (p *permuter) permuteFeature(t *tree, f int32, out leftOutRows, random stream) float64 {
	from, to := p.table.columnStarts[f], p.table.columnStarts[f+1]
	p.donorRows = p.donorRows[:0]
	for c := from; c < to; c++ {
		r := p.table.columnRows[c]
		if !out.contains(int(r)) {
			continue
		}
		k := len(p.donorRows)
		chosen := k + random.drawBelow(len(p.leftOutRows)-k)
		p.leftOutRows[k], p.leftOutRows[chosen] = p.leftOutRows[chosen], p.leftOutRows[k]
		p.permutedValues[p.leftOutRows[k]] = p.table.columnValues[c]
		p.donorRows = append(p.donorRows, r)
	}
	rise := 0.0
	predict := func(r int32) {
		if p.predicted[r] {
			return
		}
		p.predicted[r] = true
		p.table.writeRow(int(r), p.x)
		if p.x[f] != p.permutedValues[r] {
			p.x[f] = p.permutedValues[r]
			rise += p.rowLoss(t, r) - p.rowLosses[r]
		}
		p.x[f] = 0
		p.table.clearRow(int(r), p.x)
	}
	takers := p.leftOutRows[:len(p.donorRows)]
	for k := range takers {
		predict(takers[k])
		predict(p.donorRows[k])
	}
	for k := range takers {
		p.predicted[takers[k]], p.predicted[p.donorRows[k]] = false, false
		p.permutedValues[takers[k]] = 0
	}
	return rise / float64(len(p.leftOutRows))
}

// rowLoss returns the loss of tree t for row r, whose features are in p.x.
func (p *permuter) rowLoss(t *tree, r int32) float64 {
	guess, label := p.leafGuesses[t.leafNumber(p.x)], p.labels.labelIndices[r]
	if p.forest.Numeric() {
		gap := guess - p.labels.numbers[label]
		return float64(gap * gap)
	}
	return indicator(int32(guess) != label)
}

// leafGuess returns the prediction of leaf l: the mean of its numbers, or the index of its most
// frequent class. If several classes are equally frequent, the first one is taken.
func (f *Forest) leafGuess(t *tree, l int32) float64 {
	labels, counts := t.leafContent(l)
	if !f.Numeric() {
		most := 0
		for c := range counts {
			if counts[c] > counts[most] {
				most = c
			}
		}
		return float64(labels[most])
	}
	mean, weight := 0.0, float64(t.leafDraws(l))
	for c, label := range labels {
		mean += float64(float64(counts[c]) / weight * f.numbers[label])
	}
	return mean
}
