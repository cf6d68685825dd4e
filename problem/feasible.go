package problem

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"

	"kir"
	"kir/fault"
	"kir/rule"
)

// warnRules warns of rules that no known recipe keeps.
func (l *loader) warnRules() error {
	if len(l.rows) == 0 {
		return nil
	}
	for _, r := range l.problem.Rules {
		alone := rule.Set{Ingredients: len(l.problem.Ingredients), Total: l.problem.Total, Rules: r.Rules}
		conditions, err := alone.Conditions()
		if err != nil {
			return r.at.blame(err)
		}
		if !slices.ContainsFunc(l.rows, conditions.Keeps) {
			l.problem.Warnings = append(l.problem.Warnings, fmt.Sprintf("No recipe in the book keeps the rule %q (%s:%d:%d). Is it meant so?", r.Text, r.at.file, r.at.line, r.at.column))
		}
	}
	return nil
}

// ruleSet returns the problem's rules as a set.
func (l *loader) ruleSet() rule.Set {
	p := l.problem
	s := rule.Set{Ingredients: len(p.Ingredients), Total: p.Total}
	same := make(map[string]int)
	var texts []string
	l.ruleOf = nil
	for k := range p.Rules {
		r := &p.Rules[k]
		s.Rules = append(s.Rules, r.Rules...)
		if r.texts != nil {
			texts = append(texts, r.texts...)
		} else {
			texts = append(texts, r.Text)
		}
		for range r.Rules {
			l.ruleOf = append(l.ruleOf, r)
		}
	}
	for _, text := range texts {
		same[text]++
	}
	s.Name = func(i int) string { return p.Ingredients[i] }
	s.Text = func(k int) string {
		if same[texts[k]] > 1 {
			return fmt.Sprintf("%s (line %d)", fault.Quote(texts[k]), l.ruleOf[k].at.line)
		}
		return fault.Quote(texts[k])
	}
	return s
}

// space returns the space of the problem with its rules, counted for the sizes
// to which the law gives mass.
func (l *loader) space(plain *kir.Space, law kir.Sparsity, at *node) (*kir.Space, error) {
	if len(l.problem.Rules) == 0 {
		return plain, nil
	}
	sizes, err := law.On(plain)
	if err != nil {
		return nil, at.errorf("%v", err)
	}
	set := l.ruleSet()
	lo, hi := sizes.Support()
	for n := lo; n <= hi; n++ {
		if sizes.P(n) > 0 {
			set.Used = append(set.Used, n)
		}
	}
	conflict, err := set.Explain(l.ctx)
	if err != nil {
		return nil, l.blameRules(err)
	}
	if conflict != nil {
		return nil, l.conflictError(conflict, at)
	}
	space, err := kir.NewRuledSpace(l.ctx, set, hi)
	if err != nil {
		return nil, l.blameRules(err)
	}
	if !l.warnShares(space, sizes) {
		conditions, err := set.Conditions()
		if err != nil {
			return nil, l.blameRules(err)
		}
		var measured []string
		for _, k := range conditions.Uncounted() {
			measured = append(measured, set.Text(k))
		}
		return nil, hint(l.problem.Rules[0].at.errorf("no composition was found that keeps every rule, among 1,000,000 drawn for each number of ingredients that keep those which can be counted"), "loosen %s, or the sparsity on line %d", strings.Join(measured, ", "), at.line)
	}
	return space, nil
}

// conflictError says of a conflict where its rules stand. law is where the
// sparsity is.
func (l *loader) conflictError(c *rule.Conflict, law *node) error {
	place := law
	var lines []string
	for k, r := range c.Rules {
		at := l.ruleOf[r].at
		if k == 0 {
			place = at
		}
		lines = append(lines, fmt.Sprintf("line %d", at.line))
	}
	if c.Law {
		lines = append(lines, fmt.Sprintf("the sparsity on line %d", law.line))
	}
	e := place.errorf("the rules cannot all hold: %s", c.Cause)
	if len(lines) > 1 {
		e.Message += " (" + strings.Join(lines, ", ") + ")"
	}
	e.Hint, e.Err = c.WaysOut(), c
	return e
}

// blameRules gives an error about all rules the place of the first.
func (l *loader) blameRules(err error) error {
	if errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded) {
		return err
	}
	return l.problem.Rules[0].at.blame(fmt.Errorf("the rules cannot be counted: %w", err))
}

// warnShares warns of sizes that the law wants and the rules do not allow, and
// of shares that could not be measured well. It returns whether any size is
// left.
func (l *loader) warnShares(space *kir.Space, law *kir.Law) (some bool) {
	var none, rough []string
	lo, hi := law.Support()
	logs := space.LogCounts(hi)
	shares := space.Shares()
	for n := lo; n <= hi; n++ {
		if law.P(n) == 0 {
			continue
		}
		if math.IsInf(logs[n], -1) {
			none = append(none, itoa(n))
			continue
		}
		some = true
		if shares != nil && shares[n-1].SE > 0.02*shares[n-1].Estimate {
			rough = append(rough, fmt.Sprintf("n = %d: %.2g ± %.1g", n, shares[n-1].Estimate, shares[n-1].SE))
		}
	}
	if len(none) > 0 && some {
		l.problem.Warnings = append(l.problem.Warnings, fmt.Sprintf("No composition was found that keeps the rules with n = %s ingredients, which the sparsity law wants: they are left out of the law.", strings.Join(none, ", ")))
	}
	if len(rough) > 0 {
		l.problem.Warnings = append(l.problem.Warnings, fmt.Sprintf("The share of compositions that keep the rules which cannot be counted is known roughly only, and the law of n is as far off (%s). Loosen the rules, or leave fewer of them to be measured.", strings.Join(rough, "; ")))
	}
	return some
}
