package mcmc

// A VisitedState is a composition that a replica of a chain of [Tempered] scored in a move. It is
// either a candidate, or the best division of the joint amount of two ingredients among those that
// use the same ingredients. A VisitedState is not a draw and says nothing about the target. But
// chains score far more compositions than they draw, and the replicas at β above 1 score the best
// compositions.
//
// [Chain.RecordVisited] and [Chain.DrainVisited] deliver visited states for a shortlist of good
// compositions. Sampling does not need them. Package search finds good compositions without a
// chain.
type VisitedState struct {
	Parts      []Part
	Conditions []int32 // Conditions[c] is the index of the value of condition c; nil without conditions
	LogScore   float64 // the log score Σ_k c_k·log y_k
}

// maxVisitedRecords is the greatest number of visited states that a replica stores until the next call of
// [Chain.DrainVisited].
const maxVisitedRecords = 256

// visitedStates records the compositions whose log score exceeds a threshold, for one replica of a
// chain; see [VisitedState].
type visitedStates struct {
	scoreThreshold float64
	records        []VisitedState
}

// newRecord appends a record with the given log score and returns it for the caller to fill. It
// returns nil if there are maxVisitedRecords records already.
func (f *visitedStates) newRecord(logScore float64) *VisitedState {
	n := len(f.records)
	if n == maxVisitedRecords {
		return nil
	}
	if n < cap(f.records) {
		f.records = f.records[:n+1] // keeps the Parts of an old record, to reuse their memory
	} else {
		f.records = append(f.records, VisitedState{})
	}
	find := &f.records[n]
	find.Parts, find.LogScore = find.Parts[:0], logScore
	return find
}

// addComposition records c if its log score exceeds the threshold. It does nothing if f is nil.
func (f *visitedStates) addComposition(c *Composition, logScore float64) {
	if f == nil || !(logScore > f.scoreThreshold) {
		return
	}
	if find := f.newRecord(logScore); find != nil {
		for _, i := range c.used {
			find.Parts = append(find.Parts, Part{Ingredient: int(i), Amount: int(c.amounts[i])})
		}
		find.Conditions = append(find.Conditions[:0], c.conditions...)
	}
}

// addValue records c with another value of condition k, if the given log score of this composition
// exceeds the threshold.
func (f *visitedStates) addValue(c *Composition, k, value int, logScore float64) {
	if f == nil || !(logScore > f.scoreThreshold) {
		return
	}
	was := c.conditions[k]
	c.conditions[k] = int32(value)
	f.addComposition(c, logScore)
	c.conditions[k] = was
}

// addLine records divisions of the joint amount of i and j whose log score exceeds the threshold.
// It records at most three, which use different sets of ingredients:
//
//   - the division that gives all units to i,
//   - the division that gives all units to j,
//   - the best division that gives units to both.
//
// The function p holds the log scores. A division to which law gives no weight is skipped.
func (f *visitedStates) addLine(c *Composition, p *PiecewiseConstant, i, j int, law *splitLaw) {
	if f == nil {
		return
	}
	s := c.Amount(i) + c.Amount(j)
	last := len(p.starts) - 1
	if law.zeroSplitWeight > 0 && p.values[0] > f.scoreThreshold {
		f.addSplit(c, i, j, 0, p.values[0])
	}
	if law.fullSplitWeight > 0 && p.values[last] > f.scoreThreshold {
		f.addSplit(c, i, j, s, p.values[last])
	}
	if law.innerSplitWeight == 0 {
		return
	}
	split, best := 0, f.scoreThreshold
	for q, v := range p.values {
		if v > best {
			if from, to := innerSplitsOfPiece(p, q, s); from < to {
				split, best = from, v
			}
		}
	}
	if split > 0 {
		f.addSplit(c, i, j, split, best)
	}
}

// addSplit records the composition c with another division of the joint amount of i and j: i gets k
// units, and j the rest.
func (f *visitedStates) addSplit(c *Composition, i, j, k int, logScore float64) {
	find := f.newRecord(logScore)
	if find == nil {
		return
	}
	for _, used := range c.used {
		if int(used) != i && int(used) != j {
			find.Parts = append(find.Parts, Part{Ingredient: int(used), Amount: int(c.amounts[used])})
		}
	}
	find.Conditions = append(find.Conditions[:0], c.conditions...)
	s := c.Amount(i) + c.Amount(j)
	if k > 0 {
		find.Parts = append(find.Parts, Part{Ingredient: i, Amount: k})
	}
	if k < s {
		find.Parts = append(find.Parts, Part{Ingredient: j, Amount: s - k})
	}
}
