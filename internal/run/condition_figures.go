package run

import (
	"kir/internal/diagnose"
	"kir/internal/number"
	"kir/mcmc"
)

// ConditionShares holds the shares of the draws that have each value of a condition.
type ConditionShares struct {
	Name   string       `json:"name"`
	Values []ValueShare `json:"values"` // shares of the values, in the order of the condition's values
}

// A ValueShare is the share of the draws in which a condition has one of its values.
type ValueShare struct {
	Value       any           `json:"value"` // a float64 or a string
	Probability number.Number `json:"probability"`
	MCSE        number.Number `json:"mcse"`
	Weight      number.Number `json:"weight"` // weight of the value, divided by the sum of the weights of all values

	Name string  `json:"-"` // text of the condition's name and the value
	ESS  float64 `json:"-"`
}

// firstValueIndexes numbers the values of all conditions in one sequence. It returns the number of
// the first value of each condition, and the number of all values.
func firstValueIndexes(conditions []Condition) (starts []int, all int) {
	for k := range conditions {
		starts, all = append(starts, all), all+conditions[k].Values()
	}
	return starts, all
}

// valuePresence counts the draws that have each value of each condition. The values of all
// conditions are numbered in one sequence; see [firstValueIndexes].
type valuePresence struct {
	firstIndexes []int
	counts       *diagnose.Presence // nil if there are no conditions
}

func newValuePresence(conditions []Condition, chains int) (p valuePresence) {
	starts, all := firstValueIndexes(conditions)
	if all > 0 {
		p = valuePresence{starts, diagnose.NewPresence(all, chains)}
	}
	return p
}

// add counts a draw. The parameter values holds the value index of each condition.
func (p *valuePresence) add(values []int32) {
	if p.counts == nil {
		return
	}
	p.counts.Next()
	for k, v := range values {
		p.counts.Add(p.firstIndexes[k]+int(v), 1)
	}
}

// newConditionShares returns, for each condition, the shares of its values in the draws of all
// chains; nil without conditions.
func newConditionShares(s *Spec, chains []*chainFigures, slowest float64) (all []ConditionShares, err error) {
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
			se, _ := x.StatedError(slowest) // NaN where it is not known
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

// checkValues checks the shares of the values of all conditions.
func (e *stoppingChecker) checkValues() error {
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
