package mcmc

// A VisitedState is a composition that a replica of a tempered chain scored in a move. It is either
// a candidate, or the best split of a line among those that use the same ingredients. A
// VisitedState is not a draw and says nothing about the law. But chains score far more compositions
// than they draw, and the replicas at β above 1 score the best compositions.
//
// [Chain.RecordVisited] and [Chain.DrainVisited] deliver visited states for a shortlist. Sampling does not
// need them. Package search finds good compositions without a chain.
type VisitedState struct {
	Parts      []Part
	Conditions []int32 // by condition: the index of its value; nil without conditions
	LogScore   float64 // Σ_k c_k·log y_k
}

// maxVisited is the greatest number of visited states that a replica stores until the next call of
// [Chain.DrainVisited].
const maxVisited = 256

// visitedStates holds the visited compositions of one replica whose log score exceeds a threshold.
type visitedStates struct {
	scoreThreshold float64
	records        []VisitedState
}

// newRecord appends a record with the given log score and returns it for the caller to fill. It
// returns nil if maxVisited records are stored already.
func (f *visitedStates) newRecord(logScore float64) *VisitedState {
	n := len(f.records)
	if n == maxVisited {
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

// addComposition records c if its log score exceeds the threshold for recording.
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

// addValue records c with another value of condition k, if the log score of that composition
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

// addLine records up to three divisions of the joint amount of i and j whose log score exceeds the
// threshold: all units to i, all units to j, and the best division that gives units to both. Each
// uses a different set of ingredients. The argument p holds the log scores. addLine skips numbers
// of ingredients to which law gives no mass.
func (f *visitedStates) addLine(c *Composition, p *PiecewiseConstant, i, j int, law *splitLaw) {
	if f == nil {
		return
	}
	s := c.Amount(i) + c.Amount(j)
	last := len(p.starts) - 1
	if law.zeroWeight > 0 && p.values[0] > f.scoreThreshold {
		f.addSplit(c, i, j, 0, p.values[0])
	}
	if law.fullWeight > 0 && p.values[last] > f.scoreThreshold {
		f.addSplit(c, i, j, s, p.values[last])
	}
	if law.innerWeight == 0 {
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

// addSplit records c with k units of the sum of the amounts of i and j given to i and the rest to
// j.
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
