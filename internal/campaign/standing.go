package campaign

import (
	"context"
	"fmt"
	"maps"
	"math"
	"slices"

	"kir/internal/inputerr"
)

// A Standing is a report on the current state of a campaign.
type Standing struct {
	Version            string      `json:"version"`              // version of the program
	Name               string      `json:"name"`                 // name of the problem
	Total              int         `json:"total"`                // sum of the amounts of a recipe in units
	Measure            Measure     `json:"measure"`              // unit in which amounts are written
	Conditions         []Condition `json:"conditions,omitempty"` // conditions of the problem
	Round              int         `json:"round"`                // number of the last round
	Tried              int         `json:"tried"`                // number of trials, including the known recipes in the problem's table
	FailedTrials       int         `json:"failed"`               // number of trials that failed
	RuleBreakingTrials int         `json:"broken"`               // number of trials whose recipes break a rule and can therefore never be the best

	Rounds        []Round           `json:"rounds"`   // outcome of each round
	Checks        []PredictionCheck `json:"told"`     // comparisons of predictions with measurements
	Coverage      []Coverage        `json:"coverage"` // one element per label: how often the prediction intervals were right
	Best          *Best             `json:"best"`     // best measured recipe; nil if no recipe was measured
	Pending       []string          `json:"pending"`  // ids of recipes that have no result yet
	RemainingGain RemainingGain     `json:"left"`     // gain to expect from further rounds, and the advice to go on or to stop
	Models        []ModelSummary    `json:"models"`   // one summary for each label of how well its model predicts
	Notes         []string          `json:"notes"`    // remarks for the user
}

// A Round is the outcome of one round of experiments. Round 0 stands for everything that was known
// before the first batch.
type Round struct {
	Round       int   `json:"round"`   // number of the round
	ResultCount int   `json:"results"` // number of results of the round
	Failed      int   `json:"failed"`  // number of trials of the round that failed
	Best        *Best `json:"best"`    // best measured recipe of this and all earlier rounds; nil if no recipe was measured
	BestChanged bool  `json:"better"`  // whether the best recipe changed in this round
}

// A PredictionCheck compares a measurement of a recipe with the prediction that was made when the
// recipe was chosen.
type PredictionCheck struct {
	ID              string     `json:"id"`        // id of the recipe
	Round           int        `json:"round"`     // number of the round of the batch
	Label           string     `json:"label"`     // name of the label
	Predicted       Prediction `json:"predicted"` // prediction when the recipe was chosen
	Measured        float64    `json:"measured"`  // measured value of the label
	Within          bool       `json:"within"`    // whether the measurement was in the prediction interval
	MadeDifferently bool       `json:"otherwise"` // whether the recipe was made with other amounts or conditions than offered; if so, the check does not count for [Coverage]
}

// A Coverage says how often the prediction intervals of one label contained the measurement.
type Coverage struct {
	Label     string `json:"label"`
	Within    int    `json:"within"` // number of intervals that contained the measurement
	Intervals int    `json:"of"`     // number of intervals that were compared with a measurement
}

// ComputeStanding returns a report on the current state of the campaign.
func (c *Campaign) ComputeStanding(ctx context.Context, s Settings) (*Standing, error) {
	ch, err := newBatchOptimizer(ctx, c, s)
	if err != nil {
		return nil, err
	}
	st := &Standing{
		Version: s.Version, Name: c.Problem.Name, Total: c.Problem.Total, Measure: c.usualMeasure(), Conditions: c.conditionList(), Round: c.Round(), Tried: len(c.trials),
		Rounds: []Round{}, Checks: []PredictionCheck{}, Coverage: []Coverage{}, Pending: []string{}, Models: []ModelSummary{}, Notes: []string{},
	}
	for _, t := range c.trials {
		if t.failed {
			st.FailedTrials++
		}
		if len(t.brokenRules) > 0 {
			st.RuleBreakingTrials++
		}
	}
	for _, e := range ch.pending {
		st.Pending = append(st.Pending, e.ID)
	}
	st.Models = ch.summarizeModels()
	if st.Best, err = c.bestMeasuredRecipe(ch.objectives, ch, math.MaxInt); err != nil {
		return nil, err
	}
	if err := c.summarizeRounds(ch, st); err != nil {
		return nil, err
	}
	if st.Best != nil {
		if st.Measure, err = st.Measure.withEnoughDecimals(st.Total, st.Best.Recipe); err != nil {
			return nil, err
		}
	}
	if err := c.checkPredictions(ch.objectives, st); err != nil {
		return nil, err
	}
	frontier, err := ch.newTradeOffOptimizer()
	if err != nil {
		return nil, err
	}
	if frontier != nil {
		st.RemainingGain, err = frontier.estimateRemainingGain(ctx)
		st.Notes = append(st.Notes, ch.notesOnLimits()...)
		return st, err
	}
	if len(ch.learntObjectives()) == 0 {
		st.RemainingGain = RemainingGain{Advice: GoOn, Text: ch.nothingLearntText()}
		return st, nil
	}
	p, err := ch.preparePool(ctx)
	if err != nil {
		return nil, err
	}
	st.RemainingGain = ch.remainingGain(p, st.Best)
	st.Notes = append(st.Notes, ch.notesOnLimits()...)
	return st, nil
}

