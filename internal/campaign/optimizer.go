package campaign

import (
	"context"
	"fmt"
	"slices"

	"kir/internal/config"
	"kir/internal/search"
	"kir/mcmc"
	"kir/model"
)

// A batchOptimizer chooses the recipes of a batch.
type batchOptimizer struct {
	c        *Campaign
	s        Settings
	round    int
	distance *search.Distance

	objectives  []*learntObjective // all learnt properties, with a model or without
	success     *forestEnsemble    // the probability that a trial does not fail; nil: no model
	fixedTarget *mcmc.Target       // has the objectives that are not learnt
	ruleTarget  *mcmc.Target       // has no objectives
	cost        []float64          // by ingredient; nil: improvement is not divided by cost

	excludedRecipes map[string]bool // keys of recipes that must not be offered
	pending         []*Entry
	allowed         []recipe // the only recipes that may be chosen; nil: all that the problem allows
	minAmounts      []int    // by ingredient: the least amount to offer
	stock           map[int]int
	used            []bool // by ingredient: whether a tried or pending recipe has it

	droppedRules   []int // indices of rules that explainExhaustion lifted
	anySize        bool  // explainExhaustion lifted the law of the number of ingredients
	unlimitedStock bool  // explainExhaustion lifted the limits of the stock
	visitLimit     int   // number of recipes that completeBatch visits; 0: mostReached

	alike        []alikeLimit
	chosenValues [][]int32 // by limit of alike: the values that the batch may have; nil: any

	limitsDropped bool // limits on predictions are not enforced, because no recipe was found within them

	batch []chosenRecipe
}

// newBatchOptimizer learns the models and prepares the choice of a batch.
func newBatchOptimizer(ctx context.Context, c *Campaign, s Settings) (*batchOptimizer, error) {
	ch := &batchOptimizer{c: c, s: s, round: c.Round() + 1, excludedRecipes: make(map[string]bool), pending: c.pending(), fixedTarget: c.Problem.Target}
	var err error
	if ch.ruleTarget, err = c.Problem.Target.WithObjectives(); err != nil {
		return nil, err
	}
	for k := range c.Problem.Properties {
		w := &c.Problem.Properties[k]
		if w.Learning == nil {
			continue
		}
		o, err := c.learn(ctx, w, ch.objectives, s.Seed)
		if err != nil {
			return nil, err
		}
		ch.objectives = append(ch.objectives, o)
	}
	if err := ch.learnFailures(ctx); err != nil {
		return nil, err
	}
	known, err := c.Problem.KnownRecipes()
	if err != nil {
		return nil, err
	}
	ch.distance = search.NewDistance(len(c.Problem.Ingredients), known)
	ch.used = make([]bool, len(c.Problem.Ingredients))
	for _, t := range c.trials {
		ch.excludedRecipes[t.key] = true
		ch.markUsed(t.parts)
	}
	for _, e := range ch.pending {
		ch.excludedRecipes[e.key] = true
		ch.markUsed(e.parts)
	}
	for key := range c.withdrawnRecipes() {
		ch.excludedRecipes[key] = true
	}
	ch.setAmountBounds()
	ch.setAlike()
	if err := ch.takeAllowed(); err != nil {
		return nil, err
	}
	if s.Cost != "" {
		if ch.cost, err = c.costs(s.Cost); err != nil {
			return nil, err
		}
	}
	return ch, nil
}

func (ch *batchOptimizer) markUsed(parts []mcmc.Part) {
	for _, p := range parts {
		ch.used[p.Ingredient] = true
	}
}

// takeAllowed takes over the only recipes that may be chosen.
func (ch *batchOptimizer) takeAllowed() error {
	if ch.s.AllowedRecipes == nil {
		return nil
	}
	ch.allowed = []recipe{}
	for _, of := range ch.s.AllowedRecipes {
		setting, err := ch.c.Problem.NamedSetting(of.Conditions)
		if err != nil {
			return err
		}
		ch.allowed = append(ch.allowed, recipe{of.Parts, setting.Offered, setting.Codes})
	}
	return nil
}

