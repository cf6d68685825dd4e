package conflict

import (
	"context"
	"math/bits"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"kir/internal/constraint"
	"kir/rule"
)

// A composition is judged as the definitions of its rules judge it.
func TestConditionsEqualBruteForce(t *testing.T) {
	r := rand.New(rand.NewPCG(6, 3))
	for problem := range 1000 {
		s := randomRules(r).set()
		s.Used = nil
		c, err := constraint.FromRules(s)
		if err != nil {
			t.Fatal(err)
		}
		for _, x := range everyAmounts(s.Ingredients, s.Total) {
			if got, want := c.AreKeptBy(partsOf(x)), len(bruteRules(s, [][]int{x})) > 0; got != want {
				t.Fatalf("problem %d, %+v: %v is kept: %v, want %v", problem, s.Rules, x, got, want)
			}
		}
	}
}

// On random rulesets, a conflict is found exactly if there is no composition;
// its rules cannot hold together, no smaller set of rules cannot, each change
// resolves it, and no common cause is found where there is no conflict. All of this is
// checked by brute force.
func TestExplainIsSmallestAndTrue(t *testing.T) {
	r := rand.New(rand.NewPCG(6, 4))
	conflicts, changes := 0, 0
	kinds := make(map[Kind]int)
	for problem := range 3000 {
		s := randomRules(r).set()
		all := everyAmounts(s.Ingredients, s.Total)
		c := checkExplained(t, s, all)
		if c == nil {
			if found := findCause(question{Set: s}); found != nil && len(bruteRules(s, all)) > 0 {
				t.Fatalf("problem %d, %+v: has compositions, and yet %s", problem, s.Rules, found.text)
			}
			continue
		}
		conflicts++
		changes += len(c.Changes)
		kinds[c.Kind]++
	}
	t.Logf("%d conflicts, %d changes, %v", conflicts, changes, kinds)
	if conflicts < 1000 || changes < 1000 {
		t.Errorf("the random rulesets are poor: %d conflicts, %d changes", conflicts, changes)
	}
}

// checkExplained holds what is said of a set against all compositions: that
// there is a conflict, that its rules cannot hold together, that no fewer
// cannot, that there is a way out, and that each frees the set.
func checkExplained(t *testing.T, s rule.Set, all [][]int) *Conflict {
	t.Helper()
	c, err := Explain(context.Background(), s)
	if err != nil {
		t.Fatalf("%+v: %v", s.Rules, err)
	}
	if possible := len(bruteRules(s, all)) > 0; possible != (c == nil) {
		t.Fatalf("%+v, used %v: possible %v, explained as %v", s.Rules, s.Used, possible, c)
	}
	if c == nil {
		return nil
	}
	if c.Cause == "" {
		t.Fatalf("%+v: a conflict without a cause", s.Rules)
	}
	subset := func(rules []int, law bool) rule.Set {
		sub := question{Set: s}.onlyRules(rules).Set
		if !law {
			sub.Used = nil
		}
		return sub
	}
	if len(bruteRules(subset(c.Rules, c.InvolvesUsedCounts), all)) > 0 {
		t.Fatalf("%+v: rules %v (law %v) can hold together", s.Rules, c.Rules, c.InvolvesUsedCounts)
	}
	if c.InvolvesUsedCounts && len(bruteRules(subset(c.Rules, false), all)) == 0 {
		t.Fatalf("%+v: rules %v cannot hold together whatever the law", s.Rules, c.Rules)
	}
	for set := range 1 << len(s.Rules) {
		if bits.OnesCount(uint(set)) >= len(c.Rules) {
			continue
		}
		var smaller []int
		for k := range s.Rules {
			if set>>k&1 == 1 {
				smaller = append(smaller, k)
			}
		}
		if len(bruteRules(subset(smaller, c.InvolvesUsedCounts), all)) == 0 {
			t.Fatalf("%+v: rules %v are told to be a smallest conflict, and %v are one", s.Rules, c.Rules, smaller)
		}
	}
	if len(c.Changes) == 0 {
		t.Fatalf("%+v, used %v: %v and no way out", s.Rules, s.Used, c)
	}
	for _, change := range c.Changes {
		changed := change.applyTo(question{Set: s})
		frees := len(bruteRules(changed.Set, all)) > 0
		if len(changed.conditionChanges) > 0 { // the least amounts are lowered, which no rule says
			frees = slices.ContainsFunc(all, func(x []int) bool {
				lowered := changed.Set
				lowered.Rules = nil
				for _, r := range changed.Rules {
					if a, ok := r.(rule.Amount); ok {
						if a.Min = 0; a.Step > 1 {
							a.Step = 1
						}
						r = a
					}
					lowered.Rules = append(lowered.Rules, r)
				}
				return len(bruteRules(lowered, [][]int{x})) > 0 && shortfalls(s, x) <= change.BoundChange
			})
		}
		if !frees {
			t.Fatalf("%+v, used %v: %q changes nothing: %+v", s.Rules, s.Used, change.Text, changed.Rules)
		}
	}
	return c
}

