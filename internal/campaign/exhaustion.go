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

// A restriction keeps recipes out of a batch for another reason than that they were tried.
type restriction struct {
	name              string                          // shown to the user
	liftsWithoutCount bool                            // lifting it needs no counting of recipes
	fix               func(freed chosenRecipe) string // the change that would allow the freed recipe, in words
	relax             func(d *batchOptimizer)         // lifts the restriction in d
}

const (
	// mostFixes is the greatest number of fixes offered.
	mostFixes = 4
	// mostRelaxed is the greatest number of rules that are lifted in turn to find fixes.
	mostRelaxed = 20
	// triedReach is the number of recipes that each search with lifted restrictions may visit.
	triedReach = 20_000
)

// clone returns a copy that can continue the batch without changing ch.
func (ch *batchOptimizer) clone() *batchOptimizer {
	d := *ch
	d.excludedRecipes, d.stock, d.batch = maps.Clone(ch.excludedRecipes), maps.Clone(ch.stock), slices.Clone(ch.batch)
	return &d
}

// tryOneMore lifts some restrictions and searches for one more recipe for the batch. It
// returns the optimizer without these restrictions, and whether it found a recipe.
func (ch *batchOptimizer) tryOneMore(ctx context.Context, lifted ...restriction) (*batchOptimizer, bool, error) {
	d := ch.clone()
	for _, b := range lifted {
		b.relax(d)
	}
	d.stock = d.remainingStock()
	if len(d.droppedRules) > 0 || d.anySize {
		var err error
		if d.ruleTarget, err = d.c.Problem.RelaxedTarget(ctx, func(k int) bool { return !slices.Contains(d.droppedRules, k) }, d.anySize); err != nil {
			return nil, false, browsersched.Err(ctx) // a target that cannot be counted frees no recipe
		}
	}
	d.s.Size, d.visitLimit = len(d.batch)+1, triedReach
	err := d.completeBatch(ctx)
	return d, len(d.batch) > len(ch.batch), err
}

// restrictions returns all restrictions that may leave no recipe for the batch.
func (ch *batchOptimizer) restrictions() []restriction {
	var all []restriction
	p := ch.c.Problem
	if ch.s.MaxNew >= 0 {
		all = append(all, restriction{
			name:              fmt.Sprintf("max_new: %d", ch.s.MaxNew),
			liftsWithoutCount: true,
			fix: func(freed chosenRecipe) string {
				return fmt.Sprintf("write max_new: %d under campaign", ch.countNewIngredients(freed.parts))
			},
			relax: func(d *batchOptimizer) { d.s.MaxNew = -1 },
		})
	}
	for _, a := range ch.alike {
		name := ch.c.Problem.Conditions[a.condition].Name
		all = append(all, restriction{
			name:              fmt.Sprintf("alike: {%s: %d}", name, a.values),
			liftsWithoutCount: true,
			fix:               func(chosenRecipe) string { return fmt.Sprintf("write alike: {%s: %d}", name, a.values+1) },
			relax: func(d *batchOptimizer) {
				d.alike = slices.DeleteFunc(slices.Clone(d.alike), func(o alikeLimit) bool { return o.condition == a.condition })
				d.chosenValues = nil
			},
		})
	}
	if slices.ContainsFunc(ch.minAmounts, func(least int) bool { return least > 1 }) {
		all = append(all, restriction{
			name:              "the least amounts that recipes have of the ingredients",
			liftsWithoutCount: true,
			fix:               func(chosenRecipe) string { return "write search: {doses: any}" },
			relax:             func(d *batchOptimizer) { d.minAmounts = make([]int, len(d.minAmounts)) },
		})
	}
	if len(ch.stock) > 0 {
		all = append(all, restriction{
			name:              "the stock that is left",
			liftsWithoutCount: true,
			fix: func(freed chosenRecipe) string {
				var of, more []string
				for _, part := range freed.parts {
					if left, ok := ch.stock[part.Ingredient]; ok && part.Amount > left {
						of = append(of, inputerr.Quote(p.Ingredients[part.Ingredient]))
						more = append(more, strings.TrimSpace(number.Share(part.Amount-left, p.Total)))
					}
				}
				return fmt.Sprintf("raise the stock of %s by %s of a recipe", number.JoinAnd(of), number.JoinAnd(more))
			},
			relax: func(d *batchOptimizer) { d.unlimitedStock = true },
		})
	}
	rules := p.AllRules()
	for k := range rules[:min(len(rules), mostRelaxed)] {
		name := p.RuleName(k)
		all = append(all, restriction{
			name: name,
			fix:  func(chosenRecipe) string { return "drop " + name },
			relax: func(d *batchOptimizer) {
				d.droppedRules = append(slices.Clone(d.droppedRules), k)
				d.objectives = slices.DeleteFunc(slices.Clone(d.objectives), func(o *learntObjective) bool {
					return o.learning.Limit != nil && o.name == rules[k].Text
				})
			},
		})
	}
	for n := 1; n <= min(len(p.Ingredients), p.Total); n++ {
		if math.IsInf(p.Target.LogLaw(n), -1) {
			return append(all, restriction{
				name: p.SparsityName(),
				fix: func(freed chosenRecipe) string {
					return "allow " + inputerr.Count(len(freed.parts), "ingredient") + " in " + p.SparsityName()
				},
				relax: func(d *batchOptimizer) { d.anySize = true },
			})
		}
	}
	return all
}

// explainExhaustion explains why no recipe is left to offer. why names each restriction that
// frees a recipe once it is lifted, and fix says what to change. Every fix was tried. If no
// restriction is to blame, fix is empty.
func (ch *batchOptimizer) explainExhaustion(ctx context.Context) (why, fix string, err error) {
	all := ch.restrictions()
	var names, fixes []string
	done := " was tried or waits"
	if len(ch.c.withdrawnRecipes()) > 0 {
		done = " was tried, waits or was withdrawn"
	}
	note := func(b restriction, d *batchOptimizer) {
		names = append(names, b.name)
		fixes = append(fixes, b.fix(d.batch[len(d.batch)-1]))
	}
	for _, b := range all {
		if len(fixes) == mostFixes || len(fixes) > 0 && !b.liftsWithoutCount {
			break
		}
		d, ok, err := ch.tryOneMore(ctx, b)
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
	d, ok, err := ch.tryOneMore(ctx, all...)
	if err != nil {
		return "", "", err
	}
	if !ok {
		return "all that was found" + done + ", and no bound leaves out more", "", nil
	}
	needed := slices.Clone(all)
	for _, b := range all {
		less := slices.DeleteFunc(slices.Clone(needed), func(o restriction) bool { return o.name == b.name })
		one, ok, err := ch.tryOneMore(ctx, less...)
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