// summarizeRounds adds the outcome of each round to the report st.
func (c *Campaign) summarizeRounds(ch *batchOptimizer, st *Standing) error {
	in := map[int]bool{0: true} // rounds without batch or result are left out
	for _, b := range c.Batches {
		in[b.Round] = true
	}
	for _, t := range c.trials {
		in[t.round] = true
	}
	for _, round := range slices.Sorted(maps.Keys(in)) {
		r := Round{Round: round}
		for _, t := range c.trials {
			if t.round != round {
				continue
			}
			r.ResultCount++
			if t.failed {
				r.Failed++
			}
		}
		var err error
		if r.Best, err = c.bestMeasuredRecipe(ch.objectives, ch, round); err != nil {
			return err
		}
		if n := len(st.Rounds); n > 0 && r.Best != nil {
			r.BestChanged = st.Rounds[n-1].Best == nil || st.Rounds[n-1].Best.key != r.Best.key
		}
		st.Rounds = append(st.Rounds, r)
	}
	return nil
}

// checkPredictions compares the predictions in the batches with measurements and adds the
// comparisons to the report st.
func (c *Campaign) checkPredictions(objectives []*learntObjective, st *Standing) error {
	for _, o := range objectives {
		if !o.learningSettings.Numeric || o.modelOwner != nil {
			continue
		}
		checks, err := c.predictionChecks(o)
		if err != nil {
			return err
		}
		st.Checks = append(st.Checks, checks...)
		cover := Coverage{Label: o.label}
		for _, check := range checks {
			if check.MadeDifferently {
				continue
			}
			cover.Intervals++
			if check.Within {
				cover.Within++
			}
		}
		if cover.Intervals > 0 {
			st.Coverage = append(st.Coverage, cover)
			if low := fewestCorrectIntervals(cover.Intervals); cover.Within < low {
				st.Notes = append(st.Notes, fmt.Sprintf("Only %d of %s of %s lay in their predicted 90 %% range: its predictions are less certain than stated.",
					cover.Within, inputerr.Count(cover.Intervals, "result"), o.label))
			}
		}
	}
	return nil
}

// predictionChecks compares the predictions of a numeric label in the batches with measurements.
func (c *Campaign) predictionChecks(o *learntObjective) (checks []PredictionCheck, err error) {
	numbers, _, err := c.measuredValues(o.learningSettings)
	if err != nil {
		return nil, err
	}
	for k, t := range c.trials[c.firstResultTrial:] {
		e := c.findEntry(t.id)
		v := numbers[c.firstResultTrial+k]
		if e == nil || math.IsNaN(v) {
			continue
		}
		if p, ok := e.Predicted[o.label]; ok {
			checks = append(checks, PredictionCheck{ID: t.id, Round: e.round, Label: o.label, Predicted: p, Measured: v, Within: p.Low <= v && v <= p.High, MadeDifferently: t.key != e.key})
		}
	}
	return checks, nil
}

// fewestCorrectIntervals returns the smallest number of correct intervals that is not suspiciously
// low. If each interval is correct with a probability of 90 %, the number of correct intervals is
// smaller than the result with a probability of at most 1 %.
func fewestCorrectIntervals(intervals int) int {
	total, p := 0.0, 1.0
	for range intervals {
		p /= 10 // none of them holds
	}
	for k := 0; k <= intervals; k++ {
		if total += p; total > 0.01 {
			return k
		}
		p = float64(p * 9 * float64(intervals-k) / float64(k+1))
	}
	return intervals
}