// Groups may overlap in ingredients that another rule excludes, and so do when
// that rule is left out.
func TestExplainGroupsKeptApartByExclusion(t *testing.T) {
	r := rand.New(rand.NewPCG(8, 1))
	conflicts := 0
	for conflicts < 300 {
		s := randomRules(r).set()
		s.Text = nil
		for range 2 {
			lo := r.IntN(s.Total + 1)
			s.Rules = append(s.Rules, rule.Group{Of: r.Perm(s.Ingredients)[:1+r.IntN(s.Ingredients)], Total: &rule.Range{Min: lo, Max: lo + r.IntN(s.Total+1-lo)}})
		}
		s.Rules = append(s.Rules, rule.Exclude{Of: []int{r.IntN(s.Ingredients)}})
		crosses := func(s rule.Set) bool {
			c, err := constraint.FromRules(s)
			if err != nil {
				t.Fatal(err)
			}
			return len(c.UncountedRules()) > 0
		}
		included := s
		included.Rules = slices.DeleteFunc(slices.Clone(s.Rules), func(r rule.Rule) bool { _, ok := r.(rule.Exclude); return ok })
		if crosses(s) || !crosses(included) {
			continue
		}
		if checkExplained(t, s, everyAmounts(s.Ingredients, s.Total)) != nil {
			conflicts++
		}
	}
}

func names(ingredient int) string {
	return strings.Split("Gin Rum Lime Mint Milk Egg Salt", " ")[ingredient]
}

