package campaign

import (
	"context"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"

	"kir/internal/browsersched"
	"kir/internal/inputerr"
	"kir/internal/number"
)

// A restriction is a limit, such as a rule or the stock, that keeps untried recipes out of a batch.
type restriction struct {
	name           string                          // name shown to the user
	needsNoRecount bool                            // whether the restriction can be removed without counting the allowed recipes again
	describeFix    func(freed chosenRecipe) string // returns the change, in words, that would allow the given recipe
	removeFrom     func(d *batchOptimizer)         // removes the restriction from the given optimizer
}

const (
	// maxFixes is the maximum number of changes that an explanation proposes to the user.
	maxFixes = 4
	// maxRulesTested is the maximum number of rules that are tested as the reason why no recipe is
	// left. To test a rule, a search is made without the rule.
	maxRulesTested = 20
	// maxVisitsWithoutRestriction is the maximum number of recipes that one search visits when some
	// restrictions are removed to test them.
	maxVisitsWithoutRestriction = 20_000
)

// clone returns a copy of the optimizer. Adding recipes to the copy does not change the original.
func (ch *batchOptimizer) clone() *batchOptimizer {
	d := *ch
	d.excludedRecipes, d.unitsInStock, d.batch = maps.Clone(ch.excludedRecipes), maps.Clone(ch.unitsInStock), slices.Clone(ch.batch)
	return &d
}

// findOneMoreRecipe searches for one more recipe for the batch in a copy of the optimizer without
// the given restrictions. It returns the copy and reports whether a recipe was found.
func (ch *batchOptimizer) findOneMoreRecipe(ctx context.Context, lifted ...restriction) (*batchOptimizer, bool, error) {
	d := ch.clone()
	for _, b := range lifted {
		b.removeFrom(d)
	}
	d.unitsInStock = d.remainingStock()
	if len(d.droppedRuleIndices) > 0 || d.ignoreIngredientCount {
		var err error
		if d.ruleTarget, err = d.campaign.Problem.RelaxedTarget(ctx, func(k int) bool { return !slices.Contains(d.droppedRuleIndices, k) }, d.ignoreIngredientCount); err != nil {
			return nil, false, browsersched.Err(ctx) // a target that cannot be counted frees no recipe
		}
	}
	d.settings.BatchSize, d.maxVisits = len(d.batch)+1, maxVisitsWithoutRestriction
	err := d.completeBatch(ctx)
	return d, len(d.batch) > len(ch.batch), err
}

