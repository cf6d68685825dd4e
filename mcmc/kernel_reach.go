package mcmc

import (
	"errors"
	"fmt"
	"strconv"

	"kir/internal/portable"
)

// maxEnumerated is the greatest number of compositions of a space for which a kernel enumerates all
// of them to check whether it can reach them.
const maxEnumerated = 5000

// A componentResult holds the results of [supportComponents].
type componentResult struct {
	componentCount int          // number of components; 0 if they were not computed
	first, second  *Composition // a composition of the first and of the second component
	err            error
}

// supportComponents returns the number of components into which moves of two ingredients connect
// the target's support. It also returns a composition of each of the first two components. The
// number is 0 if the target has no objectives and bounds, or if there are too many compositions to
// enumerate.
func supportComponents(t *Target) (parts int, a, b *Composition, err error) {
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
	if !t.hasTerms() || compositions > maxEnumerated {
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

// visitCompositions calls visit for each composition of n ingredients with each combination of
// values of the conditions, until visit returns an error. All calls pass the same composition,
// changed in place.
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
// ingredients at a time cannot reach everything that the target allows.
//
// If the law of n has no mass at some n between its smallest and its largest, the kernel cannot
// cross that n. A property that is 0 somewhere may also cut the support into parts.
// checkIrreducible finds such parts in spaces small enough to enumerate; in general this cannot be
// decided.
func checkIrreducible(kernel string, t *Target) error {
	if t.space.rules != nil {
		return nil // its independent moves connect everything
	}
	of := t.componentsOnce()
	parts, a, b, err := of.componentCount, of.first, of.second, of.err
	if err != nil {
		return wrapKernelError(kernel, err)
	}
	n, gap := t.law.FirstGap()
	switch {
	case parts == 1:
		return nil // whatever lies beyond a gap is forbidden
	case gap:
		return fmt.Errorf("%s: %w: it changes the number of ingredients by at most 1 and the sparsity law has no mass at n = %d, between %d and %d; use balanced", kernel, ErrReducible, n, t.law.minSize, t.law.maxSize)
	case parts > 1:
		return fmt.Errorf("%s: %w: it changes two ingredients at a time, and the properties that are 0 cut what is allowed into %d parts, one with %v and one with %v; use balanced", kernel, ErrReducible, parts, a, b)
	}
	return nil
}

// ErrReducible is returned if a kernel cannot reach all states that the target allows. Its draws
// would not follow the target, no matter how many.
var ErrReducible = errors.New("the chain cannot reach everything that the target allows")
