package run

import (
	"kir/internal/diagnose"
	"kir/internal/number"
	"kir/mcmc"
)

// A ConditionShares holds, for one condition, the share of the draws that have each value.
type ConditionShares struct {
	Name   string       `json:"name"`
	Values []ValueShare `json:"values"` // shares of the values, in the order of the condition's values
}

// A ValueShare is the share of the draws in which a condition has one of its values.
type ValueShare struct {
	Value       any           `json:"value"`       // a float64 or a string
	Probability number.Number `json:"probability"` // share of the draws with this value
	MCSE        number.Number `json:"mcse"`        // Monte Carlo standard error of Probability
	Weight      number.Number `json:"weight"`      // weight of the value, divided by the sum of the weights of all values

	Name string  `json:"-"` // text of the condition and the value, such as "temperature 185 °C"
	ESS  float64 `json:"-"` // effective sample size of the draws for Probability
}

// firstValueIndexes numbers the values of all conditions in one sequence, first the values of
// condition 0, then those of condition 1, and so on. Item k of starts is the number of the first
// value of condition k. The result count is the number of all values.
func firstValueIndexes(conditions []Condition) (starts []int, count int) {
	for k := range conditions {
		starts, count = append(starts, count), count+conditions[k].Values()
	}
	return starts, count
}

// valuePresence counts the draws that have each value of each condition. The values of all
// conditions are numbered in one sequence, as by [firstValueIndexes].
type valuePresence struct {
	firstIndexes []int              // item k is the number of the first value of condition k
	counts       *diagnose.Presence // number of draws with each value, by the number of the value; nil if there are no conditions
}

func newValuePresence(conditions []Condition, chains int) (p valuePresence) {
	starts, all := firstValueIndexes(conditions)
	if all > 0 {
		p = valuePresence{starts, diagnose.NewPresence(all, chains)}
	}
	return p
}

// add counts a draw. Item k of values is the index of the draw's value of condition k.
func (p *valuePresence) add(values []int32) {
	if p.counts == nil {
		return
	}
	p.counts.Next()
	for k, v := range values {
		p.counts.Add(p.firstIndexes[k]+int(v), 1)
	}
}

// newConditionShares returns the share of the draws that have each value of each condition, over
// all chains. The result is nil if there are no conditions. The parameter minBulkESS is the
// smallest bulk effective sample size of the run's statistics, or +Inf.
func newConditionShares(s *Spec, chains []*chainFigures, minBulkESS float64) (all []ConditionShares, err error) {
	if len(s.Conditions) == 0 {
		return nil, nil
	}
	var presences []*diagnose.Presence
	for _, f := range chains {
		presences = append(presences, f.values.counts)
	}
	inclusions, err := diagnose.AllInclusions(presences, func(int) bool { return true })
	if err != nil {
		return nil, err
	}
	var figures []diagnose.Inclusion
	for _, x := range inclusions {
		figures = append(figures, x)
	}
	at := 0
	for k := range s.Conditions {
		c := &s.Conditions[k]
		shares := ConditionShares{Name: c.Name}
		weights := normalizeWeights(s.Target.Space().Conditions()[k])
		for v := range c.Values() {
			x := figures[at]
			at++
			se, _ := x.StatedError(minBulkESS) // NaN where it is not known
			shares.Values = append(shares.Values, ValueShare{
				Value: c.Value(v), Probability: number.Number(x.Probability), MCSE: number.Number(se), Weight: number.Number(weights[v]),
				Name: c.Name + " " + c.Text(v), ESS: x.ESS,
			})
		}
		all = append(all, shares)
	}
	return all, nil
}

// normalizeWeights returns the weights of the values of a condition, divided by their sum.
func normalizeWeights(c mcmc.Condition) []float64 {
	sum := 0.0
	for _, w := range c.Weights {
		sum += w
	}
	shares := make([]float64, len(c.Weights))
	for v, w := range c.Weights {
		shares[v] = w / sum
	}
	return shares
}

// checkConditionShares checks whether the draws are enough for the shares of the values of all
// conditions.
func (e *stoppingChecker) checkConditionShares() error {
	s := e.session
	if len(s.spec.Conditions) == 0 {
		return nil
	}
	var presences []*diagnose.Presence
	for _, chain := range s.chains {
		p := newValuePresence(s.spec.Conditions, len(s.chains))
		for d := range chain.buffered.count() {
			p.add(chain.buffered.conditionsOf(d))
		}
		presences = append(presences, p.counts)
	}
	all, err := diagnose.AllInclusions(presences, func(int) bool { return true })
	if err != nil {
		return err
	}
	for _, x := range all {
		if !isRare(x.Probability) {
			e.addESS(x.ESS, x.Err)
		}
	}
	return nil
}
