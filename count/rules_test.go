package count

import (
	"context"
	"errors"
	"math/bits"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
)

// keepsRule reads a rule straight from its definition.
func keepsRule(r Rule, amounts []int) bool {
	used, units := 0, 0
	of := slices.Clone(r.Of)
	slices.Sort(of)
	for _, i := range slices.Compact(of) {
		a := amounts[i]
		units += a
		if a == 0 {
			if r.Require {
				return false
			}
			continue
		}
		used++
		step := max(r.Step, 1)
		first := r.Min
		if first == 0 {
			first = step
		}
		if r.Exclude || a < first || (a-first)%step != 0 || r.Max > 0 && a > r.Max {
			return false
		}
	}
	return (r.Used == nil || r.Used.Min <= used && used <= r.Used.Max) &&
		(r.Total == nil || r.Total.Min <= units && units <= r.Total.Max)
}

// bruteRules lists the compositions that keep all rules and the law of a
// ruleset.
func bruteRules(rs Ruleset, all [][]int) [][]int {
	var found [][]int
	for _, x := range all {
		if rs.Used != nil && !slices.Contains(rs.Used, usedOf(x)) {
			continue
		}
		if !slices.ContainsFunc(rs.Rules, func(r Rule) bool { return !keepsRule(r, x) }) {
			found = append(found, x)
		}
	}
	return found
}

// randomRules makes a few rules that often cannot hold together.
func randomRules(r *rand.Rand) Ruleset {
	n, m := 2+r.IntN(3), 3+r.IntN(8)
	rs := Ruleset{Ingredients: n, Total: m}
	some := func() []int {
		return r.Perm(n)[:1+r.IntN(n)]
	}
	grouped := r.Perm(n)
	for range 1 + r.IntN(5) {
		var rule Rule
		switch r.IntN(6) {
		case 0:
			rule = Rule{Of: some(), Require: true}
		case 1:
			rule = Rule{Of: some(), Exclude: true}
		case 2:
			rule = Rule{Of: some(), Min: 1 + r.IntN(m)}
		case 3:
			rule = Rule{Of: some(), Max: 1 + r.IntN(m/2)}
		case 4:
			rule = Rule{Of: some(), Step: 1 + r.IntN(4), Min: r.IntN(3)}
		case 5:
			size := 1 + r.IntN(n) // of one chain, so that groups are nested
			rule = Rule{Of: slices.Clone(grouped[:size])}
			lo := r.IntN(m + 1)
			rule.Total = &Range{lo, lo + r.IntN(m+1-lo)}
			if r.IntN(2) == 0 {
				lo := r.IntN(size + 1)
				rule.Used = &Range{lo, lo + r.IntN(size+1-lo)}
			}
		}
		rs.Rules = append(rs.Rules, rule)
	}
	if r.IntN(2) == 0 {
		rs.Used = []int{1 + r.IntN(n)}
		if r.IntN(2) == 0 {
			rs.Used = append(rs.Used, 1+r.IntN(n))
		}
	}
	return rs
}

// The space of a ruleset has the compositions that keep its rules, and no more.
func TestRulesetSpaceEqualsBruteForce(t *testing.T) {
	r := rand.New(rand.NewPCG(6, 3))
	for problem := range 1000 {
		rs := randomRules(r)
		s, err := rs.Space()
		if err != nil {
			t.Fatal(err)
		}
		got := bruteForce(s)
		rs.Used = nil
		want := bruteRules(rs, bruteForce(Space{Total: rs.Total, Ingredients: make([]Ingredient, rs.Ingredients)}))
		if len(got) != len(want) {
			t.Fatalf("problem %d, %+v: the space %s has %d compositions, not %d", problem, rs, show(s), len(got), len(want))
		}
		for k := range got {
			if !slices.Equal(got[k], want[k]) {
				t.Fatalf("problem %d, %+v: %v instead of %v", problem, rs, got[k], want[k])
			}
		}
	}
}

