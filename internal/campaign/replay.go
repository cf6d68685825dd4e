package campaign

import (
	"context"
	"fmt"
	"math"
	"slices"
	"sync"

	"golang.org/x/sync/errgroup"

	"kir/internal/compile"
	"kir/internal/inputerr"
	"kir/internal/number"
	"kir/mcmc"
)

// ReplaySettings say how campaigns are replayed on measured recipes. A count of 0 stands for the default.
type ReplaySettings struct {
	Start     int    // number of recipes that a campaign begins with, see [Replay]; default: a fifth of the recipes, from 5 to 20
	BatchSize int    // number of recipes in a batch; default: 4
	Trials    int    // number of recipes that a campaign makes, with the start; default: half of the recipes, at most 60 after the start
	Repeats   int    // number of campaigns, each with its own start; default: 10
	Seed      uint64 // seed of all random choices
	Workers   int    // number of campaigns at the same time; it does not change the result; default: 1
	Version   string // version of the program

	Progress func(done, all int) // told how many of the campaigns have ended, by one goroutine at a time; may be nil
}

// Bounds and defaults of [ReplaySettings].
const (
	MinReplayRecipes  = 15   // least number of measured recipes
	MaxReplays        = 1000 // greatest number of campaigns
	replayBatchSize   = 4
	replayRepeats     = 10
	minReplayStart    = 5
	maxReplayStart    = 20
	maxReplayedTrials = 60 // greatest default number of trials after the start
)

// Replayed says how soon [Campaign.Choose] would have found the best of the recipes that were
// measured, beside choosing at random.
type Replayed struct {
	Version   string             `json:"version"`            // version of the program
	Name      string             `json:"name"`               // name of the problem
	Label     string             `json:"label"`              // label of the only objective; empty: values are scores
	Minimize  bool               `json:"minimize"`           // whether small values are better
	Recipes   int                `json:"recipes"`            // number of different measured recipes
	Failed    int                `json:"failed"`             // number of these whose trials all failed; they count as the worst
	LeftOut   ReplayLeftOut      `json:"left_out"`           // trials that are not replayed
	Best      ReplayBest         `json:"best"`               // best measured recipe
	BestCount int                `json:"best_count"`         // number of recipes with the value of the best
	Start     int                `json:"start"`              // number of recipes that each campaign began with
	BatchSize int                `json:"batch"`              // number of recipes in a batch
	Trials    int                `json:"trials"`             // number of recipes that each campaign made, with the start
	Seed      uint64             `json:"seed"`               // seed of the first campaign
	Replays   []ReplayedCampaign `json:"replays"`            // the campaigns
	Rounds    []ReplayRound      `json:"rounds"`             // where the campaigns stood after the start and each batch
	ToBest    TrialsToBest       `json:"trials_to_best"`     // trials until a campaign had a best recipe
	Coverage  []Coverage         `json:"coverage"`           // one element per label: how often the prediction intervals were right
	NoTrade   []string           `json:"no_trade,omitempty"` // objectives of the problem's trade-off, which was replayed as one score
}

// A ReplayLeftOut counts trials that are not replayed.
type ReplayLeftOut struct {
	Unmeasured   int `json:"unmeasured"`    // trials without a result for some objective
	RuleBreaking int `json:"broken"`        // trials that break a rule, which kir does not offer
	NoConditions int `json:"no_conditions"` // trials at unknown or unlisted conditions
}

// A ReplayBest is the best measured recipe of a replay.
type ReplayBest struct {
	ID         string             `json:"id"`                   // name of the recipe
	Value      float64            `json:"value"`                // value of the label, or score
	Measured   map[string]float64 `json:"measured"`             // maps the name of a numeric label to the mean of the measurements
	Conditions map[string]any     `json:"conditions,omitempty"` // maps the name of a condition to its value
}

