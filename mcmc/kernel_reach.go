package mcmc

import (
	"errors"
	"fmt"
	"strconv"

	"kir/internal/portable"
)

// maxEnumeratedCompositions is the greatest number of compositions that are enumerated to check whether a
// kernel can reach all of them. In larger spaces there is no check.
const maxEnumeratedCompositions = 5000

// A componentResult holds the results of [findSupportComponents], which divides the compositions of
// positive density into sets that moves of two ingredients connect.
type componentResult struct {
	componentCount int          // number of such sets; 0 if they were not computed
	firstExample   *Composition // a composition of the first set
	secondExample  *Composition // a composition of the second set; nil if there is only one
	err            error
}

// findSupportComponents divides the support of the target, the compositions of positive density, into
// components. Moves that change two ingredients connect all compositions of a component and lead
// out of none. It returns the number of components, and one composition of each of the first two.
// The number is 0 if the target has no objectives and bounds, or if there are too many compositions
// to enumerate.
func findSupportComponents(t *Target) (parts int, a, b *Composition, err error) {
	compositions := 0.0
	for n, c := range t.space.LogCounts(t.law.maxSize) {
		if t.law.P(n) > 0 {
			compositions += portable.Exp(c)
		}
	}
	if c := t.space.conditions; c != nil {
		for _, p := range c.probabilities {
			compositions = float64(compositions * float64(len(p)))
		}
	}
	if !t.hasBoundsOrObjectives() || compositions > maxEnumeratedCompositions {
		return 0, nil, nil, nil
	}
	var support []*Composition
	for n := t.law.minSize; n <= t.law.maxSize; n++ {
		if t.law.P(n) == 0 {
			continue
		}
		err := t.space.visitCompositions(n, func(x *Composition) error {
			score, err := t.LogScore(x)
			if err == nil && score > negInf {
				support = append(support, x.Clone())
			}
			return err
		})
		if err != nil {
			return 0, nil, nil, err
		}
	}

	// Unite all compositions on one line.
	parent := make([]int, len(support))
	find := func(k int) int {
		for parent[k] != k {
			parent[k] = parent[parent[k]]
			k = parent[k]
		}
		return k
	}
	first := make(map[string]int)
	var key []byte
	unite := func(k int) {
		if other, ok := first[string(key)]; ok {
			parent[find(k)] = find(other)
		} else {
			first[string(key)] = k
		}
	}
	for k, x := range support {
		parent[k] = k
		all := x.Parts()
		for c := range x.conditions {
			// Setting a condition moves between compositions that are alike in all else.
			y := x.Clone()
			y.conditions[c] = -1
			key = append(key[:0], y.String()...)
			unite(k)
		}
		for _, i := range x.Ingredients() {
			for j := range x.N() {
				if j == int(i) {
					continue
				}
				key = strconv.AppendInt(key[:0], int64(min(int(i), j)), 10)
				key = append(key, ' ')
				key = strconv.AppendInt(key, int64(max(int(i), j)), 10)
				for _, p := range all {
					if p.Ingredient != int(i) && p.Ingredient != j {
						key = append(key, ' ')
						key = strconv.AppendInt(key, int64(p.Ingredient), 10)
						key = append(key, ':')
						key = strconv.AppendInt(key, int64(p.Amount), 10)
					}
				}
				for _, v := range x.conditions {
					key = append(key, '|')
					key = strconv.AppendInt(key, int64(v), 10)
				}
				unite(k)
			}
		}
	}
	for k, x := range support {
		if find(k) != k {
			continue
		}
		parts++
		if a == nil {
			a = x
		} else if b == nil {
			b = x
		}
	}
	return parts, a, b, nil
}

// visitCompositions calls visit for each composition of n ingredients, combined with each
// combination of values of the conditions. It stops when visit returns an error. All calls pass the
// same *Composition, changed in place.
func (s *Space) visitCompositions(n int, visit func(x *Composition) error) error {
	x := newComposition(s.ingredients)
	if s.conditions != nil {
		visit = s.conditions.newValueVisitor(x, visit)
	}
	var place func(from, left, parts int) error
	place = func(from, left, parts int) error {
		if parts == 0 {
			return visit(x)
		}
		for i := from; i <= s.ingredients-parts; i++ {
			from, to := 1, left-parts+1
			if parts == 1 {
				from = left
			}
			for amount := from; amount <= to; amount++ {
				x.setUnits(int32(i), int32(amount))
				if err := place(i+1, left-amount, parts-1); err != nil {
					return err
				}
				x.setUnits(int32(i), 0)
			}
		}
		return nil
	}
	x.total = s.total
	return place(0, s.total, n)
}

// checkIrreducible returns an error that wraps [ErrReducible] if a kernel that changes two
// ingredients at a time cannot reach everything that the target allows. There are two reasons:
//
//   - The law of the number n of ingredients has no mass at some n between its smallest and its
//     largest. Such a kernel cannot cross this n.
//   - A property that is 0 somewhere cuts the allowed compositions into parts. This is found only
//     in spaces small enough to enumerate; in general it cannot be decided.
func checkIrreducible(kernelName string, t *Target) error {
	if t.space.rules != nil {
		return nil // its independent moves connect everything
	}
	of := t.componentsOnce()
	parts, a, b, err := of.componentCount, of.firstExample, of.secondExample, of.err
	if err != nil {
		return wrapKernelError(kernelName, err)
	}
	n, gap := t.law.FirstGap()
	switch {
	case parts == 1:
		return nil // whatever lies beyond a gap is forbidden
	case gap:
		return fmt.Errorf("%s: %w: it changes the number of ingredients by at most 1 and the sparsity law has no mass at n = %d, between %d and %d; use balanced", kernelName, ErrReducible, n, t.law.minSize, t.law.maxSize)
	case parts > 1:
		return fmt.Errorf("%s: %w: it changes two ingredients at a time, and the properties that are 0 cut what is allowed into %d parts, one with %v and one with %v; use balanced", kernelName, ErrReducible, parts, a, b)
	}
	return nil
}

// ErrReducible is the error of a kernel that cannot reach all states that the target allows. Its
// draws would not follow the target, no matter how many.
var ErrReducible = errors.New("the chain cannot reach everything that the target allows")
