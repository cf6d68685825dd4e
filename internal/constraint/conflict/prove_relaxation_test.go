package conflict

import (
	"context"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"kir/internal/constraint"
	"kir/internal/testonly/testmode"
	"kir/rule"
)

// jointSets is how many sets of limits are looked at.
const jointSets = 60

// jointLimits makes limits that clash only together, by a margin: with random
// weights w_k, the mean of Σ_k w_k·f_k is at least the least that an ingredient has,
// and the bounds ask for less. Others that all compositions keep, a group and amounts
// stand among them.
func jointLimits(r *rand.Rand, clash bool) rule.Set {
	s := rule.Set{Ingredients: 8 + r.IntN(50), Total: 100 * (1 + r.IntN(10))}
	of := make([]int, s.Ingredients)
	for i := range of {
		of[i] = i
	}
	s.Rules = append(s.Rules, rule.Amount{Of: of, Min: 1 + r.IntN(3), Max: s.Total/4 + r.IntN(s.Total)})
	limits := 2 + r.IntN(4)
	factors, weights := make([][]float64, limits), make([]float64, limits)
	least := math.Inf(1)
	for k := range limits {
		factors[k] = make([]float64, s.Ingredients)
		weights[k] = 0.2 + r.Float64()
		for i := range factors[k] {
			factors[k][i] = math.Round(1000*r.Float64()) / 1000
		}
	}
	for i := range s.Ingredients {
		sum := 0.0
		for k := range limits {
			sum += weights[k] * factors[k][i]
		}
		least = min(least, sum)
	}
	shares, all := make([]float64, limits), 0.0
	for k := range shares {
		shares[k] = 0.5 + r.Float64()
		all += shares[k]
	}
	if !clash {
		least *= 1.6
	}
	for k := range limits {
		most := math.Floor(1000*0.98*least*shares[k]/all/weights[k]) / 1000
		s.Rules = append(s.Rules, rule.Limit{Attribute: string(rune('a' + k)), Factors: factors[k], Min: math.Inf(-1), Max: most})
	}
	s.Rules = append(s.Rules, rule.Group{Of: of[:s.Ingredients/2], Total: &rule.Range{Min: 0, Max: s.Total}})
	r.Shuffle(len(s.Rules), func(a, b int) { s.Rules[a], s.Rules[b] = s.Rules[b], s.Rules[a] })
	return s
}

// Limits that clash only together are proven to, by a smallest set of them of which
// any fewer are kept by a composition that is at hand, and each way out frees all.
func TestJointLimits(t *testing.T) {
	r := rand.New(rand.NewPCG(17, 5))
	joint, changes, sets := 0, 0, testmode.Pick(jointSets, 8)
	for set := range sets {
		s := jointLimits(r, true)
		c, err := Explain(context.Background(), s)
		if err != nil {
			t.Fatal(err)
		}
		if c == nil {
			t.Fatalf("set %d: not proven: %+v", set, s)
		}
		if len(c.Rules) > 1 {
			joint++
		}
		a := asker{ctx: context.Background(), maxCandidates: constraint.MaxCandidates}
		for k := range c.Rules {
			if a.ask(question{Set: s}.onlyRules(slices.Delete(slices.Clone(c.Rules), k, k+1)), true) != satisfiable {
				t.Errorf("set %d: without rule %d of %v nothing is found", set, c.Rules[k], c.Rules)
			}
		}
		if len(c.Changes) == 0 {
			t.Errorf("set %d: no way out of %v", set, c.Cause)
		}
		for _, change := range c.Changes {
			changes++
			if a.ask(change.applyTo(question{Set: s}), true) != satisfiable {
				t.Errorf("set %d: %q frees nothing", set, change.Text)
			}
		}
	}
	t.Logf("%d of %d by several rules, %d ways out", joint, sets, changes)
	if joint < sets/2 {
		t.Errorf("only %d of %d sets clash by several rules", joint, sets)
	}
}

// What a composition keeps is never called impossible, however tight.
func TestTightLimitsArePossible(t *testing.T) {
	r := rand.New(rand.NewPCG(17, 6))
	for set := range jointSets {
		s := jointLimits(r, false)
		x := make([]int, s.Ingredients) // a composition that keeps the amounts
		free := s.Total
		for k, i := range r.Perm(s.Ingredients)[:6] {
			x[i] = max(3, s.Total/8)
			if k == 5 {
				x[i] = free
			}
			free -= x[i]
		}
		for k, one := range s.Rules {
			switch one := one.(type) {
			case rule.Amount:
				one.Max = max(one.Max, slices.Max(x))
				s.Rules[k] = one
			case rule.Limit:
				sum := int64(0)
				for i, a := range x {
					sum += int64(a) * int64(math.Round(1000*one.Factors[i]))
				}
				if one.Max = float64(sum) / 1000 / float64(s.Total); r.IntN(3) == 0 {
					one.Min = one.Max // exactly that
				}
				// Bounds are decimals: the first that lets the composition pass.
				one.Max = math.Ceil(one.Max*1e6) / 1e6
				one.Min = math.Floor(one.Min*1e6) / 1e6
				s.Rules[k] = one
			}
		}
		c, err := Explain(context.Background(), s)
		if err != nil {
			t.Fatal(err)
		}
		if c != nil {
			t.Fatalf("set %d: called impossible: %v\n%v\n%+v", set, c, x, s)
		}
	}
}

// A certificate that is wrong is refused: the weights of one set prove nothing of
// another that has compositions.
func TestContradictionIsChecked(t *testing.T) {
	r := rand.New(rand.NewPCG(17, 7))
	refused := 0
	for range 200 {
		s := jointLimits(r, false)
		c, err := constraint.FromRules(s)
		if err != nil {
			t.Fatal(err)
		}
		p := newProver(t.Context(), c, question{Set: s}.usedCounts())
		n := &node{make([]useDecision, s.Ingredients), make([]int, s.Ingredients), make([]int, s.Ingredients)}
		for i, d := range p.AmountSets {
			n.lo[i], n.hi[i] = d.Lo, d.Hi()
		}
		x := p.buildRelaxation(n)
		amounts, impossible, _, _ := x.solve(t.Context())
		if impossible || amounts == nil {
			continue
		}
		weights := make([]float64, len(x.Rows))
		for k := range weights {
			weights[k] = r.NormFloat64()
		}
		if proven, _ := x.ProvesInfeasible(weights); proven {
			t.Fatal("any weights prove what is not so")
		}
		refused++
	}
	if refused < 100 {
		t.Errorf("%d sets that can be kept", refused)
	}
}
