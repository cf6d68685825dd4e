package campaign

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"math"
	"slices"

	"kir/internal/dataset"
	"kir/internal/inputerr"
	"kir/mcmc"
)

// stateHashVersion is the version of the method that chooses a batch. It must be raised when the
// same inputs begin to give another batch.
const stateHashVersion = 3

// stateHash returns the SHA-256, in hexadecimal, of all inputs that determine the next batch: the
// problem, its files including the results, the pending recipes and the settings.
func (c *Campaign) stateHash(s Settings) (string, error) {
	h := sha256.New()
	waits := []string{}
	for _, e := range c.pendingEntries() {
		waits = append(waits, e.ID+" "+e.key)
	}
	b, err := json.Marshal(struct {
		Format       int
		Version      string
		Inputs       any
		Pending      []string
		Size, MaxNew int
		Cost         string
		Seed         uint64
		Round        int
	}{stateHashVersion, s.Version, c.Problem.Inputs, waits, s.BatchSize, s.MaxNewIngredients, s.CostAttribute, s.Seed, c.Round() + 1})
	if err != nil {
		return "", err
	}
	h.Write(b)
	return hex.EncodeToString(h.Sum(nil)), nil
}

// UnchangedBatch returns the last batch if the problem, the results and the settings are still the
// same as when the batch was chosen. Otherwise it returns nil. A user who asks twice therefore gets
// the same batch twice.
func (c *Campaign) UnchangedBatch(s Settings) (*Batch, error) {
	if len(c.Batches) == 0 {
		return nil, nil
	}
	last := c.Batches[len(c.Batches)-1]
	before := *c
	before.setBatches(c.Batches[:len(c.Batches)-1])
	if before.Round()+1 != last.Round {
		return nil, nil
	}
	state, err := before.stateHash(s)
	if err != nil || state != last.StateHash {
		return nil, err
	}
	return last, nil
}

// Next chooses the next batch and stores the batch beside the problem file. The same problem,
// results and settings give the same batch.
func (c *Campaign) Next(ctx context.Context, s Settings) (*Batch, error) {
	b, err := c.Choose(ctx, s)
	if err != nil {
		return nil, err
	}
	if err := c.saveBatch(ctx, b); err != nil {
		return nil, err
	}
	c.setBatches(append(c.Batches, b))
	return b, nil
}

// MaxBatchSize is the maximum number of recipes in a batch.
const MaxBatchSize = 1000

// Choose chooses the next batch but does not store it.
func (c *Campaign) Choose(ctx context.Context, s Settings) (*Batch, error) {
	if s.BatchSize < 1 || s.BatchSize > MaxBatchSize {
		return nil, &inputerr.Error{Message: fmt.Sprintf("a batch of %d recipes", s.BatchSize), Hint: fmt.Sprintf("ask for 1 to %d", MaxBatchSize)}
	}
	if err := c.checkLabels(); err != nil {
		return nil, err
	}
	ch, err := newBatchOptimizer(ctx, c, s)
	if err != nil {
		return nil, err
	}
	state, err := c.stateHash(s)
	if err != nil {
		return nil, err
	}
	b := &Batch{
		Version: s.Version, Name: c.Problem.Name, Round: ch.round, Seed: s.Seed, RequestedSize: s.BatchSize, StateHash: state, Total: c.Problem.Total,
		Measure: c.usualMeasure(), Conditions: c.conditionList(), Labels: c.measuredLabels(), Models: []ModelSummary{}, Pending: []string{}, Notes: []string{}, Entries: []Entry{},
	}
	b.Models, b.Correction = ch.summarizeModels(), ch.correction()
	for _, e := range ch.pending {
		b.Pending = append(b.Pending, e.ID)
	}
	if b.Best, err = c.bestMeasuredRecipe(ch.objectives, ch, math.MaxInt); err != nil {
		return nil, err
	}
	frontier, err := ch.newTradeOffOptimizer()
	if err != nil {
		return nil, err
	}
	if frontier != nil {
		b.TradeOffObjectives = c.Problem.Trade
		if b.RemainingGain, err = frontier.fillBatch(ctx); err != nil {
			return nil, err
		}
	} else if len(ch.learntObjectives()) > 0 {
		var p *candidatePool
		if p, err = ch.preparePool(ctx); err != nil {
			return nil, err
		}
		b.RemainingGain = ch.remainingGain(p, b.Best)
		ch.chooseFromPool(p)
		ch.addReplicates(p)
	} else {
		b.RemainingGain = RemainingGain{Advice: GoOn, Text: ch.nothingLearntText()}
	}
	if err := ch.fillSpace(ctx); err != nil {
		return nil, err
	}
	if err := ch.completeBatch(ctx); err != nil {
		return nil, err
	}
	b.Notes = append(b.Notes, c.Problem.Extrapolations()...)
	b.Notes = append(b.Notes, ch.notesOnLimits()...)
	if missing := s.BatchSize - len(ch.batch); missing > 0 && ch.allowedRecipes == nil {
		why, fix, err := ch.explainExhaustion(ctx)
		if err != nil {
			return nil, err
		}
		if len(ch.batch) == 0 {
			return nil, &inputerr.Error{File: c.Problem.File, Message: "there is nothing left to offer: " + why, Hint: cmp.Or(fix, "record what waits, then kir campaign says which recipe is the best")}
		}
		note := fmt.Sprintf("%s of %d: %s.", inputerr.Count(len(ch.batch), "recipe"), s.BatchSize, why)
		if fix != "" {
			note += " For more, " + fix + "."
		}
		b.Notes = append(b.Notes, note)
	}
	var recipes []map[string]int
	for k := range ch.batch {
		b.Entries = append(b.Entries, ch.newEntry(b.Round, k))
		recipes = append(recipes, b.Entries[k].Recipe)
	}
	if b.Measure, err = b.Measure.withEnoughDecimals(b.Total, recipes...); err != nil {
		return nil, err
	}
	for k := range b.Entries {
		b.Entries[k].round, b.Entries[k].measure, b.Entries[k].conditions = b.Round, b.Measure, b.Conditions
	}
	return b, nil
}

