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
	campaign       *Campaign
	settings       Settings         // settings that say how to choose the batch
	round          int              // number of the round that the batch belongs to
	amountDistance *search.Distance // computes the distance between two recipes from their amounts

	objectives               []*learntObjective // all properties that are learnt, even those that have no model yet
	oddsFactor               float64            // factor of the odds of a new best, from the outcome of earlier batches; see setOddsFactor
	successModel             *forestEnsemble    // model of the probability that a trial does not fail; nil if there is no such model
	computedObjectivesTarget *mcmc.Target       // target distribution with only the objectives that are computed and not learnt
	ruleTarget               *mcmc.Target       // target distribution with the rules but without any objective
	ingredientCosts          []float64          // item i is the cost of a trial that consists of ingredient i alone; nil if the problem has no costs

	excludedRecipes map[string]bool // set of keys of recipes that must not be offered; see [recipe.key]
	pending         []*Entry        // recipes of earlier batches without a result
	allowedRecipes  []recipe        // the only recipes that may be chosen; nil if any recipe that the problem allows may be chosen
	minAmounts      []int           // item i is the least amount, in units, that a recipe with ingredient i may have of the ingredient
	unitsInStock    map[int]int     // maps the index of an ingredient to the units that are left for the rest of the batch; an ingredient that is not in the map is unlimited
	usedIngredients []bool          // item i says whether a tried or pending recipe contains ingredient i

	droppedRuleIndices    []int // indices of the rules that explainExhaustion ignores for a test
	ignoreIngredientCount bool  // whether explainExhaustion ignores the restriction on the number of ingredients for a test
	ignoreStock           bool  // whether explainExhaustion ignores the limits of the stock for a test
	maxVisits             int   // maximum number of recipes that completeBatch visits; 0 stands for maxVisitsToComplete

	conditionValueLimits  []conditionValueLimit // limits on the number of different values that a condition may have in the batch
	chosenConditionValues [][]int32             // item k lists the indices of the values that the batch may have of the condition of conditionValueLimits[k]; nil if any values are possible

	predictionLimitsDropped bool // whether the limits on predictions are ignored because no recipe was found that satisfies all of them

	batch []chosenRecipe // recipes chosen for the batch up to now
}

// newBatchOptimizer learns the models and returns an optimizer with an empty batch.
func newBatchOptimizer(ctx context.Context, c *Campaign, s Settings) (*batchOptimizer, error) {
	ch := &batchOptimizer{campaign: c, settings: s, round: c.Round() + 1, excludedRecipes: make(map[string]bool), pending: c.pendingEntries(), computedObjectivesTarget: c.Problem.Target}
	var err error
	if ch.ruleTarget, err = c.Problem.Target.WithObjectives(); err != nil {
		return nil, err
	}
	for k := range c.Problem.Properties {
		w := &c.Problem.Properties[k]
		if w.Learning == nil {
			continue
		}
		o, err := c.learnObjective(ctx, w, ch.objectives, s.Seed)
		if err != nil {
			return nil, err
		}
		ch.objectives = append(ch.objectives, o)
	}
	if err := ch.setIntervalWidening(); err != nil {
		return nil, err
	}
	if err := ch.setOddsFactor(); err != nil {
		return nil, err
	}
	if err := ch.learnSuccessModel(ctx); err != nil {
		return nil, err
	}
	known, err := c.Problem.KnownRecipes()
	if err != nil {
		return nil, err
	}
	ch.amountDistance = search.NewDistance(len(c.Problem.Ingredients), known)
	ch.usedIngredients = make([]bool, len(c.Problem.Ingredients))
	for _, t := range c.trials {
		ch.excludedRecipes[t.key] = true
		ch.markIngredientsUsed(t.parts)
	}
	for _, e := range ch.pending {
		ch.excludedRecipes[e.key] = true
		ch.markIngredientsUsed(e.parts)
	}
	for key := range c.withdrawnKeys() {
		ch.excludedRecipes[key] = true
	}
	ch.setAmountBounds()
	ch.setConditionValueLimits()
	if err := ch.resolveAllowedRecipes(); err != nil {
		return nil, err
	}
	if s.CostAttribute != "" {
		if ch.ingredientCosts, err = c.ingredientCosts(s.CostAttribute); err != nil {
			return nil, err
		}
	}
	return ch, nil
}

// markIngredientsUsed records in usedIngredients that a tried or pending recipe has the given
// ingredients.
func (ch *batchOptimizer) markIngredientsUsed(parts []mcmc.Part) {
	for _, p := range parts {
		ch.usedIngredients[p.Ingredient] = true
	}
}