// A ReplayedCampaign is one campaign that was replayed.
type ReplayedCampaign struct {
	Seed    uint64    `json:"seed"`           // seed of the choices of batches
	Order   []string  `json:"order"`          // names of the recipes, in the order in which they were made
	Best    []float64 `json:"best"`           // best value after each round
	FoundAt *int      `json:"trials_to_best"` // trials after which the campaign had a best recipe; nil: it had none

	tried []int // indices of the recipes, in the order in which they were made
}

// A ReplayRound says where the campaigns stood after some trials. Chance is the exact distribution of the best
// value if the recipes after each start are drawn at random.
type ReplayRound struct {
	Trials       int           `json:"trials"`        // number of trials, with the start
	Best         ValueRange    `json:"best"`          // best value: the least, the median and the greatest of the campaigns
	Chance       ValueRange    `json:"chance"`        // best value by chance: the 5 % quantile, the median and the 95 % quantile
	Closed       float64       `json:"closed"`        // mean share of the gap between the best of the start and the best of all that was closed; 1 if there is no gap
	ClosedSE     number.Number `json:"closed_se"`     // its standard error over the starts
	ChanceClosed float64       `json:"chance_closed"` // expected share by chance
	Found        float64       `json:"found"`         // share of the campaigns with a best recipe
	ChanceFound  float64       `json:"chance_found"`  // probability by chance
	Hits         float64       `json:"hits"`          // mean number of best recipes that were made
	HitsSE       number.Number `json:"hits_se"`       // its standard error over the starts
	ChanceHits   float64       `json:"chance_hits"`   // expected number by chance
}

// A ValueRange is a range of values. Worst and Best are its ends, whichever is greater.
type ValueRange struct {
	Worst  float64 `json:"worst"`
	Median float64 `json:"median"`
	Best   float64 `json:"best"`
}

// TrialsToBest are numbers of trials until a campaign had a best recipe, counted at the end of each batch. A
// number is nil if the trials of the replay do not reach it.
type TrialsToBest struct {
	Least        *int `json:"least"`
	Median       *int `json:"median"` // trials after which at least half of the campaigns had one
	Most         *int `json:"most"`
	ChanceMedian int  `json:"chance_median"` // trials after which at least half of all random orders had one
}

// A replayedRecipe is a measured recipe of a replay. It stands for all trials of the same recipe.
type replayedRecipe struct {
	trials   []int         // indices of the trials
	allowed  AllowedRecipe // the recipe as a batch may have it
	key      string        // key of the recipe in a batch; see [recipe.key]
	measured []float64     // mean measurements of the objectives
	failed   bool          // whether all trials failed
	goodness float64       // value, negative if small values are better; higher is better
}

// A replayer replays campaigns on measured recipes.
type replayer struct {
	full       *Campaign          // campaign with all trials
	problem    *compile.Problem   // the problem as it is replayed
	objectives []*learntObjective // objectives with a weight, without models
	sole       *learntObjective   // the only objective, if values are those of its label
	recipes    []replayedRecipe
	byKey      map[string]int // maps the key of a recipe to its index
	leftOut    ReplayLeftOut
	best       int      // index of the first of the best recipes
	most       float64  // goodness of the best recipe
	noTrade    []string // objectives of the problem's trade-off, which is replayed as one score
	settings   ReplaySettings
}

// Replay replays campaigns on the known recipes and results of a problem: only measured recipes may be made, and
// a recipe that is made has the results that it had. Nothing is read or written beside the problem. The result
// follows from the problem and the settings, whatever the number of workers.
//
// A campaign begins with recipes drawn at random, without the best: a start that has the best leaves nothing to
// find. If more than a tenth of the recipes share the best result, see [Replayed.CountsBest], they may be in the
// start.
func Replay(ctx context.Context, problem *compile.Problem, s ReplaySettings) (*Replayed, error) {
	r, err := newReplayer(problem)
	if err != nil {
		return nil, err
	}
	if r.settings, err = s.complete(problem.File, len(r.recipes), len(r.startRecipes())); err != nil {
		return nil, err
	}
	replays := make([]ReplayedCampaign, r.settings.Repeats)
	coverage := make([][]Coverage, r.settings.Repeats)
	var mu sync.Mutex
	done := 0
	g, ctx := errgroup.WithContext(ctx)
	g.SetLimit(r.settings.Workers)
	for k := range replays {
		g.Go(func() (err error) {
			if replays[k], coverage[k], err = r.replay(ctx, k); err != nil {
				return err
			}
			mu.Lock()
			defer mu.Unlock()
			if done++; s.Progress != nil {
				s.Progress(done, len(replays))
			}
			return nil
		})
	}
	if err := g.Wait(); err != nil {
		return nil, err
	}
	return r.summarize(replays, coverage), nil
}