// On random rulesets, a conflict is found exactly if there is no composition;
// its rules cannot hold together, no smaller set of rules cannot, each change
// resolves it, and no common cause is found where there is no conflict. All of this is checked by brute force.
func TestExplainIsSmallestAndTrue(t *testing.T) {
	r := rand.New(rand.NewPCG(6, 4))
	conflicts, partly, changes := 0, 0, 0
	kinds := make(map[Kind]int)
	for problem := range 3000 {
		rs := randomRules(r)
		all := bruteForce(Space{Total: rs.Total, Ingredients: make([]Ingredient, rs.Ingredients)})
		c, err := rs.Explain(context.Background())
		if err != nil {
			t.Fatalf("problem %d, %+v: %v", problem, rs, err)
		}
		if possible := len(bruteRules(rs, all)) > 0; possible != (c == nil) {
			t.Fatalf("problem %d, %+v: explained as %v", problem, rs, c)
		}
		if c == nil {
			if found := findCause(rs); found != nil {
				t.Fatalf("problem %d, %+v: has compositions, and yet %s", problem, rs, found.text)
			}
			continue
		}
		conflicts++
		kinds[c.Kind]++
		if c.Cause == "" {
			t.Fatalf("problem %d, %+v: a conflict without a cause", problem, rs)
		}

		subset := func(rules []int, law bool) Ruleset {
			sub := Ruleset{Ingredients: rs.Ingredients, Total: rs.Total}
			for _, n := range rules {
				sub.Rules = append(sub.Rules, rs.Rules[n])
			}
			if law {
				sub.Used = rs.Used
			}
			return sub
		}
		if len(bruteRules(subset(c.Rules, c.Law), all)) > 0 {
			t.Fatalf("problem %d, %+v: rules %v (law %v) can hold together", problem, rs, c.Rules, c.Law)
		}
		if c.Law && len(bruteRules(subset(c.Rules, false), all)) == 0 {
			t.Fatalf("problem %d, %+v: rules %v cannot hold together whatever the law", problem, rs, c.Rules)
		}
		for set := range 1 << len(rs.Rules) {
			if bits.OnesCount(uint(set)) >= len(c.Rules) {
				continue
			}
			var smaller []int
			for n := range rs.Rules {
				if set>>n&1 == 1 {
					smaller = append(smaller, n)
				}
			}
			if len(bruteRules(subset(smaller, c.Law), all)) == 0 {
				t.Fatalf("problem %d, %+v: rules %v are told to be a smallest conflict, and %v are one", problem, rs, c.Rules, smaller)
			}
		}

		if c.Partly {
			partly++
		} else if len(c.Changes) == 0 && len(c.Rules) > 0 {
			t.Fatalf("problem %d, %+v: %v and no way out", problem, rs, c)
		}
		for _, change := range c.Changes {
			if change.apply == nil {
				continue
			}
			changes++
			changed := rs
			changed.Rules = slices.Clone(rs.Rules)
			change.apply(&changed)
			if c.Partly {
				for n := range changed.Rules {
					if !slices.Contains(c.Rules, n) {
						changed.Rules[n] = Rule{}
					}
				}
				if !c.Law {
					changed.Used = nil
				}
			}
			if len(bruteRules(changed, all)) == 0 {
				t.Fatalf("problem %d, %+v: %q changes nothing", problem, rs, change.Text)
			}
		}
	}
	t.Logf("%d conflicts, %d changes, %d conflicts only resolved partly, %v", conflicts, changes, partly, kinds)
	if conflicts < 1000 || changes < 1000 || partly > conflicts/2 {
		t.Errorf("the random rulesets are poor: %d conflicts, %d changes, %d only partly", conflicts, changes, partly)
	}
}