// restrictions returns all restrictions that may be the reason why no recipe is left for the batch.
func (ch *batchOptimizer) restrictions() []restriction {
	var all []restriction
	p := ch.campaign.Problem
	if ch.settings.MaxNewIngredients >= 0 {
		all = append(all, restriction{
			name:           fmt.Sprintf("max_new: %d", ch.settings.MaxNewIngredients),
			needsNoRecount: true,
			describeFix: func(freed chosenRecipe) string {
				return fmt.Sprintf("write max_new: %d under campaign", ch.countNewIngredients(freed.parts))
			},
			removeFrom: func(d *batchOptimizer) { d.settings.MaxNewIngredients = -1 },
		})
	}
	for _, a := range ch.conditionValueLimits {
		name := ch.campaign.Problem.Conditions[a.conditionIndex].Name
		all = append(all, restriction{
			name:           fmt.Sprintf("alike: {%s: %d}", name, a.maxValues),
			needsNoRecount: true,
			describeFix:    func(chosenRecipe) string { return fmt.Sprintf("write alike: {%s: %d}", name, a.maxValues+1) },
			removeFrom: func(d *batchOptimizer) {
				d.conditionValueLimits = slices.DeleteFunc(slices.Clone(d.conditionValueLimits), func(o conditionValueLimit) bool { return o.conditionIndex == a.conditionIndex })
				d.chosenConditionValues = nil
			},
		})
	}
	if slices.ContainsFunc(ch.minAmounts, func(least int) bool { return least > 1 }) {
		all = append(all, restriction{
			name:           "the least amounts that recipes have of the ingredients",
			needsNoRecount: true,
			describeFix:    func(chosenRecipe) string { return "write search: {doses: any}" },
			removeFrom:     func(d *batchOptimizer) { d.minAmounts = make([]int, len(d.minAmounts)) },
		})
	}
	if len(ch.unitsInStock) > 0 {
		all = append(all, restriction{
			name:           "the stock that is left",
			needsNoRecount: true,
			describeFix: func(freed chosenRecipe) string {
				var of, more []string
				for _, part := range freed.parts {
					if left, ok := ch.unitsInStock[part.Ingredient]; ok && part.Amount > left {
						of = append(of, inputerr.Quote(p.Ingredients[part.Ingredient]))
						more = append(more, strings.TrimSpace(number.Share(part.Amount-left, p.Total)))
					}
				}
				return fmt.Sprintf("raise the stock of %s by %s of a recipe", number.JoinAnd(of), number.JoinAnd(more))
			},
			removeFrom: func(d *batchOptimizer) { d.ignoreStock = true },
		})
	}
	rules := p.AllRules()
	for k := range rules[:min(len(rules), maxRulesTested)] {
		name := p.RuleName(k)
		all = append(all, restriction{
			name:        name,
			describeFix: func(chosenRecipe) string { return "drop " + name },
			removeFrom: func(d *batchOptimizer) {
				d.droppedRuleIndices = append(slices.Clone(d.droppedRuleIndices), k)
				d.objectives = slices.DeleteFunc(slices.Clone(d.objectives), func(o *learntObjective) bool {
					return o.learningSettings.Limit != nil && o.name == rules[k].Text
				})
			},
		})
	}
	for n := 1; n <= min(len(p.Ingredients), p.Total); n++ {
		if math.IsInf(p.Target.LogLaw(n), -1) {
			return append(all, restriction{
				name: p.SparsityName(),
				describeFix: func(freed chosenRecipe) string {
					return "allow " + inputerr.Count(len(freed.parts), "ingredient") + " in " + p.SparsityName()
				},
				removeFrom: func(d *batchOptimizer) { d.ignoreIngredientCount = true },
			})
		}
	}
	return all
}

// explainExhaustion explains why no recipe is left to offer. The result reason names each
// restriction that excludes an untried recipe. The result fix says what the user may change; a
// search has shown that each change frees a recipe. If no restriction excludes a recipe, fix is
// empty.
func (ch *batchOptimizer) explainExhaustion(ctx context.Context) (reason, fix string, err error) {
	all := ch.restrictions()
	var names, fixes []string
	done := " was tried or waits"
	if len(ch.campaign.withdrawnKeys()) > 0 {
		done = " was tried, waits or was withdrawn"
	}
	note := func(b restriction, d *batchOptimizer) {
		names = append(names, b.name)
		fixes = append(fixes, b.describeFix(d.batch[len(d.batch)-1]))
	}
	for _, b := range all {
		if len(fixes) == maxFixes || len(fixes) > 0 && !b.needsNoRecount {
			break
		}
		d, ok, err := ch.findOneMoreRecipe(ctx, b)
		if err != nil {
			return "", "", err
		}
		if ok {
			note(b, d)
		}
	}
	if len(fixes) > 0 {
		return "all that keeps " + number.JoinAnd(names) + done, number.JoinOr(fixes), nil
	}
	// Several restrictions apply at once. Lift all, then put back each one that is not needed
	// to free a recipe.
	d, ok, err := ch.findOneMoreRecipe(ctx, all...)
	if err != nil {
		return "", "", err
	}
	if !ok {
		return "all that was found" + done + ", and no bound leaves out more", "", nil
	}
	needed := slices.Clone(all)
	for _, b := range all {
		less := slices.DeleteFunc(slices.Clone(needed), func(o restriction) bool { return o.name == b.name })
		one, ok, err := ch.findOneMoreRecipe(ctx, less...)
		if err != nil {
			return "", "", err
		}
		if ok {
			needed, d = less, one
		}
	}
	for _, b := range needed {
		note(b, d)
	}
	return "all that keeps any of " + number.JoinAnd(names) + done, number.JoinAnd(fixes), nil
}