// complete returns the settings with the defaults for so many measured recipes, of which so many may be in a start.
func (s ReplaySettings) complete(file string, recipes, eligible int) (ReplaySettings, error) {
	fail := func(hint, format string, args ...any) (ReplaySettings, error) {
		return s, &inputerr.Error{File: file, Message: fmt.Sprintf(format, args...), Hint: hint}
	}
	if s.Start == 0 {
		s.Start = min(max(recipes/5, minReplayStart), maxReplayStart)
	}
	if s.BatchSize == 0 {
		s.BatchSize = replayBatchSize
	}
	if s.Repeats == 0 {
		s.Repeats = replayRepeats
	}
	s.Workers = max(s.Workers, 1)
	switch {
	case s.Start < 1 || s.Start > min(eligible, recipes-1):
		return fail(fmt.Sprintf("begin with 1 to %d", min(eligible, recipes-1)), "a start of %s, and %d are measured", inputerr.Count(s.Start, "recipe"), recipes)
	case s.BatchSize < 1 || s.BatchSize > MaxBatchSize:
		return fail(fmt.Sprintf("ask for 1 to %d", MaxBatchSize), "a batch of %s", inputerr.Count(s.BatchSize, "recipe"))
	case s.Repeats < 1 || s.Repeats > MaxReplays:
		return fail(fmt.Sprintf("ask for 1 to %d", MaxReplays), "%s", inputerr.Count(s.Repeats, "replay"))
	}
	if s.Trials == 0 {
		s.Trials = min(max(recipes/2, s.Start+s.BatchSize), s.Start+maxReplayedTrials, recipes)
	}
	if s.Trials <= s.Start || s.Trials > recipes {
		return fail(fmt.Sprintf("ask for %d to %d", s.Start+1, recipes), "%s, of which %d are the start, and %d recipes are measured", inputerr.Count(s.Trials, "trial"), s.Start, recipes)
	}
	return s, nil
}

// newReplayer reads the measured recipes of a problem.
func newReplayer(problem *compile.Problem) (*replayer, error) {
	// The recipes were made, so their amounts are possible, and the stock of today did not limit them.
	p := *problem
	p.Search.AnyDoses, p.Trade, p.Rules = true, nil, slices.Clone(problem.Rules)
	for k := range p.Rules {
		p.Rules[k].Stock = nil
	}
	r := &replayer{full: &Campaign{Problem: &p}, problem: &p, byKey: make(map[string]int), noTrade: problem.Trade}
	if err := r.full.loadTrials(); err != nil {
		return nil, err
	}
	for k := range p.Properties {
		if w := &p.Properties[k]; w.Learning != nil && w.Weight > 0 {
			r.objectives = append(r.objectives, newLearntObjective(w))
		}
	}
	if len(r.objectives) == 0 {
		return nil, &inputerr.Error{File: p.File, Message: "no objective is learnt from results, so there is nothing to replay", Hint: "add a property for a measured result, such as liking: {learn: {label: liking, maximize: true}}"}
	}
	if err := r.collectRecipes(); err != nil {
		return nil, err
	}
	if n := len(r.recipes); n < MinReplayRecipes {
		text := fmt.Sprintf("%s measured, and a replay needs %d", inputerr.Count(n, "different recipe"), MinReplayRecipes)
		hint := "make a batch with kir next, or choose a result that more recipes have"
		if left := r.leftOut.Text(); left != "" {
			text += " (left out: " + left + ")"
		}
		if n+r.leftOut.RuleBreaking >= MinReplayRecipes {
			hint = "replay the table of recipes, without the constraints of the problem, or loosen these"
		}
		return nil, &inputerr.Error{File: p.File, Message: text, Hint: hint}
	}
	if err := r.rankRecipes(); err != nil {
		return nil, err
	}
	return r, nil
}

