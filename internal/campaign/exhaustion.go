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
	name              string                          // name shown to the user
	liftsWithoutCount bool                            // whether lifting the restriction is possible without counting recipes
	describeFix       func(freed chosenRecipe) string // returns the change, in words, that would allow the recipe freed
	relax             func(d *batchOptimizer)         // removes the restriction from the optimizer d
}

const (
	// maxFixes is the maximum number of changes that an explanation proposes.
	maxFixes = 4
	// maxRulesLifted is the maximum number of rules that are lifted in turn to find a change that
	// helps.
	maxRulesLifted = 20
	// maxVisitsPerSearch is the maximum number of recipes that one search with lifted restrictions
	// visits.
	maxVisitsPerSearch = 20_000
)

// clone returns a copy of the optimizer. Adding recipes to the copy does not change the original.
func (ch *batchOptimizer) clone() *batchOptimizer {
	d := *ch
	d.excludedRecipes, d.unitsInStock, d.batch = maps.Clone(ch.excludedRecipes), maps.Clone(ch.unitsInStock), slices.Clone(ch.batch)
	return &d
}

// findOneMore lifts some restrictions and searches for one more recipe for the batch. It returns a
// copy of the optimizer without these restrictions, and whether a recipe was found.
func (ch *batchOptimizer) findOneMore(ctx context.Context, lifted ...restriction) (*batchOptimizer, bool, error) {
	d := ch.clone()
	for _, b := range lifted {
		b.relax(d)
	}
	d.unitsInStock = d.remainingStock()
	if len(d.droppedRuleIndices) > 0 || d.anyIngredientCount {
		var err error
		if d.ruleTarget, err = d.campaign.Problem.RelaxedTarget(ctx, func(k int) bool { return !slices.Contains(d.droppedRuleIndices, k) }, d.anyIngredientCount); err != nil {
			return nil, false, browsersched.Err(ctx) // a target that cannot be counted frees no recipe
		}
	}
	d.settings.BatchSize, d.maxVisits = len(d.batch)+1, maxVisitsPerSearch
	err := d.completeBatch(ctx)
	return d, len(d.batch) > len(ch.batch), err
}

// restrictions returns all restrictions that may be the reason why no recipe is left for the batch.
func (ch *batchOptimizer) restrictions() []restriction {
	var all []restriction
	p := ch.campaign.Problem
	if ch.settings.MaxNewIngredients >= 0 {
		all = append(all, restriction{
			name:              fmt.Sprintf("max_new: %d", ch.settings.MaxNewIngredients),
			liftsWithoutCount: true,
			describeFix: func(freed chosenRecipe) string {
				return fmt.Sprintf("write max_new: %d under campaign", ch.countNewIngredients(freed.parts))
			},
			relax: func(d *batchOptimizer) { d.settings.MaxNewIngredients = -1 },
		})
	}
	for _, a := range ch.alikeLimits {
		name := ch.campaign.Problem.Conditions[a.conditionIndex].Name
		all = append(all, restriction{
			name:              fmt.Sprintf("alike: {%s: %d}", name, a.maxValues),
			liftsWithoutCount: true,
			describeFix:       func(chosenRecipe) string { return fmt.Sprintf("write alike: {%s: %d}", name, a.maxValues+1) },
			relax: func(d *batchOptimizer) {
				d.alikeLimits = slices.DeleteFunc(slices.Clone(d.alikeLimits), func(o alikeLimit) bool { return o.conditionIndex == a.conditionIndex })
				d.chosenValues = nil
			},
		})
	}
	if slices.ContainsFunc(ch.minAmounts, func(least int) bool { return least > 1 }) {
		all = append(all, restriction{
			name:              "the least amounts that recipes have of the ingredients",
			liftsWithoutCount: true,
			describeFix:       func(chosenRecipe) string { return "write search: {doses: any}" },
			relax:             func(d *batchOptimizer) { d.minAmounts = make([]int, len(d.minAmounts)) },
		})
	}
	if len(ch.unitsInStock) > 0 {
		all = append(all, restriction{
			name:              "the stock that is left",
			liftsWithoutCount: true,
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
			relax: func(d *batchOptimizer) { d.ignoreStock = true },
		})
	}
	rules := p.AllRules()
	for k := range rules[:min(len(rules), maxRulesLifted)] {
		name := p.RuleName(k)
		all = append(all, restriction{
			name:        name,
			describeFix: func(chosenRecipe) string { return "drop " + name },
			relax: func(d *batchOptimizer) {
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
				relax: func(d *batchOptimizer) { d.anyIngredientCount = true },
			})
		}
	}
	return all
}

// explainExhaustion explains why no recipe is left to offer. The result why names each restriction
// that hides an untried recipe. The result fix says what the user may change, and every change was
// tested by a search. If no restriction hides a recipe, fix is empty.
func (ch *batchOptimizer) explainExhaustion(ctx context.Context) (why, fix string, err error) {
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
		if len(fixes) == maxFixes || len(fixes) > 0 && !b.liftsWithoutCount {
			break
		}
		d, ok, err := ch.findOneMore(ctx, b)
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
	d, ok, err := ch.findOneMore(ctx, all...)
	if err != nil {
		return "", "", err
	}
	if !ok {
		return "all that was found" + done + ", and no bound leaves out more", "", nil
	}
	needed := slices.Clone(all)
	for _, b := range all {
		less := slices.DeleteFunc(slices.Clone(needed), func(o restriction) bool { return o.name == b.name })
		one, ok, err := ch.findOneMore(ctx, less...)
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
