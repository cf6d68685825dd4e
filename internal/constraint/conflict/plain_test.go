package conflict

import (
	"fmt"
	"math/rand/v2"
	"slices"

	"kir/rule"
)

// A ruleset is rules as these tests write them down.
type ruleset struct {
	Ingredients, Total int
	Rules              []plain
	Used               []int
}

// A plain rule is of one kind.
type plain struct {
	Name             string
	Of               []int
	Require, Exclude bool
	Min, Max, Step   int
	Used, Total      *rule.Range
}

func (r plain) rule() rule.Rule {
	switch {
	case r.Require:
		return rule.Require{Of: r.Of}
	case r.Exclude:
		return rule.Exclude{Of: r.Of}
	case r.Used != nil || r.Total != nil:
		return rule.Group{Of: r.Of, Used: r.Used, Total: r.Total}
	}
	return rule.Amount{Of: r.Of, Min: r.Min, Max: r.Max, Step: r.Step}
}

func (rs ruleset) set() rule.Set {
	s := rule.Set{Ingredients: rs.Ingredients, Total: rs.Total, Used: rs.Used}
	s.Text = func(k int) string {
		if rs.Rules[k].Name == "" {
			return fmt.Sprint("rule ", k)
		}
		return rs.Rules[k].Name
	}
	for _, r := range rs.Rules {
		s.Rules = append(s.Rules, r.rule())
	}
	return s
}

// randomRules makes a few rules that often cannot hold together.
func randomRules(r *rand.Rand) ruleset {
	n, m := 2+r.IntN(3), 3+r.IntN(8)
	rs := ruleset{Ingredients: n, Total: m}
	some := func() []int {
		return r.Perm(n)[:1+r.IntN(n)]
	}
	grouped := r.Perm(n)
	for range 1 + r.IntN(5) {
		var one plain
		switch r.IntN(6) {
		case 0:
			one = plain{Of: some(), Require: true}
		case 1:
			one = plain{Of: some(), Exclude: true}
		case 2:
			one = plain{Of: some(), Min: 1 + r.IntN(m)}
		case 3:
			one = plain{Of: some(), Max: 1 + r.IntN(m/2)}
		case 4:
			one = plain{Of: some(), Step: 1 + r.IntN(4), Min: r.IntN(3)}
		case 5:
			size := 1 + r.IntN(n) // of one chain, so that groups are nested
			one = plain{Of: slices.Clone(grouped[:size])}
			lo := r.IntN(m + 1)
			one.Total = &rule.Range{Min: lo, Max: lo + r.IntN(m+1-lo)}
			if r.IntN(2) == 0 {
				lo := r.IntN(size + 1)
				one.Used = &rule.Range{Min: lo, Max: lo + r.IntN(size+1-lo)}
			}
		}
		rs.Rules = append(rs.Rules, one)
	}
	if r.IntN(2) == 0 {
		rs.Used = []int{1 + r.IntN(n)}
		if r.IntN(2) == 0 {
			rs.Used = append(rs.Used, 1+r.IntN(n))
		}
	}
	return rs
}