// preparePool searches for candidates and returns a pool with joint draws of their utilities.
func (ch *batchOptimizer) preparePool(ctx context.Context) (*candidatePool, error) {
	anchors, values, err := ch.selectAnchorTrials()
	if err != nil {
		return nil, err
	}
	best := 0.0 // without anchors: utilities are 0 at least, and 0 is the median score
	if len(values) > 0 {
		best = values[0]
	}
	all, err := ch.searchCandidates(ctx, best, anchors)
	if err == nil && len(all) == 0 && ch.dropPredictionLimits() {
		all, err = ch.searchCandidates(ctx, best, anchors)
	}
	if err != nil {
		return nil, err
	}
	return ch.newCandidatePool(all, anchors, best)
}

// newEntry returns the entry of the stored batch for the chosen recipe at the given index.
func (ch *batchOptimizer) newEntry(round, index int) Entry {
	b := &ch.batch[index]
	e := Entry{ID: dataset.RecipeID(round, index+1), Recipe: ch.campaign.amountsByName(b.parts), Predicted: make(map[string]Prediction), recipe: b.recipe, key: b.recipe.key()}
	for _, o := range ch.objectives {
		if o.model == nil || o.learningSettings.Limit != nil {
			continue
		}
		name := o.label
		if _, taken := e.Predicted[name]; taken {
			if o.modelOwner != nil {
				continue
			}
			name = o.name // for a label with a second model
		}
		e.Predicted[name] = o.predict(b.recipe)
	}
	e.conditionSetting = ch.campaign.Problem.OfferedSetting(b.offeredValues)
	e.Conditions = e.conditionSetting.ValuesByName(ch.campaign.Problem.Conditions)
	e.Limits = ch.checkLimits(b.recipe)
	if b.hasImprovementStats {
		e.BeatsBestProbability, e.ExpectedImprovement = &b.beatsProbability, &b.expectedImprovement
	}
	e.Reason = ch.describeReason(b)
	return e
}

// amountsByName returns a map from the name of each ingredient of a recipe to the amount in units.
func (c *Campaign) amountsByName(parts []mcmc.Part) map[string]int {
	recipe := make(map[string]int, len(parts))
	for _, p := range parts {
		recipe[c.Problem.Ingredients[p.Ingredient]] = p.Amount
	}
	return recipe
}

// nothingLearntText returns a sentence that explains why there is no model yet.
func (ch *batchOptimizer) nothingLearntText() string {
	if len(ch.objectives) == 0 {
		return "No property learns a label, so batches only explore."
	}
	return fmt.Sprintf("Nothing is known yet: a model needs at least %d different results.", minMeasurements)
}

// bestMeasuredRecipe returns the best recipe of the rounds up to the given round that was measured
// in all objectives. It returns nil if there is none. Recipes that failed or break a rule do not
// count. If the user has fixed conditions and some trials were made at the fixed values, only these
// trials count.
func (c *Campaign) bestMeasuredRecipe(objectives []*learntObjective, ch *batchOptimizer, round int) (*Best, error) {
	type group struct {
		trial  int
		sum    []float64
		trials int
	}
	values, err := c.objectiveMeasurements(objectives)
	if err != nil || values == nil {
		return nil, err
	}
	counts := countingObjectives(objectives)
	onlyGiven := slices.ContainsFunc(c.trials, func(t trial) bool { return c.isAtGivenConditions(&t) })
	groups := make(map[string]*group)
	var order []*group
	for k, t := range c.trials {
		if t.failed || len(t.brokenRules) > 0 || t.round > round || onlyGiven && !c.isAtGivenConditions(&c.trials[k]) {
			continue
		}
		if slices.ContainsFunc(values[k], math.IsNaN) {
			continue
		}
		g := groups[t.key]
		if g == nil {
			g = &group{trial: k, sum: make([]float64, len(counts))}
			groups[t.key] = g
			order = append(order, g)
		}
		g.trials++
		for i, v := range values[k] {
			g.sum[i] += v
		}
	}
	var best *Best
	most := math.Inf(-1)
	for _, g := range order {
		t := &c.trials[g.trial]
		means := make([]float64, len(counts))
		measured := make(map[string]float64)
		for i, o := range counts {
			means[i] = g.sum[i] / float64(g.trials)
			if l := o.learningSettings.Limit; l == nil || o.learningSettings.Numeric || math.IsInf(l.Most, 1) {
				measured[o.label] = means[i]
			}
		}
		y, err := ch.measuredUtility(t.recipe, counts, means)
		if err != nil {
			return nil, err
		}
		if y > most {
			most = y
			best = &Best{ID: t.id, Recipe: c.amountsByName(t.parts), Conditions: t.conditionSetting.ValuesByName(c.Problem.Conditions), Measured: measured, Trials: g.trials, key: t.key}
		}
	}
	return best, nil
}
