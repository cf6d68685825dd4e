package model

import (
	"math"
	"slices"
)

// A split is a test that divides the rows of a node: the best one that a search has found.
type split struct {
	feature   int32 // index of the tested feature; −1 if no split was found
	threshold int32
	// gain is the decrease of the impurity by the split, up to a constant and a factor that are the
	// same for all splits of the node.
	gain float64
}

// searchSplit draws features and returns the best split of the rows orderedRows[from:to] on one of
// the drawn features.
//
// The positive values of a drawn feature are found in one of two ways. In large nodes, the column
// of the feature is scanned. In small nodes, the values of all features in the node's rows are
// gathered first. Both ways give the same pairs of value and row in the same order.
func (g *grower) searchSplit(from, to int32) split {
	if g.options.Splits == RandomSplits {
		return g.searchRandomSplit(from, to)
	}
	gathered := g.hasFewValues(from, to, g.gatherLimit)
	if gathered {
		g.gatherValues(from, to)
	}
	best := split{feature: -1}
	varying := false
	for visited := 0; visited < len(g.featureOrder); visited++ {
		if visited >= g.options.FeaturesPerSplit && varying {
			break
		}
		k := visited + g.random.drawBelow(len(g.featureOrder)-visited)
		g.featureOrder[visited], g.featureOrder[k] = g.featureOrder[k], g.featureOrder[visited]
		f := g.featureOrder[visited]
		if gathered {
			if g.firstGathered[f] == 0 {
				continue
			}
			g.pickGathered(f)
		} else {
			g.pickColumn(f, from, to)
		}
		positive := len(g.valueRowPairs)
		if positive == 0 || positive == g.nodeState.rowCount && g.valueRowPairs[0]>>32 == g.valueRowPairs[positive-1]>>32 {
			continue
		}
		varying = true
		if g.centredLabels != nil {
			g.tryNumberSplits(f, &best)
		} else {
			g.tryClassSplits(f, &best)
		}
	}
	if gathered {
		g.discardGathered()
	}
	return best
}

// searchRandomSplit draws features. For each drawn feature, it draws a threshold between the
// feature's least and greatest value in orderedRows[from:to]. It returns the best of these splits.
// If all features are to be tried, it draws only features with a positive value in some row,
// because a feature that is 0 in all rows does not vary.
func (g *grower) searchRandomSplit(from, to int32) split {
	g.gatherValues(from, to)
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
		k := visited + g.random.drawBelow(len(drawn)-visited)
		drawn[visited], drawn[k] = drawn[k], drawn[visited]
		f := drawn[visited]
		if g.firstGathered[f] > 0 && g.tryThreshold(f, &best) {
			varying = true
		}
	}
	g.discardGathered()
	return best
}

// tryThreshold draws a threshold for feature f. If the new split is better than best, it replaces
// best. The values of the feature must have been gathered. The result says whether the feature
// varies in the node.
func (g *grower) tryThreshold(f int32, best *split) (varies bool) {
	n := &g.nodeState
	rows, least, greatest := 0, int32(math.MaxInt32), int32(0)
	for c := g.firstGathered[f]; c > 0; {
		cell := &g.gatheredValues[c-1]
		least, greatest = min(least, cell.value), max(greatest, cell.value)
		rows++
		c = cell.next
	}
	if rows < n.rowCount {
		least = 0
	}
	if least == greatest {
		return false
	}
	threshold := least + int32(g.random.drawBelow(int(greatest-least)))
	for c := g.firstGathered[f]; c > 0; {
		cell := &g.gatheredValues[c-1]
		if cell.value > threshold {
			g.rowsAbove = append(g.rowsAbove, cell.row)
		}
		c = cell.next
	}
	if right := len(g.rowsAbove); right >= n.minLeafRows && n.rowCount-right >= n.minLeafRows {
		if gain := g.splitGain(g.rowsAbove); best.feature < 0 || gain > best.gain {
			*best = split{f, threshold, gain}
		}
	}
	g.rowsAbove = g.rowsAbove[:0]
	return true
}

// splitGain returns the gain of a split that sends the given rows to the right: see
// [grower.tryNumberSplits] and [grower.tryClassSplits].
func (g *grower) splitGain(right []int32) float64 {
	n := &g.nodeState
	weight := int64(0)
	if g.centredLabels != nil {
		sum := 0.0
		for _, r := range right {
			w := g.drawCounts[r]
			weight += int64(w)
			sum += float64(float64(w) * g.centredLabels[r])
		}
		rest := n.centredLabelSum - sum
		return rest*rest/float64(n.drawCount-weight) + sum*sum/float64(weight)
	}
	left, squares := n.squaredDrawSum, int64(0)
	for _, r := range right {
		w, c := int64(g.drawCounts[r]), g.labels.labelIndices[r]
		left += w * (w - 2*(n.classDraws[c]-n.rightClassDraws[c]))
		squares += w * (w + 2*n.rightClassDraws[c])
		n.rightClassDraws[c] += w
		weight += w
	}
	for _, r := range right {
		n.rightClassDraws[g.labels.labelIndices[r]] = 0
	}
	return float64(left)/float64(n.drawCount-weight) + float64(squares)/float64(weight)
}

// hasFewValues reports whether the rows orderedRows[from:to] have at most limit positive feature
// values.
func (g *grower) hasFewValues(from, to int32, limit int) bool {
	values := 0
	for _, r := range g.orderedRows[from:to] {
		values += g.table.rowStarts[r+1] - g.table.rowStarts[r]
		if values > limit {
			return false
		}
	}
	return true
}