// Text lists the trials that are not replayed; empty if there are none.
func (l ReplayLeftOut) Text() string {
	var said []string
	for _, of := range []struct {
		n    int
		what string
	}{{l.Unmeasured, "without a result"}, {l.RuleBreaking, "outside the constraints"}, {l.NoConditions, "at unknown conditions"}} {
		if of.n > 0 {
			said = append(said, fmt.Sprint(of.n, " ", of.what))
		}
	}
	return number.JoinAnd(said)
}

// collectRecipes makes one recipe of all trials with the same amounts and conditions.
func (r *replayer) collectRecipes() error {
	values, err := r.full.objectiveMeasurements(r.objectives)
	if err != nil {
		return err
	}
	measured := func(trial int) bool { return !slices.ContainsFunc(values[trial], math.IsNaN) }
	for k, t := range r.full.trials {
		if !t.failed && !measured(k) {
			r.leftOut.Unmeasured++
			continue
		}
		if len(t.brokenRules) > 0 {
			r.leftOut.RuleBreaking++
			continue
		}
		named := t.conditionSetting.ValuesByName(r.problem.Conditions)
		setting, err := r.problem.NamedSetting(named)
		if err != nil || len(named) < len(r.problem.Conditions) {
			r.leftOut.NoConditions++
			continue
		}
		x := recipe{t.parts, setting.OfferedIndices, setting.Codes}
		at, known := r.byKey[x.key()]
		if !known {
			at = len(r.recipes)
			r.byKey[x.key()] = at
			r.recipes = append(r.recipes, replayedRecipe{allowed: AllowedRecipe{Parts: t.parts, Conditions: named}, key: x.key(), measured: make([]float64, len(r.objectives)), failed: true})
		}
		of := &r.recipes[at]
		of.trials = append(of.trials, k)
		of.failed = of.failed && t.failed
	}
	for a := range r.recipes {
		of := &r.recipes[a]
		n := 0.0
		for _, k := range of.trials {
			if r.full.trials[k].failed {
				continue
			}
			n++
			for i, v := range values[k] {
				of.measured[i] += (v - of.measured[i]) / n
			}
		}
	}
	return nil
}

// rankRecipes sets the goodness of each recipe, and the best.
func (r *replayer) rankRecipes() error {
	for i, o := range r.objectives {
		o.minMeasured, o.maxMeasured = math.Inf(1), math.Inf(-1)
		for _, x := range r.recipes {
			if !x.failed {
				o.minMeasured, o.maxMeasured = min(o.minMeasured, x.measured[i]), max(o.maxMeasured, x.measured[i])
			}
		}
	}
	ch := &batchOptimizer{campaign: r.full, objectives: r.objectives, computedObjectivesTarget: r.problem.Target}
	r.sole = ch.soleMeasuredObjective()
	worst, best := math.Inf(1), math.Inf(-1)
	for k := range r.recipes {
		x := &r.recipes[k]
		switch {
		case x.failed:
			x.goodness = math.Inf(-1)
		case r.sole != nil && r.sole.learningSettings.Limit == nil:
			x.goodness = r.value(x.measured[0])
		default:
			var err error
			if x.goodness, err = ch.measuredUtility(r.full.trials[x.trials[0]].recipe, r.objectives, x.measured); err != nil {
				return err
			}
		}
		if !math.IsInf(x.goodness, -1) {
			worst = min(worst, x.goodness)
		}
		if x.goodness > best {
			best, r.best = x.goodness, k
		}
	}
	if !(worst < best) {
		text := "all measured recipes have the same result"
		if math.IsInf(best, -1) {
			text = "all measured recipes failed"
		}
		return &inputerr.Error{File: r.problem.File, Message: text + ", so none is the best", Hint: "choose a result that differs between recipes"}
	}
	r.most = best
	for k := range r.recipes {
		r.recipes[k].goodness = max(r.recipes[k].goodness, worst)
	}
	return nil
}

