package campaign

import (
	"context"
	"fmt"
	"maps"
	"math"
	"slices"

	"kir/internal/fault"
)

// A Standing says where a campaign stands.
type Standing struct {
	Version string  `json:"version"`
	Name    string  `json:"name"`
	Total   int     `json:"total"`   // units of a recipe
	Measure Measure `json:"measure"` // the unit of amounts
	Round   int     `json:"round"`   // the last
	Tried   int     `json:"tried"`   // recipes with a result, those of the book among them
	Failed  int     `json:"failed"`
	Broken  int     `json:"broken"` // that break a rule, and are never called best

	Rounds   []Round    `json:"rounds"`
	Told     []Told     `json:"told"` // what was predicted of recipes, and what came
	Coverage []Coverage `json:"coverage"`
	Best     *Best      `json:"best"`
	Pending  []string   `json:"pending"`
	Left     Left       `json:"left"`
	Models   []Model    `json:"models"`
	Notes    []string   `json:"notes"`
}

// A Round says what came of one. Round 0 is what was known before the first batch.
type Round struct {
	Round   int   `json:"round"`
	Results int   `json:"results"`
	Failed  int   `json:"failed"`
	Best    *Best `json:"best"` // of all that was measured up to this round
	Better  bool  `json:"better"`
}

// Told is what was predicted of a recipe, before it was made, and what was measured.
type Told struct {
	ID        string     `json:"id"`
	Round     int        `json:"round"`
	Label     string     `json:"label"`
	Predicted Prediction `json:"predicted"`
	Measured  float64    `json:"measured"`
	Within    bool       `json:"within"`
	Otherwise bool       `json:"otherwise"` // it was made otherwise than offered, and does not count
}

// Coverage is how many of the intervals of a label hold what came.
type Coverage struct {
	Label  string `json:"label"`
	Within int    `json:"within"`
	Of     int    `json:"of"`
}

// Stand says where the campaign stands.
func (c *Campaign) Stand(ctx context.Context, s Settings) (*Standing, error) {
	ch, err := newChooser(ctx, c, s)
	if err != nil {
		return nil, err
	}
	st := &Standing{
		Version: s.Version, Name: c.Problem.Name, Total: c.Problem.Total, Measure: c.measured(), Round: c.Round(), Tried: len(c.trials),
		Rounds: []Round{}, Told: []Told{}, Coverage: []Coverage{}, Pending: []string{}, Models: []Model{}, Notes: []string{},
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
	if st.Best, err = c.best(ch.objectives, ch, math.MaxInt); err != nil {
		return nil, err
	}
	if err := c.rounds(ch, st); err != nil {
		return nil, err
	}
	if st.Best != nil {
		if st.Measure, err = st.Measure.fit(st.Total, st.Best.Recipe); err != nil {
			return nil, err
		}
	}
	if err := c.told(ch.objectives, st); err != nil {
		return nil, err
	}
	frontier, err := ch.frontier()
	if err != nil {
		return nil, err
	}
	if frontier != nil {
		st.Left, err = frontier.stand(ctx)
		st.Notes = append(st.Notes, ch.limitNotes()...)
		return st, err
	}
	if len(ch.learnt()) == 0 {
		st.Left = Left{Advice: GoOn, Text: ch.unknown()}
		return st, nil
	}
	p, err := ch.look(ctx)
	if err != nil {
		return nil, err
	}
	st.Left = ch.left(p, st.Best)
	st.Notes = append(st.Notes, ch.limitNotes()...)
	return st, nil
}

// rounds says what came of each round.
func (c *Campaign) rounds(ch *chooser, st *Standing) error {
	in := map[int]bool{0: true} // a round that has neither batch nor result has nothing to say
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
		if r.Best, err = c.best(ch.objectives, ch, round); err != nil {
			return err
		}
		if n := len(st.Rounds); n > 0 && r.Best != nil {
			r.Better = st.Rounds[n-1].Best == nil || st.Rounds[n-1].Best.key != r.Best.key
		}
		st.Rounds = append(st.Rounds, r)
	}
	return nil
}

// told compares predictions with what came.
func (c *Campaign) told(objectives []*objective, st *Standing) error {
	for _, o := range objectives {
		if !o.learning.Numeric || o.of != nil {
			continue
		}
		numbers, _, err := c.measuredOf(o.learning)
		if err != nil {
			return err
		}
		cover := Coverage{Label: o.label}
		for k, t := range c.trials[c.results:] {
			e := c.entry(t.id)
			v := numbers[c.results+k]
			if e == nil || math.IsNaN(v) {
				continue
			}
			p, ok := e.Predicted[o.label]
			if !ok {
				continue
			}
			told := Told{ID: t.id, Round: e.round, Label: o.label, Predicted: p, Measured: v, Within: p.Low <= v && v <= p.High, Otherwise: t.key != e.key}
			st.Told = append(st.Told, told)
			if told.Otherwise {
				continue
			}
			cover.Of++
			if told.Within {
				cover.Within++
			}
		}
		if cover.Of > 0 {
			st.Coverage = append(st.Coverage, cover)
			if low := fewestWithin(cover.Of); cover.Within < low {
				st.Notes = append(st.Notes, fmt.Sprintf("Only %d of %s of %s held what came, where nine in ten should: what is predicted of it is less sure than it says.",
					cover.Within, fault.Count(cover.Of, "interval"), o.label))
			}
		}
	}
	return nil
}

// fewestWithin is below how many intervals of 90 % of so many hold with a probability of
// at most 1 % if they are right.
func fewestWithin(of int) int {
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
