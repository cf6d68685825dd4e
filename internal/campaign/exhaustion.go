package campaign

import (
	"context"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"

	"kir/internal/fault"
	"kir/internal/number"
	"kir/internal/yield"
)

// A restriction is something beside what was tried that leaves recipes out of a batch.
type restriction struct {
	name  string                          // what binds
	quick bool                            // it takes no counting to lift it
	fix   func(freed chosenRecipe) string // what to write instead, so that a recipe is left
	relax func(d *batchOptimizer)         // lifts it of a chooser
}

// How many changes are offered, how many rules are tried without, and how many recipes are
// looked at to try one.
const mostFixes, mostRelaxed, triedReach = 4, 20, 20_000

// clone returns a chooser that goes on from where this is and changes nothing of it.
func (ch *batchOptimizer) clone() *batchOptimizer {
	d := *ch
	d.excludedRecipes, d.stock, d.batch = maps.Clone(ch.excludedRecipes), maps.Clone(ch.stock), slices.Clone(ch.batch)
	return &d
}

// tryOneMore looks for one more recipe for the batch once some bounds are lifted, and returns the
// chooser without them.
func (ch *batchOptimizer) tryOneMore(ctx context.Context, lifted ...restriction) (*batchOptimizer, bool, error) {
	d := ch.clone()
	for _, b := range lifted {
		b.relax(d)
	}
	d.stock = d.remainingStock()
	if len(d.droppedRules) > 0 || d.anySize {
		var err error
		if d.ruleTarget, err = d.c.Problem.RelaxedTarget(ctx, func(k int) bool { return !slices.Contains(d.droppedRules, k) }, d.anySize); err != nil {
			return nil, false, yield.Err(ctx) // what cannot be counted without it frees nothing
		}
	}
	d.s.Size, d.reach = len(d.batch)+1, triedReach
	err := d.completeBatch(ctx)
	return d, len(d.batch) > len(ch.batch), err
}

// restrictions are the bounds that may leave nothing more for the batch.
func (ch *batchOptimizer) restrictions() []restriction {
	var all []restriction
	p := ch.c.Problem
	if ch.s.MaxNew >= 0 {
		all = append(all, restriction{
			name:  fmt.Sprintf("max_new: %d", ch.s.MaxNew),
			quick: true,
			fix: func(freed chosenRecipe) string {
				return fmt.Sprintf("write max_new: %d under campaign", ch.countNewIngredients(freed.parts))
			},
			relax: func(d *batchOptimizer) { d.s.MaxNew = -1 },
		})
	}
	if slices.ContainsFunc(ch.minAmounts, func(least int) bool { return least > 1 }) {
		all = append(all, restriction{
			name:  "the least amounts that recipes have of the ingredients",
			quick: true,
			fix:   func(chosenRecipe) string { return "write search: {doses: any}" },
			relax: func(d *batchOptimizer) { d.minAmounts = make([]int, len(d.minAmounts)) },
		})
	}
	if len(ch.stock) > 0 {
		all = append(all, restriction{
			name:  "the stock that is left",
			quick: true,
			fix: func(freed chosenRecipe) string {
				var of, more []string
				for _, part := range freed.parts {
					if left, ok := ch.stock[part.Ingredient]; ok && part.Amount > left {
						of = append(of, fault.Quote(p.Ingredients[part.Ingredient]))
						more = append(more, strings.TrimSpace(number.Share(part.Amount-left, p.Total)))
					}
				}
				return fmt.Sprintf("raise the stock of %s by %s of a recipe", joinAnd(of), joinAnd(more))
			},
			relax: func(d *batchOptimizer) { d.unlimitedStock = true },
		})
	}
	for k := range p.Rules[:min(len(p.Rules), mostRelaxed)] {
		name := p.RuleName(k)
		all = append(all, restriction{
			name: name,
			fix:  func(chosenRecipe) string { return "drop " + name },
			relax: func(d *batchOptimizer) {
				d.droppedRules = append(slices.Clone(d.droppedRules), k)
				d.objectives = slices.DeleteFunc(slices.Clone(d.objectives), func(o *objective) bool {
					return o.learning.Limit != nil && o.name == p.Rules[k].Text
				})
			},
		})
	}
	for n := 1; n <= min(len(p.Ingredients), p.Total); n++ {
		if math.IsInf(p.Target.LogLaw(n), -1) {
			return append(all, restriction{
				name: p.SparsityName(),
				fix: func(freed chosenRecipe) string {
					return "allow " + fault.Count(len(freed.parts), "ingredient") + " in " + p.SparsityName()
				},
				relax: func(d *batchOptimizer) { d.anySize = true },
			})
		}
	}
	return all
}

// explainExhaustion says why there is nothing more to offer: which bounds leave nothing that was not
// tried and does not wait, each of which leaves something once it is lifted, and what to write
// instead. Each change was tried. Where no bound is to blame there is no fix.
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
		if len(fixes) == mostFixes || len(fixes) > 0 && !b.quick {
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
		return "all that keeps " + joinAnd(names) + done, joinOr(fixes), nil
	}
	// Several bind at once: of all, those without which nothing is left.
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
	return "all that keeps any of " + joinAnd(names) + done, joinAnd(fixes), nil
}

// joinAnd joins texts as "a, b and c".
func joinAnd(texts []string) string { return joinTexts(texts, " and ") }

// joinOr joins texts as "a, b or c".
func joinOr(texts []string) string { return joinTexts(texts, " or ") }

func joinTexts(texts []string, last string) string {
	if n := len(texts); n > 1 {
		return strings.Join(texts[:n-1], ", ") + last + texts[n-1]
	}
	return strings.Join(texts, "")
}
