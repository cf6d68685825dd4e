package conflict

import (
	"math"
	"math/big"
	"slices"

	"kir/rule"
)

// everyAmounts lists the compositions of a total among so many ingredients.
func everyAmounts(ingredients, total int) [][]int {
	if ingredients == 1 {
		return [][]int{{total}}
	}
	var all [][]int
	for a := range total + 1 {
		for _, rest := range everyAmounts(ingredients-1, total-a) {
			all = append(all, append([]int{a}, rest...))
		}
	}
	return all
}

func countUsed(x []int) int {
	n := 0
	for _, a := range x {
		n += min(a, 1)
	}
	return n
}

func partsOf(x []int) []rule.Part {
	var parts []rule.Part
	for i, a := range x {
		if a > 0 {
			parts = append(parts, rule.Part{Ingredient: i, Amount: a})
		}
	}
	return parts
}

func amountOf(parts []rule.Part, ingredient int) int {
	for _, p := range parts {
		if p.Ingredient == ingredient {
			return p.Amount
		}
	}
	return 0
}

// shortfalls returns by how much an amount falls short of the least one; it is
// what the advice to lower least amounts in all is about.
func shortfalls(s rule.Set, x []int) int {
	sum := 0
	for i, a := range x {
		least := 0
		for _, r := range s.Rules {
			if r, ok := r.(rule.Amount); ok && slices.Contains(r.Of, i) {
				least = max(least, r.Min)
			}
		}
		if a > 0 {
			sum += max(0, least-a)
		}
	}
	return sum
}

// keepsPlainly reads a rule straight from its definition, sharing nothing with
// what ships: the mean of a limit is a fraction of whole numbers of decimals.
func keepsPlainly(r rule.Rule, x []int) bool {
	used := func(of []int) (n, sum int) {
		of = slices.Clone(of)
		slices.Sort(of)
		for _, i := range slices.Compact(of) {
			n += min(x[i], 1)
			sum += x[i]
		}
		return n, sum
	}
	within := func(v int, r *rule.Range) bool { return r == nil || r.Min <= v && v <= r.Max }
	switch r := r.(type) {
	case rule.Require:
		return !slices.ContainsFunc(r.Of, func(i int) bool { return x[i] == 0 })
	case rule.Exclude:
		return !slices.ContainsFunc(r.Of, func(i int) bool { return x[i] > 0 })
	case rule.Amount:
		step := max(r.Step, 1)
		first := r.Min
		if first == 0 {
			first = step
		}
		return !slices.ContainsFunc(r.Of, func(i int) bool {
			a := x[i]
			return a > 0 && (a < first || (a-first)%step != 0 || r.Max > 0 && a > r.Max)
		})
	case rule.Group:
		n, sum := used(r.Of)
		return within(n, r.Used) && within(sum, r.Total)
	case rule.Need:
		n, _ := used(r.Then)
		return x[r.If] == 0 || n > 0
	case rule.Limit:
		decimal := func(v float64) *big.Rat {
			return big.NewRat(int64(math.Round(v*1e6)), 1e6)
		}
		sum, total := new(big.Rat), int64(0)
		for i, a := range x {
			if r.Of == nil || slices.Contains(r.Of, i) {
				sum.Add(sum, new(big.Rat).Mul(decimal(r.Factors[i]), big.NewRat(int64(a), 1)))
				total += int64(a)
			}
		}
		if total == 0 {
			return true
		}
		mean := sum.Quo(sum, big.NewRat(total, 1))
		return (math.IsInf(r.Min, -1) || mean.Cmp(decimal(r.Min)) >= 0) && (math.IsInf(r.Max, 1) || mean.Cmp(decimal(r.Max)) <= 0)
	case rule.Ratio:
		_, of := used(r.Of)
		_, to := used(r.To)
		times := func(v float64) *big.Rat {
			return new(big.Rat).Mul(big.NewRat(int64(math.Round(v*1e6)), 1e6), big.NewRat(int64(to), 1))
		}
		have := big.NewRat(int64(of), 1)
		return (math.IsInf(r.Min, -1) || have.Cmp(times(r.Min)) >= 0) && (math.IsInf(r.Max, 1) || have.Cmp(times(r.Max)) <= 0)
	case rule.Near:
		changes, moved := 0, 0
		for i, a := range x {
			was := amountOf(r.Recipe, i)
			if (a > 0) != (was > 0) {
				changes++
			}
			moved += max(a-was, was-a)
		}
		return (r.Changes == nil || changes <= *r.Changes) && (r.Distance == nil || moved <= 2**r.Distance)
	case rule.If:
		n, _ := used(r.Used)
		m, _ := used(r.Unused)
		return len(r.Used) > 0 && n == 0 || m > 0 || keepsPlainly(r.Then, x)
	case nil:
		return true
	}
	panic("a rule of another kind")
}

// bruteRules lists the compositions that keep all rules and the law of a set.
func bruteRules(s rule.Set, all [][]int) [][]int {
	var found [][]int
	for _, x := range all {
		if s.Used != nil && !slices.Contains(s.Used, countUsed(x)) {
			continue
		}
		if !slices.ContainsFunc(s.Rules, func(r rule.Rule) bool { return !keepsPlainly(r, x) }) {
			found = append(found, x)
		}
	}
	return found
}
