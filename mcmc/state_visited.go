package mcmc

// A VisitedState is a composition that a replica of a tempered chain looked at on its way: the best
// of each set of ingredients on a line, or a whole candidate. It is not a draw and carries no
// information on the law. But chains look at far more compositions than they draw, and the peaks
// look at the best.
//
// [Chain.Search] and [Chain.DrainVisited] deliver visited states for a shortlist. Sampling does not
// need them. Package search looks further, without a chain.
type VisitedState struct {
	Parts      []Part
	Conditions []int32 // by condition: the index of its value; nil without conditions
	LogScore   float64 // Σ_k c_k·log y_k
}

// maxVisited is the most visited states that a replica stores until [Chain.DrainVisited].
const maxVisited = 256

// visitedStates records the compositions a state has visited that score above a bar.
type visitedStates struct {
	bar  float64
	list []VisitedState
}

// add returns a new record to fill, or nil if the buffer is full.
func (f *visitedStates) add(logScore float64) *VisitedState {
	n := len(f.list)
	if n == maxVisited {
		return nil
	}
	if n < cap(f.list) {
		f.list = f.list[:n+1] // keeps the Parts of an old record, to reuse their memory
	} else {
		f.list = append(f.list, VisitedState{})
	}
	find := &f.list[n]
	find.Parts, find.LogScore = find.Parts[:0], logScore
	return find
}

// addComposition records a whole composition, if it scores above the bar.
func (f *visitedStates) addComposition(c *Composition, logScore float64) {
	if f == nil || !(logScore > f.bar) {
		return
	}
	if find := f.add(logScore); find != nil {
		for _, i := range c.list {
			find.Parts = append(find.Parts, Part{Ingredient: int(i), Amount: int(c.amounts[i])})
		}
		find.Conditions = append(find.Conditions[:0], c.conditions...)
	}
}

// addValue records the composition with another value of condition k, if it scores above the bar.
func (f *visitedStates) addValue(c *Composition, k, value int, logScore float64) {
	if f == nil || !(logScore > f.bar) {
		return
	}
	was := c.conditions[k]
	c.conditions[k] = int32(value)
	f.addComposition(c, logScore)
	c.conditions[k] = was
}

// addLine records the best split of each set of ingredients on the line of (i, j), if it scores
// above the bar. The sets are those of the two ends and of the splits between. It skips sizes to
// which the law gives no mass.
func (f *visitedStates) addLine(c *Composition, p *Pieces, i, j int, law *splitLaw) {
	if f == nil {
		return
	}
	s := c.Amount(i) + c.Amount(j)
	last := len(p.starts) - 1
	if law.zero > 0 && p.values[0] > f.bar {
		f.addSplit(c, i, j, 0, p.values[0])
	}
	if law.full > 0 && p.values[last] > f.bar {
		f.addSplit(c, i, j, s, p.values[last])
	}
	if law.inner == 0 {
		return
	}
	split, best := 0, f.bar
	for q, v := range p.values {
		if v > best {
			if from, to := innerSplits(p, q, s); from < to {
				split, best = from, v
			}
		}
	}
	if split > 0 {
		f.addSplit(c, i, j, split, best)
	}
}

// addSplit records the composition with k units of i and the rest of their sum for j.
func (f *visitedStates) addSplit(c *Composition, i, j, k int, logScore float64) {
	find := f.add(logScore)
	if find == nil {
		return
	}
	for _, used := range c.list {
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
