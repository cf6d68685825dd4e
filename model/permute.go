package model

import (
	"context"
)

// permutationImportances computes the permutation importance of each feature: see [Importance]. A
// tree that does not test a feature counts with 0. The element leftOut[k] holds the rows that tree
// k has not seen.
func (f *Forest) permutationImportances(ctx context.Context, t *featureTable, labels *labelling, leftOut []leftOutRows) ([]Importance, error) {
	worse := make([][]featureLossRise, len(f.trees))
	err := inParallel(ctx, f.options.Workers, len(f.trees), func() func(int) error {
		p := permuter{
			forest: f, table: t, labels: labels,
			rowFeatures:    make([]int32, t.featureCount),
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

// A featureLossRise says by how much the mean loss of a tree rises if the values of a feature are
// permuted.
type featureLossRise struct {
	feature int32 // index of the feature
	rise    float64
}

// A permuter permutes the values of features among rows, and measures by how much the loss of a
// tree rises. It handles one tree after another.
type permuter struct {
	forest *Forest
	table  *featureTable
	labels *labelling

	rowFeatures []int32   // scratch memory: the features of one row; zero between uses
	leafGuesses []float64 // prediction of each leaf of the tree: a number, or the index of a class
	// leftOutRows lists the rows that the tree has not seen. Each permutation shuffles the list
	// further.
	leftOutRows    []int32
	rowLosses      []float64 // loss of the tree for each row before a permutation; set only for rows in leftOutRows
	permutedValues []int32   // value of the permuted feature of each row; zero between uses
	predicted      []bool    // whether each row has been predicted after the permutation; false between uses
	donorRows      []int32   // rows in leftOutRows with a positive value of the feature before the permutation
}

// lossRises returns the rise of the mean loss of tree k for each feature that the tree tests, if
// the feature is permuted. The features ascend. The parameter out holds the rows that the tree has
// not seen.
func (p *permuter) lossRises(ctx context.Context, k int, out leftOutRows) ([]featureLossRise, error) {
	t := &p.forest.trees[k]
	random := newRandomStream(p.forest.options.Seed, streamForPermuting, uint64(k))
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
		p.table.writeRow(r, p.rowFeatures)
		p.rowLosses[r] = p.rowLoss(t, int32(r))
		p.table.clearRow(r, p.rowFeatures)
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

// permuteFeature permutes feature f among the rows that tree t has not seen, which the parameter
// out holds. It returns the rise of the tree's mean loss. Most values of a feature are zero. It
// therefore only draws rows, without replacement, that get the positive values.
func (p *permuter) permuteFeature(t *tree, f int32, out leftOutRows, random randomStream) float64 {
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
		p.table.writeRow(int(r), p.rowFeatures)
		if p.rowFeatures[f] != p.permutedValues[r] {
			p.rowFeatures[f] = p.permutedValues[r]
			rise += p.rowLoss(t, r) - p.rowLosses[r]
		}
		p.rowFeatures[f] = 0
		p.table.clearRow(int(r), p.rowFeatures)
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

// rowLoss returns the loss of tree t for row r. The features of the row are in p.x.
func (p *permuter) rowLoss(t *tree, r int32) float64 {
	guess, label := p.leafGuesses[t.leafNumber(p.rowFeatures)], p.labels.labelIndices[r]
	if p.forest.Numeric() {
		gap := guess - p.labels.numbers[label]
		return float64(gap * gap)
	}
	return indicator(int32(guess) != label)
}

// leafGuess returns the prediction of leaf l of tree t: the mean of the numbers in the leaf, or the
// index of the most frequent class. Of several equally frequent classes, the first is taken.
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
