package bound

import (
	"cmp"
	"math"
	"slices"

	"kir/rule"
)

// roundSolution looks near the solution of a box's linear program for a composition that satisfies the
// conditions, and offers the composition as a candidate. If amounts is nil, there is no solution, and
// roundSolution does nothing.
func (b *Bounder) roundSolution(n *box, amounts, uses []float64) error {
	if amounts == nil {
		return nil
	}
	x, c := b.relaxation, b.problem.Conditions
	type share struct {
		k      int
		amount float64
		must   bool
	}
	var shares []share
	for k, a := range amounts {
		if a > 0.5 || n.Lo[2*k+1] == 1 || uses[k] > 0.5 {
			shares = append(shares, share{k, a, n.Lo[2*k+1] == 1})
		}
	}
	slices.SortStableFunc(shares, func(s, t share) int {
		if s.must != t.must {
			if s.must {
				return -1
			}
			return 1
		}
		return cmp.Compare(t.amount, s.amount)
	})
	for size := min(len(shares), len(b.problem.AllowedUsedCounts)-1); size > 0; size-- {
		if !b.problem.AllowedUsedCounts[size] {
			continue
		}
		parts := make([]rule.Part, size)
		wanted := make([]float64, size)
		left := c.Total
		for q, s := range shares[:size] {
			d := b.amountSets[x.ingredients[s.k]]
			steps := math.Round((s.amount - float64(d.Lo)) / float64(d.Step))
			a := d.Lo + int(min(max(steps, 0), float64(d.Count-1)))*d.Step
			parts[q], wanted[q] = rule.Part{Ingredient: x.ingredients[s.k], Amount: a}, s.amount
			left -= a
		}
		b.work += int64(50 * size)
		if !b.fixTotal(parts, wanted, left) {
			continue
		}
		if err := b.offerNeighbours(parts); err != nil {
			return err
		}
		break
	}
	return nil
}

// fixTotal changes parts step by step until the amounts sum to the total. A negative number of missingUnits means
// that units are in excess. Item q of wanted is the wanted amount of parts[q]; each step changes the part whose
// amount is then nearest to its wanted amount. The result is false if fixTotal cannot reach the total.
func (b *Bounder) fixTotal(parts []rule.Part, wanted []float64, missingUnits int) bool {
	for range 60 {
		if missingUnits == 0 {
			return true
		}
		best, least, by := -1, math.Inf(1), 0
		for q, p := range parts {
			d := b.amountSets[p.Ingredient]
			step := d.Step
			room := (d.Hi() - p.Amount) / step
			if missingUnits < 0 {
				step, room = -step, (p.Amount-d.Lo)/step
			}
			most := min(room, missingUnits/step) // whole steps that do not overshoot what is left
			if most < 1 {
				continue
			}
			if most > 4 { // if much is left, all steps that one ingredient can take
				most = max(most, 1)
			} else {
				most = 1
			}
			if off := math.Abs(float64(p.Amount+step*most) - wanted[q]); off < least {
				best, least, by = q, off, step*most
			}
		}
		if best < 0 {
			return false
		}
		parts[best].Amount += by
		missingUnits -= by
	}
	return missingUnits == 0
}

// offerNeighbours offers the composition as a candidate if the composition satisfies the conditions. Otherwise
// offerNeighbours tries compositions in which a few steps are moved from one ingredient to another, and offers
// those that satisfy the conditions.
func (b *Bounder) offerNeighbours(parts []rule.Part) error {
	c := b.problem.Conditions
	b.work += int64(100 * len(parts))
	if c.AreKeptBy(parts) {
		return b.offerCandidate(parts)
	}
	for _, far := range [...]int{1, 2, 5} {
		for i := range parts {
			for j := range parts {
				if i == j {
					continue
				}
				step := max(b.amountSets[parts[i].Ingredient].Step, b.amountSets[parts[j].Ingredient].Step) * far
				parts[i].Amount += step
				parts[j].Amount -= step
				b.work += int64(100 * len(parts))
				if parts[j].Amount > 0 && c.AreKeptBy(parts) {
					if err := b.offerCandidate(slices.Clone(parts)); err != nil {
						return err
					}
				}
				parts[i].Amount -= step
				parts[j].Amount += step
			}
		}
	}
	return nil
}
