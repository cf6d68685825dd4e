package model

import (
	"math"
	"slices"
)

// A split is the best one found so far.
type split struct {
	feature   int32 // the feature that is tested; −1 if no split was found
	threshold int32
	gain      float64 // the summand of the impurity's decrease that depends on the split
}

// search draws features and returns the best split of rows[from:to] on them; with random splits,
// the best of one split of each.
//
// The positive values of a drawn feature can be found in two ways. Scanning its column and keeping
// the node's rows suits large nodes. In small ones all values of the node's rows are collected
// first. Both give the same pairs in the same order.
func (g *grower) search(from, to int32) split {
	if g.options.Splits == RandomSplits {
		return g.searchRandom(from, to)
	}
	gathered := g.valuesWithin(from, to, g.gatherLimit)
	if gathered {
		g.gather(from, to)
	}
	best := split{feature: -1}
	varying := false
	for visited := 0; visited < len(g.featureOrder); visited++ {
		if visited >= g.options.FeaturesPerSplit && varying {
			break
		}
		k := visited + g.random.below(len(g.featureOrder)-visited)
		g.featureOrder[visited], g.featureOrder[k] = g.featureOrder[k], g.featureOrder[visited]
		f := g.featureOrder[visited]
		if gathered {
			if g.firstCell[f] == 0 {
				continue
			}
			g.pickGathered(f)
		} else {
			g.pickColumn(f, from, to)
		}
		positive := len(g.pairs)
		if positive == 0 || positive == g.node.rows && g.pairs[0]>>32 == g.pairs[positive-1]>>32 {
			continue
		}
		varying = true
		if g.target != nil {
			g.tryNumbers(f, &best)
		} else {
			g.tryClasses(f, &best)
		}
	}
	if gathered {
		g.scatter()
	}
	return best
}

// searchRandom draws features, and for each a threshold between its least and its greatest value in
// rows[from:to]. It returns the best of these splits. A feature that is 0 in all of the rows does
// not vary. So if all features are tried, only those are shuffled that are not 0 in some row.
func (g *grower) searchRandom(from, to int32) split {
	g.gather(from, to)
	drawn, all := g.featureOrder, g.options.FeaturesPerSplit >= len(g.featureOrder)
	if all {
		drawn = g.nodeFeatures
	}
	best := split{feature: -1}
	varying := false
	for visited := 0; visited < len(drawn); visited++ {
		if visited >= g.options.FeaturesPerSplit && varying {
			break
		}
		k := visited + g.random.below(len(drawn)-visited)
		drawn[visited], drawn[k] = drawn[k], drawn[visited]
		f := drawn[visited]
		if g.firstCell[f] > 0 && g.tryThreshold(f, &best) {
			varying = true
		}
	}
	g.scatter()
	return best
}

// tryThreshold draws a threshold for a gathered feature and keeps the split if it is
// better than best. It reports whether the feature varies.
func (g *grower) tryThreshold(f int32, best *split) (varies bool) {
	n := &g.node
	rows, least, greatest := 0, int32(math.MaxInt32), int32(0)
	for c := g.firstCell[f]; c > 0; {
		cell := &g.cells[c-1]
		least, greatest = min(least, cell.value), max(greatest, cell.value)
		rows++
		c = cell.nextCell
	}
	if rows < n.rows {
		least = 0
	}
	if least == greatest {
		return false
	}
	threshold := least + int32(g.random.below(int(greatest-least)))
	for c := g.firstCell[f]; c > 0; {
		cell := &g.cells[c-1]
		if cell.value > threshold {
			g.above = append(g.above, cell.row)
		}
		c = cell.nextCell
	}
	if right := len(g.above); right >= n.minLeafRows && n.rows-right >= n.minLeafRows {
		if gain := g.gain(g.above); best.feature < 0 || gain > best.gain {
			*best = split{f, threshold, gain}
		}
	}
	g.above = g.above[:0]
	return true
}

// gain returns the gain, by [grower.tryNumbers] or [grower.tryClasses], of a split that sends these
// rows to the right.
func (g *grower) gain(right []int32) float64 {
	n := &g.node
	weight := int64(0)
	if g.target != nil {
		sum := 0.0
		for _, r := range right {
			w := g.drawn[r]
			weight += int64(w)
			sum += float64(float64(w) * g.target[r])
		}
		rest := n.sum - sum
		return rest*rest/float64(n.weight-weight) + sum*sum/float64(weight)
	}
	left, squares := n.squares, int64(0)
	for _, r := range right {
		w, c := int64(g.drawn[r]), g.labels.labelOf[r]
		left += w * (w - 2*(n.counts[c]-n.rightCounts[c]))
		squares += w * (w + 2*n.rightCounts[c])
		n.rightCounts[c] += w
		weight += w
	}
	for _, r := range right {
		n.rightCounts[g.labels.labelOf[r]] = 0
	}
	return float64(left)/float64(n.weight-weight) + float64(squares)/float64(weight)
}

