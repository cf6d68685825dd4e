package report

import (
	"fmt"
	"math"
)

// validate checks a model that was read from a file, which someone may have changed. It returns an
// error if the model lacks something that the display of reports relies on.
func (m *Model) validate() error {
	var err error
	need := func(ok bool, format string, args ...any) {
		if !ok && err == nil {
			err = fmt.Errorf(format, args...)
		}
	}
	need(m.Problem.Total >= 1 && m.Problem.Total <= math.MaxInt32, "the total is %d", m.Problem.Total)
	need(m.Sampler.Chains >= 1, "there are %d chains", m.Sampler.Chains)
	m.validateShortlist(need)
	m.validateConditions(need)
	for k, w := range m.Properties {
		if w.Forest == nil || w.Forest.Quality.Classes == nil {
			continue
		}
		classes := len(w.Forest.Classes)
		need(len(w.Forest.Quality.Classes.Confusion) == classes, "property %d: the confusion matrix has not the forest's %d classes", k, classes)
		for _, row := range w.Forest.Quality.Classes.Confusion {
			need(len(row) == classes, "property %d: the confusion matrix has not the forest's %d classes", k, classes)
		}
	}
	m.validateTradeoff(need)
	m.validateFigures(need)
	m.validatePoints(need)
	for k, l := range m.Ladders {
		need(len(l.Rungs) > 0, "ladder %d has no rungs", k)
	}
	need(len(m.Ladders) == 0 || m.LogZ != nil, "there are ladders and no log Z")
	return err
}

// validateShortlist checks the compositions of the shortlist and the best known recipe. Like the other checks it calls need,
// which records an error if ok is false.
func (m *Model) validateShortlist(need func(ok bool, format string, args ...any)) {
	addUp := func(recipe map[string]int, name string) {
		left := m.Problem.Total
		for _, amount := range recipe {
			need(amount >= 1 && amount <= left, "the amounts of %s do not add up to the total", name)
			left -= max(0, amount)
		}
		need(left == 0, "the amounts of %s do not add up to the total", name)
	}
	if m.BestKnown != nil {
		addUp(m.BestKnown.Recipe, "the best known recipe")
	}
	for k, b := range m.Best {
		addUp(b.Recipe, fmt.Sprintf("best %d", k))
		need(!b.NotBetter || m.BestKnown != nil, "best %d is not better than a known recipe, and there is none", k)
		for _, s := range b.Slack {
			need(s.Rule >= 0 && s.Rule < len(m.Problem.Rules), "best %d names rule %d of %d", k, s.Rule, len(m.Problem.Rules))
		}
	}
}

// validateConditions checks that each value of a condition is a number or a text.
func (m *Model) validateConditions(need func(ok bool, format string, args ...any)) {
	check := func(where string, v any) {
		_, isNumber := v.(float64)
		_, isText := v.(string)
		need(isNumber || isText, "a value of a condition of %s is %v", where, v)
	}
	named := func(where string, values map[string]any) {
		for _, v := range values {
			check(where, v)
		}
	}
	for _, c := range m.Problem.Conditions {
		for _, v := range c.Values {
			check("the problem", v)
		}
	}
	for _, c := range m.Conditions {
		for _, v := range c.Values {
			check("the draws", v.Value)
		}
	}
	for _, b := range m.Best {
		named("the shortlist", b.Conditions)
		for _, r := range b.ConditionRanges {
			check("the shortlist", r.Low)
			check("the shortlist", r.High)
		}
	}
	if m.Tradeoff != nil {
		for _, p := range m.Tradeoff.Front {
			named("the trade-off", p.Conditions)
		}
	}
	for _, w := range m.Properties {
		if w.Forest != nil {
			for _, r := range w.Forest.ConditionResponses {
				check("a response", r.At)
			}
		}
	}
}

// validateTradeoff checks the recipes and values of the trade-off.
func (m *Model) validateTradeoff(need func(ok bool, format string, args ...any)) {
	t := m.Tradeoff
	if t == nil {
		return
	}
	const large = 1e300 // beyond which the range of an axis may overflow
	for k, p := range t.Front {
		left := m.Problem.Total
		for _, amount := range p.Recipe {
			need(amount >= 1 && amount <= left, "the amounts of recipe %d of the trade-off do not add up to the total", k)
			left -= max(0, amount)
		}
		need(left == 0, "the amounts of recipe %d of the trade-off do not add up to the total", k)
		for _, o := range t.Objectives {
			v, ok := p.Values[o.Name]
			need(ok && math.Abs(float64(v.Value)) < large, "recipe %d of the trade-off has no %s", k, o.Name)
		}
	}
	for k, d := range t.Draws {
		need(len(d) == len(t.Objectives), "draw %d of the trade-off has %d values of %d", k, len(d), len(t.Objectives))
	}
	for k, r := range t.Known {
		need(len(r.Values) == len(t.Objectives), "known recipe %d of the trade-off has %d values of %d", k, len(r.Values), len(t.Objectives))
	}
	need(t.Random.Compositions >= 0 && t.Found >= 0, "the trade-off has %d random compositions and %d recipes", t.Random.Compositions, t.Found)
}