// What is said about the usual mistakes.
func TestExplainSays(t *testing.T) {
	six := []int{0, 1, 2, 3, 4, 5}
	minima := []plain{{Name: "require", Of: six, Require: true}}
	for i, least := range []int{22, 29, 24, 29, 17, 13} {
		minima = append(minima, plain{Name: "amount of " + names(i), Of: []int{i}, Min: least})
	}
	for _, c := range []struct {
		name       string
		rules      ruleset
		kind       Kind
		sum, limit int
		core       []int
		law        bool
		want       string
	}{
		{
			name: "minima of required ingredients", rules: ruleset{Ingredients: 6, Total: 100, Rules: minima},
			kind: MinimaAbove, sum: 134, limit: 100, core: []int{0, 1, 2, 3, 4},
			want: "the least amounts of the 6 required ingredients sum to 134 of a total of 100 (134 %): " +
				"lower them by 34 in all (34 % of the total) or do not require Rum and Mint",
		},
		{
			name: "one rule of minima", kind: MinimaAbove, sum: 120, limit: 100, core: []int{0, 1},
			rules: ruleset{Ingredients: 6, Total: 100, Rules: []plain{
				{Name: "require", Of: six, Require: true}, {Name: "amount", Of: six, Min: 20}}},
			want: "the least amounts of the 6 required ingredients sum to 120 of a total of 100 (120 %): " +
				"lower them by 20 in all (20 % of the total), do not require Gin or " +
				"lower the min of amount from 20 to 16",
		},
		{
			name: "maxima", kind: MaximaBelow, sum: 90, limit: 100, core: []int{0}, law: true,
			rules: ruleset{Ingredients: 6, Total: 100, Used: []int{2, 3}, Rules: []plain{{Name: "amount", Of: six, Max: 30}}},
			want: "the greatest amounts of the largest 3 ingredients sum to 90 of a total of 100 (90 %): " +
				"raise the max of amount from 30 to 34 or allow 4 used ingredients",
		},
		{
			name: "steps", kind: Steps, sum: 30, limit: 100, core: []int{0},
			rules: ruleset{Ingredients: 3, Total: 100, Rules: []plain{{Name: "amount", Of: []int{0, 1, 2}, Step: 30}}},
			want:  "all amounts are multiples of 30, and the total of 100 is not: drop the step of amount",
		},
		{
			name: "required and excluded", kind: Unusable, core: []int{0, 2},
			rules: ruleset{Ingredients: 3, Total: 100, Rules: []plain{
				{Name: "require", Of: []int{0, 1}, Require: true}, {Of: []int{2}, Min: 5}, {Name: "exclude", Of: []int{1}, Exclude: true}}},
			want: "Rum is both required and excluded: do not require Rum or do not exclude Rum",
		},
		{
			name: "required without an amount", kind: Unusable, core: []int{0, 1, 2},
			rules: ruleset{Ingredients: 3, Total: 100, Rules: []plain{
				{Name: "require", Of: []int{1}, Require: true}, {Name: "least", Of: []int{1}, Min: 50}, {Name: "greatest", Of: []int{1}, Max: 40}}},
			want: "Rum is required, and its rules leave it no amount: lower the min of least from 50 to 40, " +
				"raise the max of greatest from 40 to 50 or do not require Rum",
		},
		{
			name: "everything excluded", kind: Unusable, core: []int{0},
			rules: ruleset{Ingredients: 3, Total: 100, Rules: []plain{{Name: "exclude", Of: []int{0, 1, 2}, Exclude: true}}},
			want:  "no ingredient is left that may be used: do not exclude Gin",
		},
		{
			name: "too many required for the law", kind: UsedCount, sum: 3, limit: 2, core: []int{0}, law: true,
			rules: ruleset{Ingredients: 5, Total: 100, Used: []int{1, 2}, Rules: []plain{{Name: "require", Of: []int{0, 1, 2}, Require: true}}},
			want:  "3 ingredients are required, and at most 2 used are asked for: do not require Gin or allow 3 used ingredients",
		},
		{
			name: "too few left for the law", kind: UsedCount, sum: 3, limit: 4, core: []int{0}, law: true,
			rules: ruleset{Ingredients: 5, Total: 100, Used: []int{4}, Rules: []plain{{Name: "exclude", Of: []int{0, 1}, Exclude: true}}},
			want:  "at least 4 used ingredients are asked for, and the rules allow at most 3: do not exclude Gin or allow 3 used ingredients",
		},
		{
			name: "more required than a group allows", kind: GroupUsed, sum: 2, limit: 1, core: []int{0, 1},
			rules: ruleset{Ingredients: 5, Total: 100, Rules: []plain{
				{Name: "require", Of: []int{0, 1}, Require: true}, {Name: "spirits", Of: []int{0, 1, 2}, Used: &rule.Range{Min: 1, Max: 1}}}},
			want: "spirits allows at most 1 used, and 2 are required: Gin and Rum: " +
				"raise the most used of spirits from 1 to 2 or do not require Gin",
		},
		{
			name: "a group's total beyond its members", kind: GroupTotal, sum: 40, limit: 50, core: []int{0, 1},
			rules: ruleset{Ingredients: 5, Total: 100, Rules: []plain{
				{Name: "amount", Of: []int{0, 1, 2, 3, 4}, Max: 40}, {Name: "spirits", Of: []int{0, 1}, Used: &rule.Range{Min: 1, Max: 1}, Total: &rule.Range{Min: 50, Max: 70}}}},
			want: "spirits asks for at least 50 together, and the greatest amounts of the 1 that may be used sum to 40: " +
				"raise the max of amount from 40 to 50, raise the most used of spirits from 1 to 2 or " +
				"lower the least total of spirits from 50 to 40",
		},
		{
			name: "groups that want too much", kind: MinimaAbove, sum: 110, limit: 100, core: []int{0, 1},
			rules: ruleset{Ingredients: 4, Total: 100, Rules: []plain{
				{Name: "spirits", Of: []int{0, 1}, Total: &rule.Range{Min: 60, Max: 90}}, {Name: "juices", Of: []int{2, 3}, Total: &rule.Range{Min: 50, Max: 80}}}},
			want: "the least amounts of the groups and the required ingredients sum to 110 of a total of 100 (110 %): " +
				"lower the least total of spirits from 60 to 50 or lower the least total of juices from 50 to 40",
		},
		{
			name: "two conflicts", kind: Unusable, core: []int{0, 1},
			rules: ruleset{Ingredients: 4, Total: 100, Rules: []plain{
				{Name: "gin", Of: []int{0}, Require: true}, {Name: "no gin", Of: []int{0}, Exclude: true},
				{Name: "rum", Of: []int{1}, Require: true}, {Name: "no rum", Of: []int{1}, Exclude: true}}},
			want: "Gin is both required and excluded: do not require Gin and do not require Rum",
		},
		{
			name: "two conflicts, of which the second is smaller", kind: Unusable, core: []int{3, 4},
			rules: ruleset{Ingredients: 4, Total: 100, Rules: []plain{
				{Name: "gin", Of: []int{0}, Require: true}, {Name: "least gin", Of: []int{0}, Min: 50}, {Name: "most gin", Of: []int{0}, Max: 40},
				{Name: "rum", Of: []int{1}, Require: true}, {Name: "no rum", Of: []int{1}, Exclude: true}}},
			want: "Rum is both required and excluded: do not require Rum and lower the min of least gin from 50 to 40",
		},
		{
			name: "groups that have too little", kind: MaximaBelow, sum: 80, limit: 100, core: []int{0, 1},
			rules: ruleset{Ingredients: 4, Total: 100, Rules: []plain{
				{Name: "spirits", Of: []int{0, 1}, Total: &rule.Range{Min: 0, Max: 50}}, {Name: "juices", Of: []int{2, 3}, Total: &rule.Range{Min: 0, Max: 30}}}},
			want: "the greatest amounts of the groups and the other ingredients sum to 80 of a total of 100 (80 %): " +
				"raise the greatest total of spirits from 50 to 70 or raise the greatest total of juices from 30 to 50",
		},
		{
			name: "steps that miss", kind: Other, core: []int{0, 1},
			rules: ruleset{Ingredients: 2, Total: 23, Rules: []plain{
				{Name: "gin", Of: []int{0}, Step: 5}, {Name: "rum", Of: []int{1}, Step: 7}}},
			want: "no recipe of 23 units meets gin and rum together: drop the step of gin or drop the step of rum",
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := c.rules.set()
			s.Name = names
			got, err := Explain(context.Background(), s)
			if err != nil {
				t.Fatal(err)
			}
			if got == nil {
				t.Fatal("no conflict is found")
			}
			if got.Error() != c.want {
				t.Errorf("says\n\t%s\nnot\n\t%s", got, c.want)
			}
			if got.Kind != c.kind || got.Sum != c.sum || got.Limit != c.limit || got.InvolvesUsedCounts != c.law || !slices.Equal(got.Rules, c.core) {
				t.Errorf("%v %d %d, law %v, rules %v; want %v %d %d, law %v, rules %v",
					got.Kind, got.Sum, got.Limit, got.InvolvesUsedCounts, got.Rules, c.kind, c.sum, c.limit, c.law, c.core)
			}
		})
	}
}

