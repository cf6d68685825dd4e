package campaign

import (
	"cmp"
	"context"
	"errors"
	"math"
	"slices"

	"kir/internal/browsersched"
	"kir/internal/search"
	"kir/mcmc"
)

// A candidate is a recipe that a batch may choose, with its log score.
type candidate struct {
	recipe
	score float64
}

// compareCandidates orders candidates, the best first. Different recipes never compare equal.
// So the order in which the search visits recipes does not affect which are kept.
func compareCandidates(a, b candidate) int {
	return cmp.Or(cmp.Compare(b.score, a.score), compareRecipes(a.recipe, b.recipe))
}

// isFeasible reports whether a recipe satisfies the rules and has an allowed number of
// ingredients.
func (ch *batchOptimizer) isFeasible(r recipe) bool {
	if math.IsInf(ch.ruleTarget.LogLaw(len(r.parts)), -1) {
		return false
	}
	x, err := ch.c.composition(r)
	if err != nil {
		return false
	}
	score, err := ch.ruleTarget.LogScore(x)
	return err == nil && !math.IsInf(score, -1)
}

// isOfferable reports whether a recipe may be offered: it is not excluded, has the least
// amounts and satisfies the limits on predictions. It does not check rules.
func (ch *batchOptimizer) isOfferable(x recipe) bool {
	for _, p := range x.parts {
		if p.Amount < ch.minAmounts[p.Ingredient] {
			return false
		}
	}
	return !ch.excludedRecipes[x.key()] && (ch.limitsDropped || ch.limitViolation(x) == 0)
}

// anchors returns the trials that may be the best, with their predicted utilities, the best
// first. Trials that failed or break a rule are left out.
func (ch *batchOptimizer) anchors() (best []int, values []float64, err error) {
	value := make([]float64, len(ch.c.trials))
	seen := make(map[string]bool)
	for k, t := range ch.c.trials {
		if t.failed || len(t.broken) > 0 || seen[t.key] || ch.allowed == nil && math.IsInf(ch.ruleTarget.LogLaw(len(t.parts)), -1) {
			continue
		}
		seen[t.key] = true
		if value[k], err = ch.predictedUtility(ch.c.atGivenConditions(t.recipe)); err != nil {
			return nil, nil, err
		}
		best = append(best, k)
	}
	slices.SortStableFunc(best, func(a, b int) int { return cmp.Compare(value[b], value[a]) })
	best = best[:min(len(best), anchorCount)]
	return best, valuesAt(value, best), nil
}

// candidates returns recipes that may be chosen, the best first. b is the best predicted
// utility of a trial.
func (ch *batchOptimizer) candidates(ctx context.Context, b float64, anchors []int) ([]candidate, error) {
	a := ch.buildAcquisition(b)
	if ch.allowed != nil {
		var all []candidate
		for k, x := range ch.allowed {
			if k&255 == 0 {
				if err := browsersched.Err(ctx); err != nil {
					return nil, err
				}
			}
			if ch.isOfferable(x) {
				all = append(all, candidate{x, a.score(x)})
			}
		}
		slices.SortFunc(all, compareCandidates)
		return all[:min(len(all), poolSize)], nil
	}
	target, err := ch.fixedTarget.WithObjectives(append(slices.Clone(ch.fixedTarget.Objectives()), mcmc.Objective{Name: "improvement", Property: a, Weight: 1})...)
	if err != nil {
		return nil, err
	}
	o := search.Options{
		Evaluations: ch.effort(), Seed: ch.s.Seed + uint64(ch.round), Workers: ch.s.Workers,
		Least: ch.minAmounts, Diverse: ch.s.Size, Distance: ch.distance, MinDistance: 0.2,
	}
	for _, k := range anchors {
		x, err := ch.c.composition(ch.c.trials[k].recipe)
		if err != nil {
			return nil, err
		}
		o.Starts = append(o.Starts, x)
	}
	if _, err := search.Best(ctx, target, o); err != nil && !errors.Is(err, mcmc.ErrNoStart) {
		return nil, ch.c.Problem.Explain(err)
	}
	random, err := ch.randomRecipes(ctx, randomPool, ch.rand(fillStream, 1))
	if err != nil {
		return nil, err
	}
	all := a.sorted()
	var variants []candidate
	if len(ch.alike) > 0 {
		best := make([]recipe, len(all))
		for k := range all {
			best[k] = all[k].recipe
		}
		variants = ch.atEachValue(best, a.score, poolSize/3)
	}
	all = all[:min(len(all), poolSize-len(random)-len(variants))]
	all = append(all, variants...)
	for _, x := range random {
		all = append(all, candidate{x, a.score(x)})
	}
	slices.SortFunc(all, compareCandidates)
	return slices.CompactFunc(all, func(x, y candidate) bool { return compareRecipes(x.recipe, y.recipe) == 0 }), nil
}

// effort returns how many lines the search scores: fewer if a prediction takes longer.
func (ch *batchOptimizer) effort() int {
	rows := 1
	for _, o := range ch.learntObjectives() {
		rows = max(rows, min(o.rows, mostRows))
	}
	lines := min(float64(maxSearchLines), 5e8/float64(rows*rows))
	return max(int(lines*min(max(ch.c.Problem.Search.Effort, 0.1), 100)), 1000)
}

// randomRecipes returns distinct offerable recipes drawn exactly from the law of the problem.
// It returns fewer than count if hardly any exist.
func (ch *batchOptimizer) randomRecipes(ctx context.Context, count int, r *mcmc.Rand) ([]recipe, error) {
	prior := mcmc.NewPrior(ch.ruleTarget)
	seen := make(map[string]bool)
	var all []recipe
	for try := 0; try < 20*count && len(all) < count; try++ {
		if err := browsersched.Err(ctx); err != nil {
			return nil, err
		}
		x, err := prior.Draw(r)
		if errors.Is(err, mcmc.ErrNoStart) {
			break
		}
		if err != nil {
			return nil, err
		}
		y := ch.c.recipeOf(x)
		if key := y.key(); !seen[key] {
			seen[key] = true
			if ch.isOfferable(y) {
				all = append(all, y)
			}
		}
	}
	return all, nil
}