// valuesWithin reports whether rows[from:to] have at most limit positive values.
func (g *grower) valuesWithin(from, to int32, limit int) bool {
	values := 0
	for _, r := range g.rows[from:to] {
		values += g.t.rowStart[r+1] - g.t.rowStart[r]
		if values > limit {
			return false
		}
	}
	return true
}

// gather collects the positive values of rows[from:to] by feature.
func (g *grower) gather(from, to int32) {
	g.cells, g.nodeFeatures = g.cells[:0], g.nodeFeatures[:0]
	for _, r := range g.rows[from:to] {
		for k := g.t.rowStart[r]; k < g.t.rowStart[r+1]; k++ {
			f := g.t.rowFeature[k]
			if g.firstCell[f] == 0 {
				g.nodeFeatures = append(g.nodeFeatures, f)
			}
			g.cells = append(g.cells, cellInNode{f, g.t.rowValue[k], r, g.firstCell[f]})
			g.firstCell[f] = int32(len(g.cells))
		}
	}
}

// scatter discards the values that gather collected.
func (g *grower) scatter() {
	for _, f := range g.nodeFeatures {
		g.firstCell[f] = 0
	}
}

// pickGathered sets the pairs of feature f from the gathered values.
func (g *grower) pickGathered(f int32) {
	g.pairs = g.pairs[:0]
	for c := g.firstCell[f]; c > 0; {
		cell := &g.cells[c-1]
		g.pairs = append(g.pairs, uint64(cell.value)<<32|uint64(cell.row))
		c = cell.nextCell
	}
	slices.Sort(g.pairs)
}

// pickColumn sets the pairs of feature f from its column.
func (g *grower) pickColumn(f, from, to int32) {
	g.pairs = g.pairs[:0]
	for k := g.t.colStart[f]; k < g.t.colStart[f+1]; k++ {
		r := g.t.colRow[k]
		if place := g.rowIndex[r]; from <= place && place < to {
			g.pairs = append(g.pairs, uint64(g.t.colValue[k])<<32|uint64(r))
		}
	}
}

// tryClasses looks for a split on feature f that is better than best. L_c and R_c are the draws of
// class c on the two sides. Gini's index is lowest where Σ L_c²/Σ L_c + Σ R_c²/Σ R_c is highest.
// All terms are integers until the division, so that equally good splits compare as equal.
func (g *grower) tryClasses(f int32, best *split) {
	n := &g.node
	left, right := n.counts, n.rightCounts
	leftWeight, leftSquares := n.weight, n.squares
	rightWeight, rightSquares := int64(0), int64(0)
	for _, p := range g.pairs {
		r := uint32(p)
		w, c := int64(g.drawn[r]), g.labels.labelOf[r]
		leftSquares += w * (w - 2*left[c])
		rightSquares += w * (w + 2*right[c])
		left[c] -= w
		right[c] += w
		leftWeight -= w
		rightWeight += w
	}
	// The zeros begin on the left. The pairs follow one by one, and the counts end as they began.
	value := uint64(0)
	for k := 0; ; k++ {
		leftRows := n.rows - len(g.pairs) + k
		if k == len(g.pairs) {
			break
		}
		p := g.pairs[k]
		if next := p >> 32; next != value {
			if leftRows >= n.minLeafRows && n.rows-leftRows >= n.minLeafRows {
				gain := float64(leftSquares)/float64(leftWeight) + float64(rightSquares)/float64(rightWeight)
				if gain > best.gain {
					*best = split{f, int32((value + next) / 2), gain}
				}
			}
			value = next
		}
		r := uint32(p)
		w, c := int64(g.drawn[r]), g.labels.labelOf[r]
		leftSquares += w * (w + 2*left[c])
		rightSquares += w * (w - 2*right[c])
		left[c] += w
		right[c] -= w
		leftWeight += w
		rightWeight -= w
	}
}

// tryNumbers looks for a split on feature f that is better than best. L and R are the sums of the
// labels on the two sides, l and r their weights. The variance within the sides is lowest where
// L²/l + R²/r is highest.
func (g *grower) tryNumbers(f int32, best *split) {
	n := &g.node
	rightWeight, rightSum := int64(0), 0.0
	for _, p := range g.pairs {
		r := uint32(p)
		w := g.drawn[r]
		rightWeight += int64(w)
		rightSum += float64(float64(w) * g.target[r])
	}
	leftWeight, leftSum := n.weight-rightWeight, n.sum-rightSum
	value := uint64(0)
	for k, p := range g.pairs {
		if next := p >> 32; next != value {
			leftRows := n.rows - len(g.pairs) + k
			if leftRows >= n.minLeafRows && n.rows-leftRows >= n.minLeafRows {
				gain := leftSum*leftSum/float64(leftWeight) + rightSum*rightSum/float64(rightWeight)
				if best.feature < 0 || gain > best.gain {
					*best = split{f, int32((value + next) / 2), gain}
				}
			}
			value = next
		}
		r := uint32(p)
		w := g.drawn[r]
		leftWeight += int64(w)
		rightWeight -= int64(w)
		term := float64(float64(w) * g.target[r])
		leftSum += term
		rightSum -= term
	}
}