func TestInvalidRules(t *testing.T) {
	for name, rs := range map[string]ruleset{
		"no ingredients":   {Total: 5},
		"no total":         {Ingredients: 5},
		"index":            {Ingredients: 2, Total: 5, Rules: []plain{{Of: []int{2}}}},
		"negative index":   {Ingredients: 2, Total: 5, Rules: []plain{{Of: []int{-1}}}},
		"negative min":     {Ingredients: 2, Total: 5, Rules: []plain{{Of: []int{0}, Min: -1}}},
		"min above max":    {Ingredients: 2, Total: 5, Rules: []plain{{Of: []int{0}, Min: 3, Max: 2}}},
		"used upside down": {Ingredients: 2, Total: 5, Rules: []plain{{Of: []int{0}, Used: &rule.Range{Min: 2, Max: 1}}}},
		"total the same":   {Ingredients: 2, Total: 5, Rules: []plain{{Of: []int{0}, Total: &rule.Range{Min: 2, Max: 1}}}},
	} {
		if _, err := Explain(context.Background(), rs.set()); err == nil {
			t.Errorf("%s: Explain gives %v", name, err)
		}
	}
	for _, used := range [][]int{{}, {0}, {-7}} {
		rs := ruleset{Ingredients: 3, Total: 5, Used: used}
		c, err := Explain(context.Background(), rs.set())
		if err != nil || c == nil || !c.InvolvesUsedCounts || len(c.Rules) > 0 || c.Error() != "no number of used ingredients from 1 to 3 is asked for: allow 1 used ingredient" {
			t.Errorf("%v used are asked for: %v, %v", used, c, err)
		}
	}
	far := ruleset{Ingredients: 3, Total: 5, Used: []int{4, 9}}
	if c, err := Explain(context.Background(), far.set()); err != nil || c == nil || len(c.Changes) != 1 || c.Changes[0].Text != "allow 3 used ingredients" {
		t.Errorf("4 or 9 used of 3: %v, %v", c, err)
	}
	crossing := rule.Set{Ingredients: 3, Total: 5, Rules: []rule.Rule{
		rule.Group{Of: []int{0, 1}, Used: &rule.Range{Min: 0, Max: 1}}, rule.Require{Of: []int{0}}, rule.Group{Of: []int{1, 2}, Used: &rule.Range{Min: 0, Max: 1}}}}
	c, err := constraint.FromRules(crossing)
	if err != nil || !slices.Equal(c.UncountedRules(), []int{2}) {
		t.Errorf("of groups that cross %v are not counted, %v", c.UncountedRules(), err)
	}
}

// A thousand bounds of single ingredients, and ten groups that want too much.
func BenchmarkExplain(b *testing.B) {
	s := rule.Set{Ingredients: 2000, Total: 1000, Used: []int{12, 40}}
	for i := range 1000 {
		s.Rules = append(s.Rules, rule.Amount{Of: []int{i}, Min: 5 + i%20, Max: 100 + i%300})
	}
	for g := range 10 {
		var of []int
		for i := range 100 {
			of = append(of, 100*g+i)
		}
		s.Rules = append(s.Rules, rule.Group{Of: of, Total: &rule.Range{Min: 101 + g, Max: 300}})
	}
	for b.Loop() {
		if c, err := Explain(context.Background(), s); err != nil || c == nil || c.Kind != MinimaAbove {
			b.Fatal(c, err)
		}
	}
}