// countsBest reports whether so many of the recipes share the best result that the first of them says little.
func countsBest(best, recipes int) bool { return 10*best > recipes }

// CountsBest reports whether so many of the recipes share the best result that a replay is judged by how many of
// them it makes, and not by when it makes the first.
func (r *Replayed) CountsBest() bool { return countsBest(r.BestCount, r.Recipes) }

// startRecipes returns the recipes that may be in the start of a campaign.
func (r *replayer) startRecipes() []int {
	var all, worse []int
	for k := range r.recipes {
		if all = append(all, k); r.recipes[k].goodness < r.most {
			worse = append(worse, k)
		}
	}
	if countsBest(len(all)-len(worse), len(all)) {
		return all
	}
	return worse
}

// replay replays the campaign of the given index.
func (r *replayer) replay(ctx context.Context, index int) (ReplayedCampaign, []Coverage, error) {
	s := r.settings
	of := ReplayedCampaign{Seed: s.Seed + uint64(index)}
	random := mcmc.NewRand(of.Seed, "start of a replay", 0)
	order := r.startRecipes()
	for k := range s.Start {
		at := k + random.Intn(len(order)-k)
		order[k], order[at] = order[at], order[k]
	}
	of.tried = order[:s.Start:s.Start]
	settings := SettingsOf(r.problem, s.Version)
	settings.Seed, settings.MaxNewIngredients, settings.Workers = of.Seed, -1, 1
	for k := range r.recipes {
		settings.AllowedRecipes = append(settings.AllowedRecipes, r.recipes[k].allowed)
	}
	var batches []*Batch
	for len(of.tried) < s.Trials {
		settings.BatchSize = min(s.BatchSize, s.Trials-len(of.tried))
		b, err := r.campaignAfter(of.tried, batches).Choose(ctx, settings)
		if err != nil {
			return of, nil, err
		}
		if len(b.Entries) == 0 {
			break // no recipe that is left keeps the limits on predictions
		}
		batches = append(batches, b)
		for _, e := range b.Entries {
			of.tried = append(of.tried, r.byKey[e.key])
		}
	}
	coverage, err := r.coverage(r.campaignAfter(of.tried, batches))
	return of, coverage, err
}

// campaignAfter returns the campaign in which only some recipes were made: first those of the start, then those
// of the batches.
func (r *replayer) campaignAfter(tried []int, batches []*Batch) *Campaign {
	c := &Campaign{}
	var rows []int
	add := func(id func(trial int) string, round, index int) {
		x := &r.recipes[index]
		for i, k := range x.trials {
			t := r.full.trials[k]
			t.id, t.round, t.key = "", round, x.key
			if i == 0 {
				t.id = id(k)
			}
			c.trials, rows = append(c.trials, t), append(rows, k)
		}
	}
	for _, index := range tried[:r.settings.Start] {
		add(func(trial int) string { return r.full.trials[trial].id }, 0, index)
	}
	c.firstResultTrial = len(c.trials)
	for _, b := range batches {
		for _, e := range b.Entries {
			add(func(int) string { return e.ID }, b.Round, r.byKey[e.key])
		}
	}
	c.Problem = r.problem.WithKnownRecipes(rows)
	c.setBatches(batches)
	return c
}

// coverage says how often the prediction intervals of a campaign's batches were right.
func (r *replayer) coverage(c *Campaign) (all []Coverage, err error) {
	for _, o := range r.objectives {
		if !o.learningSettings.Numeric || slices.ContainsFunc(all, func(b Coverage) bool { return b.Label == o.label }) {
			continue
		}
		checks, err := c.predictionChecks(o)
		if err != nil {
			return nil, err
		}
		of := Coverage{Label: o.label, Intervals: len(checks)}
		for _, check := range checks {
			if check.Within {
				of.Within++
			}
		}
		all = append(all, of)
	}
	return all, nil
}
