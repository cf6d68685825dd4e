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
	campaign *Campaign
	settings Settings
	round    int              // number of the round that the batch belongs to
	distance *search.Distance // distance between the amounts of two recipes

	objectives      []*learntObjective // all properties that are learnt, with a model or without
	successModel    *forestEnsemble    // model of the probability that a trial does not fail; nil: no model
	fixedTarget     *mcmc.Target       // target distribution with only the objectives that are computed instead of learnt
	ruleTarget      *mcmc.Target       // target distribution with the rules and without objectives
	ingredientCosts []float64          // by ingredient: the cost of one trial made of this ingredient alone; nil: gains are not divided by cost

	excludedRecipes map[string]bool // keys of recipes that must not be offered
	pending         []*Entry        // recipes of earlier batches without a result
	allowedRecipes  []recipe        // the only recipes that may be chosen; nil: every recipe that the problem allows
	minAmounts      []int           // by ingredient: the least amount, in units, that a recipe with the ingredient may have
	unitsInStock    map[int]int     // by ingredient: the units left for the rest of the batch; an ingredient without an entry is unlimited
	usedIngredients []bool          // by ingredient: whether a tried or pending recipe has the ingredient

	droppedRuleIndices []int // indices of rules that explainExhaustion has lifted
	anyIngredientCount bool  // whether explainExhaustion has lifted the restriction on the number of ingredients
	ignoreStock        bool  // whether explainExhaustion has lifted the limits of the stock
	maxVisits          int   // maximum number of recipes that completeBatch visits; 0 means maxVisitsToComplete

	alikeLimits  []alikeLimit // limits on the number of different values of a condition in the batch
	chosenValues [][]int32    // by index in alikeLimits: the condition values that the batch may have; nil: any values

	limitsDropped bool // whether limits on predictions are ignored, because the search found no recipe within all limits

	batch []chosenRecipe // recipes chosen so far
}

// newBatchOptimizer learns the models and returns an optimizer with an empty batch.
func newBatchOptimizer(ctx context.Context, c *Campaign, s Settings) (*batchOptimizer, error) {
	ch := &batchOptimizer{campaign: c, settings: s, round: c.Round() + 1, excludedRecipes: make(map[string]bool), pending: c.pendingEntries(), fixedTarget: c.Problem.Target}
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
	if err := ch.learnSuccessModel(ctx); err != nil {
		return nil, err
	}
	known, err := c.Problem.KnownRecipes()
	if err != nil {
		return nil, err
	}
	ch.distance = search.NewDistance(len(c.Problem.Ingredients), known)
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
	ch.setAlikeLimits()
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

func (ch *batchOptimizer) markIngredientsUsed(parts []mcmc.Part) {
	for _, p := range parts {
		ch.usedIngredients[p.Ingredient] = true
	}
}

// resolveAllowedRecipes sets allowedRecipes from the settings. It converts named values of
// conditions to indices.
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

// learnSuccessModel learns a model of the probability that a trial succeeds. There is no model if
// all trials failed or no trial failed.
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
	data.Rows = modelRows(recipes)
	ch.campaign.Problem.AddConditions(data, rows)
	var err error
	ch.successModel, err = newForestEnsemble(ctx, data, model.AnyOf("made"), ch.settings.Seed)
	return err
}

// learntObjectives returns the objectives that have a weight and a model.
func (ch *batchOptimizer) learntObjectives() []*learntObjective {
	return slices.DeleteFunc(slices.Clone(ch.objectives), func(o *learntObjective) bool { return o.model == nil || o.weight == 0 })
}

// soleObjective returns the objective if the problem maximises or minimises only one learnt number.
// Recipes are then compared by the predicted values of the model. Otherwise soleObjective returns
// nil, and recipes are compared by the product of all desirabilities.
func (ch *batchOptimizer) soleObjective() *learntObjective {
	counts := slices.DeleteFunc(slices.Clone(ch.objectives), func(o *learntObjective) bool { return o.weight == 0 })
	if len(counts) != 1 || counts[0].model == nil || !counts[0].learningSettings.Numeric || counts[0].direction == config.Between {
		return nil
	}
	if slices.ContainsFunc(ch.fixedTarget.Objectives(), func(w mcmc.Objective) bool { return w.Weight > 0 }) {
		return nil
	}
	return counts[0]
}

// These names distinguish the streams of random numbers of a round.
const (
	drawStreamName    = "campaign draws"
	fillStreamName    = "campaign fill"
	studentStreamName = "campaign doubt"
)

// newRand returns a random number generator for a purpose and an index within the purpose. Equal
// arguments give the same random numbers.
func (ch *batchOptimizer) newRand(purpose string, index uint64) *mcmc.Rand {
	return mcmc.NewRand(ch.settings.Seed, fmt.Sprintf("%s of round %d", purpose, ch.round), index)
}

// These settings control how a batch is chosen. The file docs/campaign.md describes the experiments
// behind the settings.
const (
	drawCount                = 256    // number of joint draws of the utilities of all candidates
	studentDegreesOfFreedom  = 5      // degrees of freedom of the Student distribution from which improvement probabilities are computed
	poolCandidateCount       = 300    // number of candidates whose utilities are drawn jointly
	randomCandidateCount     = 60     // number of candidates that are random recipes of the problem
	maxAnchors               = 24     // maximum number of trials that are drawn jointly with the candidates; the trials with the best predictions are used
	weakModelR2              = 0.15   // a model with a smaller R² on held-out results counts as weak
	learnPickInterval        = 4      // with a weak model, one in learnPickInterval recipes is chosen to improve the model
	largestMinDistance       = 0.3    // least distance between recipes of a batch if the models predict nothing
	smallestMinDistance      = 0.02   // least distance between recipes of a batch if the models predict everything
	shrinkAfterTrials        = 20     // number of trials from which diversityRadius shrinks
	relativeGainTolerance    = 0.01   // gains that differ from the best gain by no more than this fraction count as equal
	minSuccessProbability    = 0.2    // recipes that succeed with a smaller probability are not offered
	minNoiseDegreesOfFreedom = 2      // the measurement noise counts as known if replicates give at least this many degrees of freedom
	maxSearchLines           = 12_000 // maximum number of lines that the search scores; see effort

	limitPenalty = 100 // reduction of a log score per unit of limit violation
)

// hasWeakModel reports whether at least one model has almost no predictive power.
func (ch *batchOptimizer) hasWeakModel() bool {
	return slices.ContainsFunc(ch.learntObjectives(), func(o *learntObjective) bool { return !(o.model.R2() >= weakModelR2) })
}
