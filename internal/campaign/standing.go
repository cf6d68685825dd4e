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
	Version            string      `json:"version"`
	Name               string      `json:"name"`
	Total              int         `json:"total"`                // number of units that the amounts of every recipe sum to
	Measure            Measure     `json:"measure"`              // unit in which amounts are written
	Conditions         []Condition `json:"conditions,omitempty"` // conditions of the problem
	Round              int         `json:"round"`                // number of the last round
	Tried              int         `json:"tried"`                // number of trials, including the known recipes of the problem
	FailedTrials       int         `json:"failed"`               // number of trials that failed
	RuleBreakingTrials int         `json:"broken"`               // number of trials whose recipes break a rule and can therefore never be the best

	Rounds        []Round           `json:"rounds"`   // outcome of each round
	Checks        []PredictionCheck `json:"told"`     // predictions compared with measurements
	Coverage      []Coverage        `json:"coverage"` // how often prediction intervals were right, by label
	Best          *Best             `json:"best"`     // best measured recipe; nil if no recipe was measured
	Pending       []string          `json:"pending"`  // ids of recipes that have no result yet
	RemainingGain RemainingGain     `json:"left"`     // gain that is still to be expected, and the advice
	Models        []ModelSummary    `json:"models"`   // how well the model of each label predicts
	Notes         []string          `json:"notes"`    // remarks for the user
}

// A Round is the outcome of one round of experiments. Round 0 has everything known before the first
// batch.
type Round struct {
	Round       int   `json:"round"`   // number of the round
	ResultCount int   `json:"results"` // number of results of the round
	Failed      int   `json:"failed"`  // number of trials of the round that failed
	Best        *Best `json:"best"`    // best measured recipe of this round and all earlier rounds; nil if no recipe was measured
	BestChanged bool  `json:"better"`  // whether the best recipe changed in this round
}

// A PredictionCheck compares a measurement of a recipe with the prediction that was made before the
// recipe was tried.
type PredictionCheck struct {
	ID              string     `json:"id"`
	Round           int        `json:"round"`
	Label           string     `json:"label"`
	Predicted       Prediction `json:"predicted"`
	Measured        float64    `json:"measured"`
	Within          bool       `json:"within"`    // whether the measurement was in the prediction interval
	MadeDifferently bool       `json:"otherwise"` // whether the recipe was made with other amounts or conditions than offered; such a check does not count for [Coverage]
}

// A Coverage counts how often the prediction intervals of a label contained the measurement.
type Coverage struct {
	Label     string `json:"label"`
	Within    int    `json:"within"` // number of intervals that contained the measurement
	Intervals int    `json:"of"`     // number of intervals checked
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
	if st.Best, err = c.bestMeasured(ch.objectives, ch, math.MaxInt); err != nil {
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
		st.Notes = append(st.Notes, ch.limitNotes()...)
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
	st.Notes = append(st.Notes, ch.limitNotes()...)
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
		if r.Best, err = c.bestMeasured(ch.objectives, ch, round); err != nil {
			return err
		}
		if n := len(st.Rounds); n > 0 && r.Best != nil {
			r.BestChanged = st.Rounds[n-1].Best == nil || st.Rounds[n-1].Best.key != r.Best.key
		}
		st.Rounds = append(st.Rounds, r)
	}
	return nil
}

// checkPredictions compares earlier predictions with measurements and adds the comparisons to the
// report st.
func (c *Campaign) checkPredictions(objectives []*learntObjective, st *Standing) error {
	for _, o := range objectives {
		if !o.learningSettings.Numeric || o.sharedWith != nil {
			continue
		}
		numbers, _, err := c.measuredValues(o.learningSettings)
		if err != nil {
			return err
		}
		cover := Coverage{Label: o.label}
		for k, t := range c.trials[c.firstResultTrial:] {
			e := c.findEntry(t.id)
			v := numbers[c.firstResultTrial+k]
			if e == nil || math.IsNaN(v) {
				continue
			}
			p, ok := e.Predicted[o.label]
			if !ok {
				continue
			}
			check := PredictionCheck{ID: t.id, Round: e.round, Label: o.label, Predicted: p, Measured: v, Within: p.Low <= v && v <= p.High, MadeDifferently: t.key != e.key}
			st.Checks = append(st.Checks, check)
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
				st.Notes = append(st.Notes, fmt.Sprintf("Only %d of %s of %s held what came, where nine in ten should: what is predicted of it is less sure than it says.",
					cover.Within, inputerr.Count(cover.Intervals, "interval"), o.label))
			}
		}
	}
	return nil
}

// fewestCorrectIntervals returns the least number of correct intervals, among count intervals, that
// is not suspicious. If every interval is right with a probability of 90 %, fewer are right with a
// probability of at most 1 %.
func fewestCorrectIntervals(count int) int {
	total, p := 0.0, 1.0
	for range count {
		p /= 10 // none of them holds
	}
	for k := 0; k <= count; k++ {
		if total += p; total > 0.01 {
			return k
		}
		p = float64(p * 9 * float64(count-k) / float64(k+1))
	}
	return count
}