// resolveAllowedRecipes sets allowedRecipes from the settings, which name values of conditions. The
// stored recipes have indices of values.
func (ch *batchOptimizer) resolveAllowedRecipes() error {
	if ch.settings.AllowedRecipes == nil {
		return nil
	}
	ch.allowedRecipes = []recipe{}
	for _, of := range ch.settings.AllowedRecipes {
		setting, err := ch.campaign.Problem.NamedSetting(of.Conditions)
		if err != nil {
			return err
		}
		ch.allowedRecipes = append(ch.allowedRecipes, recipe{of.Parts, setting.OfferedIndices, setting.Codes})
	}
	return nil
}

// learnSuccessModel learns a model of the probability that a trial succeeds. It learns no model if
// all trials failed or none failed.
func (ch *batchOptimizer) learnSuccessModel(ctx context.Context) error {
	failed := 0
	data := &model.Data{Label: "status", Ingredients: ch.campaign.Problem.Ingredients, Total: ch.campaign.Problem.Total}
	var recipes []recipe
	var rows []int
	for k, t := range ch.campaign.trials {
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
	data.Rows = amountRows(recipes)
	ch.campaign.Problem.AddConditions(data, rows)
	var err error
	ch.successModel, err = newForestEnsemble(ctx, data, model.AnyOf("made"), ch.settings.Seed)
	return err
}

// learntObjectives returns the objectives that have a weight and a model.
func (ch *batchOptimizer) learntObjectives() []*learntObjective {
	return slices.DeleteFunc(slices.Clone(ch.objectives), func(o *learntObjective) bool { return o.model == nil || o.weight == 0 })
}

// soleObjective returns the only objective of a problem that maximises or minimises one learnt
// number. Recipes are then compared by the predicted values of the model. For any other problem
// soleObjective returns nil, and recipes are compared by the product of all desirabilities.
func (ch *batchOptimizer) soleObjective() *learntObjective {
	if o := ch.soleMeasuredObjective(); o != nil && o.model != nil {
		return o
	}
	return nil
}

// soleMeasuredObjective is like [batchOptimizer.soleObjective], but the objective need not have a
// model.
func (ch *batchOptimizer) soleMeasuredObjective() *learntObjective {
	counts := countingObjectives(ch.objectives)
	if len(counts) != 1 || !counts[0].learningSettings.Numeric || counts[0].direction == config.Between {
		return nil
	}
	if slices.ContainsFunc(ch.computedObjectivesTarget.Objectives(), func(w mcmc.Objective) bool { return w.Weight > 0 }) {
		return nil
	}
	return counts[0]
}

// These are the names of the independent streams of random numbers that are used in a round.
const (
	drawStreamName    = "campaign draws"
	fillStreamName    = "campaign fill"
	studentStreamName = "campaign doubt"
)

// newRand returns a random number generator that depends only on the settings, the round, the name
// purpose and the index. Generators with different names or indices are independent.
func (ch *batchOptimizer) newRand(purpose string, index uint64) *mcmc.Rand {
	return mcmc.NewRand(ch.settings.Seed, fmt.Sprintf("%s of round %d", purpose, ch.round), index)
}

// These settings control how a batch is chosen. The file docs/campaign.md describes the method, and
// bench/RESULTS.md the experiments behind the settings.
const (
	drawCount                = 256    // number of joint draws of the utilities; each draw has one utility for every candidate
	studentDegreesOfFreedom  = 5      // degrees of freedom of the Student distribution that gives the probabilities of an improvement
	poolCandidateCount       = 300    // number of candidates of the pool, whose utilities are drawn jointly
	randomCandidateCount     = 60     // number of candidates that are random recipes and not found by the search
	maxAnchorTrials          = 24     // maximum number of anchor trials, that is, of trials with the best predictions whose utilities are drawn jointly with those of the candidates
	weakModelR2              = 0.15   // a model with a smaller R² on held-out results counts as weak
	learnPickInterval        = 4      // if a model is weak, one in this many recipes is chosen to improve the models
	largestMinDistance       = 0.3    // value of minDistance if the models predict nothing
	smallestMinDistance      = 0.02   // value of minDistance if the models predict perfectly
	fullRadiusTrials         = 20     // number of trials up to which diversityRadius has its full size; more trials make it smaller
	relativeGainTolerance    = 0.01   // two gains count as equal if their relative difference is at most this fraction
	minSuccessProbability    = 0.2    // a recipe is not offered if the probability that its trial succeeds is smaller
	minNoiseDegreesOfFreedom = 2      // the measurement noise counts as known if replicates give at least this many degrees of freedom
	maxSearchLines           = 12_000 // upper limit for searchLineCount at the effort 1

	limitPenalty = 100 // decrease of a recipe's log score per unit of limitViolation
)

// hasWeakModel reports whether at least one model has almost no predictive power.
func (ch *batchOptimizer) hasWeakModel() bool {
	return slices.ContainsFunc(ch.learntObjectives(), func(o *learntObjective) bool { return !(o.model.R2() >= weakModelR2) })
}