// validateFigures checks the numbers that the figures show.
func (m *Model) validateFigures(need func(ok bool, format string, args ...any)) {
	known := func(what string, list []Number, least int) {
		need(len(list) >= least, "%s has %d entries", what, len(list))
		for _, v := range list {
			need(v.IsKnown(), "%s has an unknown entry", what)
		}
	}
	// within checks figures that may be unknown.
	within := func(what string, most float64, figures ...Number) {
		for _, v := range figures {
			need(!v.IsKnown() || v >= 0 && float64(v) <= most, "%s is %v, at most %g is possible", what, v, most)
		}
	}
	const large = 1e9 // a standard error may be large
	for _, s := range m.Sparsity {
		need(s.Target.IsKnown() && s.Observed.IsKnown(), "the share of n = %d is unknown", s.N)
		within(fmt.Sprintf("the share of n = %d", s.N), 1, s.Target, s.Observed, s.MCSE)
	}
	for k, i := range m.Inclusion {
		need(i.Probability.IsKnown() && (i.Probability == 0 || i.MeanAmount.IsKnown()), "the probability or the amount of ingredient %d is unknown", k)
		within(fmt.Sprintf("the probability of ingredient %d", k), 1, i.Probability, i.BookShare, i.MCSE)
		within(fmt.Sprintf("the amount of ingredient %d", k), float64(m.Problem.Total), i.MeanAmount, i.BookAmount, i.AmountMCSE)
	}
	if m.Pairs != nil {
		for _, list := range [][]Pair{m.Pairs.Together, m.Pairs.Apart} {
			for k, p := range list {
				need(p.Lift > 1e-9 && p.Lift < 1e9 && p.Expected > 1e-9 && p.Expected < 1e9, "the lift of pair %d is %v, expected %v", k, p.Lift, p.Expected)
				need(p.MCSE >= 0 && p.MCSE < large, "the error of pair %d is %v", k, p.MCSE)
			}
		}
	}
	for k, l := range m.Ladders {
		within(fmt.Sprintf("the barrier of ladder %d", k), float64(len(l.Rungs)), l.Barrier)
		for _, g := range l.Rungs {
			need(l.Barrier.IsKnown() && g.Beta.IsKnown() && g.Barrier.IsKnown(), "ladder %d has an unknown β or barrier", k)
			within(fmt.Sprintf("a rung of ladder %d", k), 1, g.Beta, g.Rejected, g.Forbidden)
			within(fmt.Sprintf("a barrier of ladder %d", k), float64(len(l.Rungs)), g.Barrier)
		}
		if leg := l.Learnt; leg != nil {
			within(fmt.Sprintf("the learnt leg of ladder %d", k), 1, leg.Rejected)
			within(fmt.Sprintf("the learnt barrier of ladder %d", k), float64(leg.Steps), leg.Barrier)
		}
		for _, g := range l.Rungs[:max(0, len(l.Rungs)-1)] {
			need(g.Rejected.IsKnown(), "ladder %d has a step of unknown rejections", k)
		}
	}
	for k, w := range m.Properties {
		if w.Forest != nil {
			for _, r := range w.Forest.Responses {
				need(w.Forest.Total > 0 && len(r.Points) >= 2 && math.Abs(float64(r.Swing)) < large, "a response of property %d has %d points", k, len(r.Points))
				for _, p := range r.Points {
					need(math.Abs(float64(p.Value)) < large && !(math.Abs(float64(p.Low)) >= large) && !(math.Abs(float64(p.High)) >= large), "a response of property %d is %v", k, p.Value)
				}
			}
			for _, r := range w.Forest.ConditionResponses {
				need(len(r.Points) >= 2 && math.Abs(float64(r.Swing)) < large, "a response to %s of property %d has %d points", r.Condition, k, len(r.Points))
				before := math.Inf(-1)
				for n, p := range r.Points {
					at, isNumber := p.At.(float64)
					_, isText := p.At.(string)
					need(isText && (n == 0 || math.IsInf(before, -1)) || isNumber && at > before && math.Abs(at) < large, "a response to %s of property %d is at %v", r.Condition, k, p.At)
					if isNumber {
						before = at
					}
					need(math.Abs(float64(p.Value)) < large && !(math.Abs(float64(p.Low)) >= large) && !(math.Abs(float64(p.High)) >= large), "a response of property %d is %v", k, p.Value)
				}
			}
			for _, h := range w.Forest.HeldOut {
				need(math.Abs(float64(h.Value)) < large && math.Abs(float64(h.Measured)) < large, "a held-out recipe of property %d is measured %v, predicted %v", k, h.Measured, h.Value)
				need(!(math.Abs(float64(h.Low)) >= large) && !(math.Abs(float64(h.High)) >= large), "a held-out recipe of property %d is predicted from %v to %v", k, h.Low, h.High)
			}
			for _, i := range w.Forest.Importances {
				need(math.Abs(float64(i.Mean)) < large && math.Abs(float64(i.SE)) < large, "an importance of property %d is %v ± %v", k, i.Mean, i.SE)
			}
		}
	}
	if h := m.Score.Histogram; h != nil {
		known("the histogram of scores", h.Edges, 2)
		known("the histogram of scores", h.Draws, 1)
		known("the histogram of scores", h.Random, 1)
		within("the histogram of scores", 1, h.Draws...)
		within("the histogram of scores", 1, h.Random...)
		within("the histogram of scores", 1, h.DrawsBelow, h.RandomBelow)
		need(len(h.Edges) == len(h.Draws)+1 && len(h.Edges) == len(h.Random)+1, "the histogram of scores has %d edges and %d and %d bins", len(h.Edges), len(h.Draws), len(h.Random))
	}
	for k, p := range m.Plots {
		for _, chain := range p.Ranks {
			known(fmt.Sprintf("rank plot %d", k), chain, 1)
			within(fmt.Sprintf("rank plot %d", k), 1, chain...)
		}
	}
}
