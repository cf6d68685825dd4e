package conflict

import (
	"math"
	"slices"

	"kir/rule"
)

// A node is a branch of the proof search: decisions on uses, and bounds of amounts.
type node struct {
	uses   []useDecision // item i tells whether ingredient i is used, unused or undecided
	lo, hi []int         // items i bound the amount of ingredient i, if ingredient i is used
}

// clone returns a deep copy of the node.
func (n *node) clone() *node {
	return &node{slices.Clone(n.uses), slices.Clone(n.lo), slices.Clone(n.hi)}
}

// branch divides the node n into two nodes, a and b, at a fractional amount of the linear program's solution or
// at an undecided ingredient. The search continues with a first. Both nodes are nil if all uses are decided or a
// composition was found.
func (p *prover) branch(n *node, amounts []float64) (a, b *node) {
	i := -1
	if amounts != nil {
		if p.roundToSolution(n, amounts) {
			return nil, nil
		}
		i = p.mostFractional(n, amounts)
	}
	if i >= 0 && n.uses[i] == used {
		a, b = n.clone(), n.clone()
		step := p.AmountSets[i].Step
		a.hi[i] = n.lo[i] + int(amounts[i]-float64(n.lo[i]))/step*step
		b.lo[i] = a.hi[i] + step
		if amounts[i]-float64(a.hi[i]) > float64(step)/2 { // the branch nearer to the program's solution is searched first
			return b, a
		}
		return a, b
	}
	likely := i >= 0 && amounts[i] > float64(n.lo[i])/2
	if i < 0 {
		i = p.chooseIngredient(n.uses)
	}
	if i < 0 {
		return nil, nil
	}
	a, b = n.clone(), n.clone()
	a.uses[i], b.uses[i] = unused, used
	if likely {
		return b, a
	}
	return a, b
}

// roundToSolution rounds the amounts to whole numbers. If the rounded amounts are a composition that keeps all
// conditions, roundToSolution stores the composition as the solution and returns true.
func (p *prover) roundToSolution(n *node, amounts []float64) bool {
	var parts []rule.Part
	total := 0
	for i, x := range amounts {
		if v := int(math.Round(x)); v > 0 {
			parts = append(parts, rule.Part{Ingredient: i, Amount: v})
			total += v
		}
	}
	if total != p.Total || !slices.Contains(p.usedCounts, len(parts)) || !p.AreKeptBy(parts) {
		return false
	}
	p.solution = parts
	return true
}

// mostFractional returns the index of the ingredient whose amount is furthest from an allowed amount, or −1 if
// all amounts are allowed. Undecided ingredients are preferred to used ingredients.
func (p *prover) mostFractional(n *node, amounts []float64) int {
	const whole = 1e-6
	worst, most := -1, whole
	for i, x := range amounts {
		if n.uses[i] == undecided && x > whole && x < float64(n.lo[i])-whole {
			if off := 1 + min(x, float64(n.lo[i])-x); off > most {
				worst, most = i, off
			}
		}
	}
	if worst >= 0 {
		return worst
	}
	for i, x := range amounts {
		if n.uses[i] != used {
			continue
		}
		step := float64(p.AmountSets[i].Step)
		over := math.Mod(x-float64(n.lo[i]), step)
		if off := min(over, step-over) / step; off > most && n.hi[i] > n.lo[i] {
			worst, most = i, off
		}
	}
	return worst
}