// Groups may overlap in ingredients that another rule excludes, and so do when
// that rule is left out. Whether there is a conflict is still told exactly, its
// rules cannot hold together, and each change resolves it.
func TestExplainGroupsKeptApartByExclusion(t *testing.T) {
	r := rand.New(rand.NewPCG(8, 1))
	conflicts, changes := 0, 0
	for problem := 0; conflicts < 300; problem++ {
		rs := randomRules(r)
		for range 2 {
			lo := r.IntN(rs.Total + 1)
			rs.Rules = append(rs.Rules, Rule{Of: r.Perm(rs.Ingredients)[:1+r.IntN(rs.Ingredients)], Total: &Range{lo, lo + r.IntN(rs.Total+1-lo)}})
		}
		rs.Rules = append(rs.Rules, Rule{Of: []int{r.IntN(rs.Ingredients)}, Exclude: true})
		crosses := func(rs Ruleset) bool {
			_, rest, err := rs.Disjoint()
			return err != nil || len(rest) > 0
		}
		included := rs
		included.Rules = slices.Clone(rs.Rules)
		for n := range included.Rules {
			included.Rules[n].Exclude = false
		}
		if crosses(rs) || !crosses(included) {
			continue
		}
		all := bruteForce(Space{Total: rs.Total, Ingredients: make([]Ingredient, rs.Ingredients)})
		c, err := rs.Explain(context.Background())
		if err != nil {
			t.Fatalf("problem %d, %+v: %v", problem, rs, err)
		}
		if possible := len(bruteRules(rs, all)) > 0; possible != (c == nil) {
			t.Fatalf("problem %d, %+v: explained as %v", problem, rs, c)
		}
		if c == nil {
			continue
		}
		conflicts++
		core := Ruleset{Ingredients: rs.Ingredients, Total: rs.Total}
		for _, n := range c.Rules {
			core.Rules = append(core.Rules, rs.Rules[n])
		}
		if c.Law {
			core.Used = rs.Used
		}
		if len(bruteRules(core, all)) > 0 {
			t.Fatalf("problem %d, %+v: rules %v (law %v) can hold together", problem, rs, c.Rules, c.Law)
		}
		for _, change := range c.Changes {
			if change.apply == nil || c.Partly {
				continue
			}
			changes++
			changed := rs
			changed.Rules = slices.Clone(rs.Rules)
			change.apply(&changed)
			if len(bruteRules(changed, all)) == 0 {
				t.Fatalf("problem %d, %+v: %q changes nothing", problem, rs, change.Text)
			}
		}
	}
	if changes < 50 {
		t.Errorf("the random rulesets are poor: %d changes", changes)
	}
}

func names(ingredient int) string {
	return strings.Split("Gin Rum Lime Mint Milk Egg Salt", " ")[ingredient]
}

