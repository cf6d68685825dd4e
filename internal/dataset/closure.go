package dataset

import (
	"cmp"
	"fmt"
	"math/big"
	"slices"

	"kir/internal/inputerr"
	"kir/internal/measure"
)

// Closure scales the parts of a recipe to a total of M whole units, so that each part gets at least
// one unit: x_1 + … + x_n = M, x_i ≥ 1. Element i of the result is x_i, the number of units of part
// i. (In the analysis of compositions, closure means scaling to a constant sum.)
//
// Let a_i be the amount of part i in its base unit. The ideal share of the part is q_i = M·a_i / Σ a.
// The whole units are found by the method of largest remainders:
//
//  1. x_i = ⌊q_i⌋, or 1 if that is 0.
//  2. If the sum is below M, one unit each is added to the parts with the
//     largest remainders q_i − ⌊q_i⌋ among the parts with q_i ≥ 1.
//  3. If the sum is above M, units are taken away one at a time, each from
//     the part with the largest x_i − q_i among the parts with x_i > 1.
//
// Where two parts are equal in step 2 or 3, the earlier part is the first to receive a unit and the
// last to lose one. The result minimises Σ (x_i − q_i)² over all x with the sum M and x_i ≥ 1. All
// arithmetic is exact, on the decimal numbers of the file.
//
// The total must be at least the number of parts. The amounts must be above 0, with units of one
// [Kind]; [Read] ensures both.
func Closure(parts []Part, total int) ([]int, error) {
	n := len(parts)
	if n == 0 {
		return nil, fmt.Errorf("a recipe without ingredients cannot be divided into %s", inputerr.Count(total, "unit"))
	}
	if total < n {
		return nil, fmt.Errorf("%s cannot share %s: take a total of at least %d", inputerr.Count(n, "ingredient"), inputerr.Count(total, "unit"), n)
	}
	weights, sum, err := integerWeights(parts)
	if err != nil {
		return nil, err
	}

	units := make([]int, n)
	remainders := make([]*big.Int, n) // of q_i, times the sum of the weights
	left := total
	m := big.NewInt(int64(total))
	for i, weight := range weights {
		whole, remainder := weight.Mul(weight, m).QuoRem(weight, sum, new(big.Int))
		units[i] = max(1, int(whole.Int64()))
		remainders[i] = remainder
		if whole.Sign() == 0 {
			// Below one unit: it has more than its ideal, and cannot give any.
			remainders[i] = nil
		}
		left -= units[i]
	}
	if left == 0 {
		return units, nil
	}

	order := make([]int, 0, n)
	for i := range units {
		if remainders[i] != nil {
			order = append(order, i)
		}
	}
	slices.SortFunc(order, func(i, j int) int {
		return cmp.Or(remainders[j].Cmp(remainders[i]), cmp.Compare(i, j))
	})
	if left > 0 {
		for _, i := range order[:left] {
			units[i]++
		}
		return units, nil
	}
	// Before it gives, a part exceeds its ideal by −(its remainder), in (−1, 0], and by one less
	// after each time. So the parts give in turns, in the opposite order.
	slices.Reverse(order)
	for left < 0 {
		givers := order[:0]
		for _, i := range order {
			if units[i] > 1 && left < 0 {
				units[i]--
				left++
			}
			if units[i] > 1 {
				givers = append(givers, i)
			}
		}
		order = givers
	}
	return units, nil
}

// integerWeights returns whole numbers that are in the ratio of the parts' amounts in base units,
// and the sum of these numbers.
func integerWeights(parts []Part) (weights []*big.Int, sum *big.Int, err error) {
	least := 0
	for i, p := range parts {
		if p.Amount.IsZero() {
			return nil, nil, fmt.Errorf("part %d has the amount 0: leave it out", i+1)
		}
		least = min(least, p.baseExponent())
	}
	weights = make([]*big.Int, len(parts))
	sum = new(big.Int)
	for i, p := range parts {
		w := new(big.Int).SetUint64(p.Amount.Digits)
		if p.Unit != nil {
			w.Mul(w, new(big.Int).SetUint64(p.Unit.Size.Digits))
		}
		if e := p.baseExponent() - least; e > 0 {
			w.Mul(w, measure.Pow10(e))
		}
		weights[i] = w
		sum.Add(sum, w)
	}
	return weights, sum, nil
}

// baseExponent returns the exponent e when the part's amount in its base unit is written as a whole
// number times 10^e.
func (p Part) baseExponent() int {
	e := int(p.Amount.Exp)
	if p.Unit != nil {
		e += int(p.Unit.Size.Exp)
	}
	return e
}