// learnFailures learns which trials fail. There is no model if all trials failed or none did.
func (ch *batchOptimizer) learnFailures(ctx context.Context) error {
	failed := 0
	data := &model.Data{Label: "status", Ingredients: ch.c.Problem.Ingredients, Total: ch.c.Problem.Total}
	var recipes []recipe
	var rows []int
	for k, t := range ch.c.trials {
		class := "made"
		if t.failed {
			class = "failed"
			failed++
		}
		recipes, rows, data.Classes = append(recipes, t.recipe), append(rows, k), append(data.Classes, class)
	}
	if failed == 0 || failed == len(recipes) {
		return nil
	}
	data.Rows = rowsOf(recipes)
	ch.c.Problem.AddConditions(data, rows)
	var err error
	ch.success, err = newForestEnsemble(ctx, data, model.AnyOf("made"), ch.s.Seed)
	return err
}

// learntObjectives returns the objectives that have a weight and a model.
func (ch *batchOptimizer) learntObjectives() []*learntObjective {
	return slices.DeleteFunc(slices.Clone(ch.objectives), func(o *learntObjective) bool { return o.model == nil || o.weight == 0 })
}

// soleObjective returns the objective if the problem only maximises or minimises one learnt
// number. Recipes are then compared by the values of its model. Otherwise it returns nil, and
// recipes are compared by the product of their desirabilities.
func (ch *batchOptimizer) soleObjective() *learntObjective {
	counts := slices.DeleteFunc(slices.Clone(ch.objectives), func(o *learntObjective) bool { return o.weight == 0 })
	if len(counts) != 1 || counts[0].model == nil || !counts[0].learning.Numeric || counts[0].direction == config.Between {
		return nil
	}
	if slices.ContainsFunc(ch.fixedTarget.Objectives(), func(w mcmc.Objective) bool { return w.Weight > 0 }) {
		return nil
	}
	return counts[0]
}

// Names of the streams of random numbers.
const (
	drawStream  = "campaign draws"
	fillStream  = "campaign fill"
	doubtStream = "campaign doubt"
)

func (ch *batchOptimizer) rand(purpose string, index uint64) *mcmc.Rand {
	return mcmc.NewRand(ch.s.Seed, fmt.Sprintf("%s of round %d", purpose, ch.round), index)
}

// Settings of the choice of a batch. docs/campaign.md describes what was tried.
const (
	drawCount         = 256 // joint draws
	doubtDegrees      = 5   // degrees of freedom of Student's law, by which improvement probabilities are computed
	poolSize          = 300 // candidates drawn jointly
	randomPool        = 60  // number of candidates that are random recipes of the problem
	anchorCount       = 24  // trials drawn jointly with the candidates, those with the best predictions
	weakR2            = 0.15
	learnShare        = 4    // with a weak model, one recipe in learnShare is chosen to learn from
	weakModelDistance = 0.3  // distance between recipes of a batch if the models predict nothing
	leastDistance     = 0.02 // and if they predict everything
	shrinkAfterTrials = 20   // from this number of trials on, diversityRadius shrinks
	gainTolerance     = 0.01 // gains within this share of the best count as equal
	leastSuccess      = 0.2  // candidates are not offered below this probability of not failing
	minNoiseFreedom   = 2    // degrees of freedom of replicates from which the noise counts as known
	maxSearchLines    = 12_000

	limitPenalty = 100 // reduction of a log score per unit of limit violation, so that the search returns within the limits
)

// hasWeakModel reports whether a model predicts hardly anything.
func (ch *batchOptimizer) hasWeakModel() bool {
	return slices.ContainsFunc(ch.learntObjectives(), func(o *learntObjective) bool { return !(o.model.R2() >= weakR2) })
}