// What is said about the usual mistakes.
func TestExplainSays(t *testing.T) {
	six := []int{0, 1, 2, 3, 4, 5}
	minima := []Rule{{Name: "require", Of: six, Require: true}}
	for i, least := range []int{22, 29, 24, 29, 17, 13} {
		minima = append(minima, Rule{Name: "amount of " + names(i), Of: []int{i}, Min: least})
	}
	for _, c := range []struct {
		name       string
		rules      Ruleset
		kind       Kind
		sum, limit int
		core       []int
		law        bool
		want       string
	}{
		{
			name: "minima of required ingredients", rules: Ruleset{Ingredients: 6, Total: 100, Rules: minima},
			kind: MinimaAbove, sum: 134, limit: 100, core: []int{0, 1, 2, 3, 4},
			want: "the least amounts of the 6 required ingredients sum to 134 of a total of 100 (134 %): " +
				"lower them by 34 in all (34 % of the total) or do not require 2 of them",
		},
		{
			name: "one rule of minima", kind: MinimaAbove, sum: 120, limit: 100, core: []int{0, 1},
			rules: Ruleset{Ingredients: 6, Total: 100, Rules: []Rule{
				{Name: "require", Of: six, Require: true}, {Name: "amount", Of: six, Min: 20}}},
			want: "the least amounts of the 6 required ingredients sum to 120 of a total of 100 (120 %): " +
				"lower them by 20 in all (20 % of the total), do not require one of them, such as Gin, " +
				"lower the min of amount from 20 to 16 or do not require Gin",
		},
		{
			name: "maxima", kind: MaximaBelow, sum: 90, limit: 100, core: []int{0}, law: true,
			rules: Ruleset{Ingredients: 6, Total: 100, Used: []int{2, 3}, Rules: []Rule{{Name: "amount", Of: six, Max: 30}}},
			want: "the greatest amounts of the largest 3 ingredients sum to 90 of a total of 100 (90 %): " +
				"raise the max of amount from 30 to 34 or allow 4 used ingredients",
		},
		{
			name: "steps", kind: Steps, sum: 30, limit: 100, core: []int{0},
			rules: Ruleset{Ingredients: 3, Total: 100, Rules: []Rule{{Name: "amount", Of: []int{0, 1, 2}, Step: 30}}},
			want:  "all amounts are multiples of 30, and the total of 100 is not: drop the step of amount",
		},
		{
			name: "required and excluded", kind: Unusable, core: []int{0, 2},
			rules: Ruleset{Ingredients: 3, Total: 100, Rules: []Rule{
				{Name: "require", Of: []int{0, 1}, Require: true}, {Of: []int{2}, Min: 5}, {Name: "exclude", Of: []int{1}, Exclude: true}}},
			want: "Rum is both required and excluded: do not require Rum or do not exclude Rum",
		},
		{
			name: "required without an amount", kind: Unusable, core: []int{0, 1, 2},
			rules: Ruleset{Ingredients: 3, Total: 100, Rules: []Rule{
				{Name: "require", Of: []int{1}, Require: true}, {Name: "least", Of: []int{1}, Min: 50}, {Name: "greatest", Of: []int{1}, Max: 40}}},
			want: "Rum is required, and its rules leave it no amount: lower the min of least from 50 to 40, " +
				"raise the max of greatest from 40 to 50 or do not require Rum",
		},
		{
			name: "everything excluded", kind: Unusable, core: []int{0},
			rules: Ruleset{Ingredients: 3, Total: 100, Rules: []Rule{{Name: "exclude", Of: []int{0, 1, 2}, Exclude: true}}},
			want:  "no ingredient is left that may be used: do not exclude Gin",
		},
		{
			name: "too many required for the law", kind: UsedCount, sum: 3, limit: 2, core: []int{0}, law: true,
			rules: Ruleset{Ingredients: 5, Total: 100, Used: []int{1, 2}, Rules: []Rule{{Name: "require", Of: []int{0, 1, 2}, Require: true}}},
			want:  "3 ingredients are required, and at most 2 used are asked for: do not require Gin or allow 3 used ingredients",
		},
		{
			name: "too few left for the law", kind: UsedCount, sum: 3, limit: 4, core: []int{0}, law: true,
			rules: Ruleset{Ingredients: 5, Total: 100, Used: []int{4}, Rules: []Rule{{Name: "exclude", Of: []int{0, 1}, Exclude: true}}},
			want:  "at least 4 used ingredients are asked for, and the rules allow at most 3: do not exclude Gin or allow 3 used ingredients",
		},
		{
			name: "more required than a group allows", kind: GroupUsed, sum: 2, limit: 1, core: []int{0, 1},
			rules: Ruleset{Ingredients: 5, Total: 100, Rules: []Rule{
				{Name: "require", Of: []int{0, 1}, Require: true}, {Name: "spirits", Of: []int{0, 1, 2}, Used: &Range{1, 1}}}},
			want: "spirits allows at most 1 used, and 2 are required: Gin and Rum: " +
				"raise the most used of spirits from 1 to 2 or do not require Gin",
		},
		{
			name: "a group's total beyond its members", kind: GroupTotal, sum: 40, limit: 50, core: []int{0, 1},
			rules: Ruleset{Ingredients: 5, Total: 100, Rules: []Rule{
				{Name: "amount", Of: []int{0, 1, 2, 3, 4}, Max: 40}, {Name: "spirits", Of: []int{0, 1}, Used: &Range{1, 1}, Total: &Range{50, 70}}}},
			want: "spirits asks for at least 50 together, and the greatest amounts of the 1 that may be used sum to 40: " +
				"raise the max of amount from 40 to 50, raise the most used of spirits from 1 to 2 or " +
				"lower the least total of spirits from 50 to 40",
		},
		{
			name: "groups that want too much", kind: MinimaAbove, sum: 110, limit: 100, core: []int{0, 1},
			rules: Ruleset{Ingredients: 4, Total: 100, Rules: []Rule{
				{Name: "spirits", Of: []int{0, 1}, Total: &Range{60, 90}}, {Name: "juices", Of: []int{2, 3}, Total: &Range{50, 80}}}},
			want: "the least amounts of the groups and the required ingredients sum to 110 of a total of 100 (110 %): " +
				"lower the least total of spirits from 60 to 50 or lower the least total of juices from 50 to 40",
		},
		{
			name: "two conflicts", kind: Unusable, core: []int{0, 1},
			rules: Ruleset{Ingredients: 4, Total: 100, Rules: []Rule{
				{Name: "gin", Of: []int{0}, Require: true}, {Name: "no gin", Of: []int{0}, Exclude: true},
				{Name: "rum", Of: []int{1}, Require: true}, {Name: "no rum", Of: []int{1}, Exclude: true}}},
			want: "Gin is both required and excluded: do not require Gin or do not exclude Gin; other rules are then still in conflict",
		},
		{
			name: "two conflicts, of which the second is smaller", kind: Unusable, core: []int{3, 4},
			rules: Ruleset{Ingredients: 4, Total: 100, Rules: []Rule{
				{Name: "gin", Of: []int{0}, Require: true}, {Name: "least gin", Of: []int{0}, Min: 50}, {Name: "most gin", Of: []int{0}, Max: 40},
				{Name: "rum", Of: []int{1}, Require: true}, {Name: "no rum", Of: []int{1}, Exclude: true}}},
			want: "Rum is both required and excluded: do not require Rum or do not exclude Rum; other rules are then still in conflict",
		},
		{
			name: "groups that have too little", kind: MaximaBelow, sum: 80, limit: 100, core: []int{0, 1},
			rules: Ruleset{Ingredients: 4, Total: 100, Rules: []Rule{
				{Name: "spirits", Of: []int{0, 1}, Total: &Range{0, 50}}, {Name: "juices", Of: []int{2, 3}, Total: &Range{0, 30}}}},
			want: "the greatest amounts of the groups and the other ingredients sum to 80 of a total of 100 (80 %): " +
				"raise the greatest total of spirits from 50 to 70 or raise the greatest total of juices from 30 to 50",
		},
		{
			name: "steps that miss", kind: Other, core: []int{0, 1},
			rules: Ruleset{Ingredients: 2, Total: 23, Rules: []Rule{
				{Name: "gin", Of: []int{0}, Step: 5}, {Name: "rum", Of: []int{1}, Step: 7}}},
			want: "no composition of 23 units keeps gin and rum together: drop the step of gin or drop the step of rum",
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			c.rules.Name = names
			got, err := c.rules.Explain(context.Background())
			if err != nil {
				t.Fatal(err)
			}
			if got == nil {
				t.Fatal("no conflict is found")
			}
			if got.Error() != c.want {
				t.Errorf("says\n\t%s\nnot\n\t%s", got, c.want)
			}
			if got.Kind != c.kind || got.Sum != c.sum || got.Limit != c.limit || got.Law != c.law || !slices.Equal(got.Rules, c.core) {
				t.Errorf("%v %d %d, law %v, rules %v; want %v %d %d, law %v, rules %v",
					got.Kind, got.Sum, got.Limit, got.Law, got.Rules, c.kind, c.sum, c.limit, c.law, c.core)
			}
		})
	}
}

