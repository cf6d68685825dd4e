package campaign

import (
	"context"
	"fmt"
	"maps"
	"math"
	"slices"

	"kir/internal/inputerr"
)

// A Standing is a report on the state of a campaign.
type Standing struct {
	Version    string      `json:"version"`
	Name       string      `json:"name"`
	Total      int         `json:"total"`                // units of a recipe
	Measure    Measure     `json:"measure"`              // the unit of amounts
	Conditions []Condition `json:"conditions,omitempty"` // of the problem
	Round      int         `json:"round"`                // number of the last round
	Tried      int         `json:"tried"`                // recipes with a result, including those of the book
	Failed     int         `json:"failed"`
	Broken     int         `json:"broken"` // recipes that break a rule; they are never called best

	Rounds        []Round           `json:"rounds"`
	Checks        []PredictionCheck `json:"told"` // predictions compared with measurements
	Coverage      []Coverage        `json:"coverage"`
	Best          *Best             `json:"best"`
	Pending       []string          `json:"pending"`
	RemainingGain RemainingGain     `json:"left"`
	Models        []ModelSummary    `json:"models"`
	Notes         []string          `json:"notes"`
}

// A Round is the outcome of one round. Round 0 is everything known before the first batch.
type Round struct {
	Round   int   `json:"round"`
	Results int   `json:"results"`
	Failed  int   `json:"failed"`
	Best    *Best `json:"best"` // best measured recipe up to this round
	Better  bool  `json:"better"`
}

// A PredictionCheck compares the prediction of a recipe, from before it was made, with the
// measurement.
type PredictionCheck struct {
	ID            string     `json:"id"`
	Round         int        `json:"round"`
	Label         string     `json:"label"`
	Predicted     Prediction `json:"predicted"`
	Measured      float64    `json:"measured"`
	Within        bool       `json:"within"`
	MadeOtherwise bool       `json:"otherwise"` // made with other amounts than offered; does not count for Coverage
}

// Coverage counts how many prediction intervals of a label held the measurement.
type Coverage struct {
	Label     string `json:"label"`
	Within    int    `json:"within"`
	Intervals int    `json:"of"`
}

// ComputeStanding reports the state of the campaign.
func (c *Campaign) ComputeStanding(ctx context.Context, s Settings) (*Standing, error) {
	ch, err := newBatchOptimizer(ctx, c, s)
	if err != nil {
		return nil, err
	}
	st := &Standing{
		Version: s.Version, Name: c.Problem.Name, Total: c.Problem.Total, Measure: c.usualMeasure(), Conditions: c.conditions(), Round: c.Round(), Tried: len(c.trials),
		Rounds: []Round{}, Checks: []PredictionCheck{}, Coverage: []Coverage{}, Pending: []string{}, Models: []ModelSummary{}, Notes: []string{},
	}
	for _, t := range c.trials {
		if t.failed {
			st.Failed++
		}
		if len(t.broken) > 0 {
			st.Broken++
		}
	}
	for _, e := range ch.pending {
		st.Pending = append(st.Pending, e.ID)
	}
	st.Models = ch.describe()
	if st.Best, err = c.bestMeasured(ch.objectives, ch, math.MaxInt); err != nil {
		return nil, err
	}
	if err := c.summarizeRounds(ch, st); err != nil {
		return nil, err
	}
	if st.Best != nil {
		if st.Measure, err = st.Measure.fitDecimals(st.Total, st.Best.Recipe); err != nil {
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
		st.RemainingGain, err = frontier.assessGain(ctx)
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

// summarizeRounds adds the outcome of each round to a standing.
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
			r.Results++
			if t.failed {
				r.Failed++
			}
		}
		var err error
		if r.Best, err = c.bestMeasured(ch.objectives, ch, round); err != nil {
			return err
		}
		if n := len(st.Rounds); n > 0 && r.Best != nil {
			r.Better = st.Rounds[n-1].Best == nil || st.Rounds[n-1].Best.key != r.Best.key
		}
		st.Rounds = append(st.Rounds, r)
	}
	return nil
}

// checkPredictions compares predictions with measurements.
func (c *Campaign) checkPredictions(objectives []*learntObjective, st *Standing) error {
	for _, o := range objectives {
		if !o.learning.Numeric || o.sharedWith != nil {
			continue
		}
		numbers, _, err := c.measuredOf(o.learning)
		if err != nil {
			return err
		}
		cover := Coverage{Label: o.label}
		for k, t := range c.trials[c.firstResult:] {
			e := c.entry(t.id)
			v := numbers[c.firstResult+k]
			if e == nil || math.IsNaN(v) {
				continue
			}
			p, ok := e.Predicted[o.label]
			if !ok {
				continue
			}
			check := PredictionCheck{ID: t.id, Round: e.round, Label: o.label, Predicted: p, Measured: v, Within: p.Low <= v && v <= p.High, MadeOtherwise: t.key != e.key}
			st.Checks = append(st.Checks, check)
			if check.MadeOtherwise {
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

// fewestCorrectIntervals returns the count of correct intervals below which the intervals are suspect.
// If 90 % intervals are right, fewer hold with a probability of at most 1 %.
func fewestCorrectIntervals(of int) int {
	total, p := 0.0, 1.0
	for range of {
		p /= 10 // none of them holds
	}
	for k := 0; k <= of; k++ {
		if total += p; total > 0.01 {
			return k
		}
		p = float64(p * 9 * float64(of-k) / float64(k+1))
	}
	return of
}