// gatherValues sets gatheredValues to the positive feature values of the rows orderedRows[from:to],
// in one linked list for each feature.
func (g *grower) gatherValues(from, to int32) {
	g.gatheredValues, g.nodeFeatures = g.gatheredValues[:0], g.nodeFeatures[:0]
	for _, r := range g.orderedRows[from:to] {
		for k := g.table.rowStarts[r]; k < g.table.rowStarts[r+1]; k++ {
			f := g.table.rowFeatures[k]
			if g.firstGathered[f] == 0 {
				g.nodeFeatures = append(g.nodeFeatures, f)
			}
			g.gatheredValues = append(g.gatheredValues, gatheredValue{f, g.table.rowValues[k], r, g.firstGathered[f]})
			g.firstGathered[f] = int32(len(g.gatheredValues))
		}
	}
}

// discardGathered discards the values that [grower.gatherValues] has gathered.
func (g *grower) discardGathered() {
	for _, f := range g.nodeFeatures {
		g.firstGathered[f] = 0
	}
}

// pickGathered sets valueRowPairs to the values of feature f that [grower.gatherValues] has
// gathered.
func (g *grower) pickGathered(f int32) {
	g.valueRowPairs = g.valueRowPairs[:0]
	for c := g.firstGathered[f]; c > 0; {
		cell := &g.gatheredValues[c-1]
		g.valueRowPairs = append(g.valueRowPairs, uint64(cell.value)<<32|uint64(cell.row))
		c = cell.next
	}
	slices.Sort(g.valueRowPairs)
}

// pickColumn sets valueRowPairs to the values of feature f in the rows orderedRows[from:to]. It
// finds them in the column of the feature.
func (g *grower) pickColumn(f, from, to int32) {
	g.valueRowPairs = g.valueRowPairs[:0]
	for k := g.table.columnStarts[f]; k < g.table.columnStarts[f+1]; k++ {
		r := g.table.columnRows[k]
		if place := g.rowPositions[r]; from <= place && place < to {
			g.valueRowPairs = append(g.valueRowPairs, uint64(g.table.columnValues[k])<<32|uint64(r))
		}
	}
}

// tryClassSplits tries all splits on feature f. If one is better than best, it replaces best. Let
// L_c and R_c be the numbers of draws of class c on the left and right sides of a split. Its gain
// is Σ L_c²/Σ L_c + Σ R_c²/Σ R_c: Gini's index is lowest where the gain is highest. The sums are
// integers, so that equally good splits have exactly the same gain.
func (g *grower) tryClassSplits(f int32, best *split) {
	n := &g.nodeState
	left, right := n.classDraws, n.rightClassDraws
	leftWeight, leftSquares := n.drawCount, n.squaredDrawSum
	rightWeight, rightSquares := int64(0), int64(0)
	for _, p := range g.valueRowPairs {
		r := uint32(p)
		w, c := int64(g.drawCounts[r]), g.labels.labelIndices[r]
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
		leftRows := n.rowCount - len(g.valueRowPairs) + k
		if k == len(g.valueRowPairs) {
			break
		}
		p := g.valueRowPairs[k]
		if next := p >> 32; next != value {
			if leftRows >= n.minLeafRows && n.rowCount-leftRows >= n.minLeafRows {
				gain := float64(leftSquares)/float64(leftWeight) + float64(rightSquares)/float64(rightWeight)
				if gain > best.gain {
					*best = split{f, int32((value + next) / 2), gain}
				}
			}
			value = next
		}
		r := uint32(p)
		w, c := int64(g.drawCounts[r]), g.labels.labelIndices[r]
		leftSquares += w * (w + 2*left[c])
		rightSquares += w * (w - 2*right[c])
		left[c] += w
		right[c] -= w
		leftWeight += w
		rightWeight -= w
	}
}

// tryNumberSplits tries all splits on feature f. If one is better than best, it replaces best. Let
// L and R be the sums of the labels on the left and right sides of a split, and l and r the numbers
// of draws. Its gain is L²/l + R²/r: the variance within the sides is lowest where the gain is
// highest.
func (g *grower) tryNumberSplits(f int32, best *split) {
	n := &g.nodeState
	rightWeight, rightSum := int64(0), 0.0
	for _, p := range g.valueRowPairs {
		r := uint32(p)
		w := g.drawCounts[r]
		rightWeight += int64(w)
		rightSum += float64(float64(w) * g.centredLabels[r])
	}
	leftWeight, leftSum := n.drawCount-rightWeight, n.centredLabelSum-rightSum
	value := uint64(0)
	for k, p := range g.valueRowPairs {
		if next := p >> 32; next != value {
			leftRows := n.rowCount - len(g.valueRowPairs) + k
			if leftRows >= n.minLeafRows && n.rowCount-leftRows >= n.minLeafRows {
				gain := leftSum*leftSum/float64(leftWeight) + rightSum*rightSum/float64(rightWeight)
				if best.feature < 0 || gain > best.gain {
					*best = split{f, int32((value + next) / 2), gain}
				}
			}
			value = next
		}
		r := uint32(p)
		w := g.drawCounts[r]
		leftWeight += int64(w)
		rightWeight -= int64(w)
		term := float64(float64(w) * g.centredLabels[r])
		leftSum += term
		rightSum -= term
	}
}