func TestInvalidRules(t *testing.T) {
	for name, rs := range map[string]Ruleset{
		"no ingredients":   {Total: 5},
		"no total":         {Ingredients: 5},
		"index":            {Ingredients: 2, Total: 5, Rules: []Rule{{Of: []int{2}}}},
		"negative index":   {Ingredients: 2, Total: 5, Rules: []Rule{{Of: []int{-1}}}},
		"negative min":     {Ingredients: 2, Total: 5, Rules: []Rule{{Of: []int{0}, Min: -1}}},
		"min above max":    {Ingredients: 2, Total: 5, Rules: []Rule{{Of: []int{0}, Min: 3, Max: 2}}},
		"used upside down": {Ingredients: 2, Total: 5, Rules: []Rule{{Of: []int{0}, Used: &Range{2, 1}}}},
		"total the same":   {Ingredients: 2, Total: 5, Rules: []Rule{{Of: []int{0}, Total: &Range{2, 1}}}},
	} {
		if _, err := rs.Space(); !errors.Is(err, ErrInvalid) {
			t.Errorf("%s: Space gives %v", name, err)
		}
		if _, err := rs.Explain(context.Background()); !errors.Is(err, ErrInvalid) {
			t.Errorf("%s: Explain gives %v", name, err)
		}
	}
	for _, used := range [][]int{{}, {0}, {-7}} {
		rs := Ruleset{Ingredients: 3, Total: 5, Used: used}
		c, err := rs.Explain(context.Background())
		if err != nil || c == nil || !c.Law || len(c.Rules) > 0 || c.Error() != "no number of used ingredients from 1 to 3 is asked for: allow 1 used ingredient" {
			t.Errorf("%v used are asked for: %v, %v", used, c, err)
		}
	}
	far := Ruleset{Ingredients: 3, Total: 5, Used: []int{4, 9}}
	if c, err := far.Explain(context.Background()); err != nil || c == nil || len(c.Changes) != 1 || c.Changes[0].Text != "allow 3 used ingredients" {
		t.Errorf("4 or 9 used of 3: %v, %v", c, err)
	}
	crossing := Ruleset{Ingredients: 3, Total: 5, Rules: []Rule{
		{Of: []int{0, 1}, Used: &Range{0, 1}}, {Of: []int{1, 2}, Used: &Range{0, 1}}}}
	var overlap *OverlapError
	if _, err := crossing.Explain(context.Background()); !errors.As(err, &overlap) || overlap.Groups != [2]int{0, 1} || overlap.Ingredient != 1 {
		t.Errorf("crossing groups give %v", err)
	}
	crossing.Rules = slices.Insert(crossing.Rules, 1, Rule{Of: []int{0}, Require: true})
	kept, rest, err := crossing.Disjoint()
	if err != nil || !slices.Equal(kept, []int{0, 1}) || !slices.Equal(rest, []int{2}) {
		t.Errorf("kept %v, rest %v, %v", kept, rest, err)
	}
}

// A thousand bounds of single ingredients, and ten groups that want too much.
func BenchmarkExplain(b *testing.B) {
	s := large(100)
	rs := Ruleset{Ingredients: 2000, Total: 1000, Used: []int{12, 40}}
	for i, ing := range s.Ingredients[:1000] {
		rs.Rules = append(rs.Rules, Rule{Of: []int{i}, Min: ing.Min, Max: ing.Max})
	}
	for g, group := range s.Groups {
		rs.Rules = append(rs.Rules, Rule{Of: group.Members, Total: &Range{101 + g, 300}})
	}
	for b.Loop() {
		if c, err := rs.Explain(context.Background()); err != nil || c == nil || c.Kind != MinimaAbove {
			b.Fatal(c, err)
		}
	}
}
