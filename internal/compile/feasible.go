package compile

import (
	"context"
	"errors"
	"fmt"
	"math"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"kir/internal/browsersched"
	"kir/internal/config/yaml"
	"kir/internal/constraint"
	"kir/internal/constraint/conflict"
	"kir/internal/inputerr"
	"kir/mcmc"
	"kir/rule"
)

// warnUnkept warns about rules that no known recipe keeps.
func (s *loader) warnUnkept(ctx context.Context, rules []Rule) error {
	if len(s.Recipes) == 0 {
		return nil
	}
	s.reportProgress("checking which rules the known recipes keep")
	for _, r := range rules {
		if err := browsersched.Err(ctx); err != nil {
			return err
		}
		alone := rule.Set{Ingredients: len(s.Names), Total: s.Total, Rules: r.Rules}
		conditions, err := constraint.FromRules(alone)
		if err != nil {
			return r.At.PlaceError(err)
		}
		if !slices.ContainsFunc(s.Recipes, conditions.Keeps) {
			s.Warn(fmt.Sprintf("No recipe in the book keeps the rule %q (%s:%d:%d). Is it meant so?", r.Text, r.At.File, r.At.Line, r.At.Column))
		}
	}
	return nil
}

// A ruleSet has the problem's rules as a set of package rule. That package does not know lines of files, so
// ruleSet also has the problem's rules.
type ruleSet struct {
	rule.Set
	problemRules []*Rule // by rule of the set: the problem's rule that it comes from
}

// newRuleSet returns the problem's rules as a ruleSet.
func newRuleSet(s *readContext, rules []Rule) *ruleSet {
	set := &ruleSet{Set: rule.Set{Ingredients: len(s.Names), Total: s.Total}}
	var texts []string
	for k := range rules {
		r := &rules[k]
		if r.Predicted != nil {
			continue
		}
		set.Rules = append(set.Rules, r.Rules...)
		if r.Texts != nil {
			texts = append(texts, r.Texts...)
		} else {
			texts = append(texts, r.Text)
		}
		for range r.Rules {
			set.problemRules = append(set.problemRules, r)
		}
	}
	same := make(map[string]int)
	for _, text := range texts {
		same[text]++
	}
	set.Name = func(i int) string { return s.Names[i] }
	set.Text = func(k int) string {
		if same[texts[k]] > 1 {
			return fmt.Sprintf("%s (%s)", inputerr.Quote(texts[k]), lineOf(set.problemRules[k].At, set.problemRules[0].At))
		}
		return inputerr.Quote(texts[k])
	}
	return set
}

// A ruledCount is a count of the compositions that keep the rules.
type ruledCount struct {
	count *mcmc.Count
	set   *ruleSet
	sizes *mcmc.Law
	rules []Rule
	law   *yaml.Node // node of the sparsity
}

// beginCount begins to count the compositions that keep the rules, for the sizes to which the law gives
// mass.
func (s *loader) beginCount(ctx context.Context, rules []Rule, plain *mcmc.Space, counting mcmc.Counting, law *yaml.Node) (*ruledCount, error) {
	sizes, err := counting.Law.On(plain)
	if err != nil {
		return nil, law.PlaceError(err)
	}
	set := newRuleSet(&s.readContext, rules)
	lo, hi := sizes.Support()
	for n := lo; n <= hi; n++ {
		if sizes.P(n) > 0 {
			set.Used = append(set.Used, n)
		}
	}
	s.reportProgress("checking whether %s can hold together", inputerr.Count(len(set.Rules), "rule"))
	why, err := conflict.Explain(ctx, set.Set)
	if err != nil {
		return nil, set.placeError(err)
	}
	if why != nil {
		return nil, set.conflictError(why, law)
	}
	count, err := mcmc.BeginRuledSpace(ctx, set.Set, counting)
	if err != nil {
		return nil, set.placeError(err)
	}
	return &ruledCount{count, set, sizes, rules, law}, nil
}

// finishCount returns the space of compositions that keep the rules.
func (s *loader) finishCount(ctx context.Context, c *ruledCount) (*mcmc.Space, error) {
	space, err := c.count.Finish(ctx)
	if err != nil {
		return nil, c.set.placeError(err)
	}
	if space.Cached() && s.notify != nil {
		s.notify("how many compositions keep the rules is known from " + cacheName + "; --no-cache works it out again")
	}
	if s.warnShares(space, c.sizes) {
		return space, nil
	}
	conditions, err := constraint.FromRules(c.set.Set)
	if err != nil {
		return nil, c.set.placeError(err)
	}
	var measured []string
	for _, k := range conditions.Uncounted() {
		measured = append(measured, c.set.Text(k))
	}
	return nil, yaml.Hint(c.rules[0].At.Errorf("no composition was found that keeps every rule, by a search from those that keep the rules which can be counted; that is no proof that there is none"), "loosen %s, or the sparsity on line %d", joinFirst(measured, 4), c.law.Line)
}

// joinFirst joins at most most texts, and counts the others.
func joinFirst(texts []string, most int) string {
	if len(texts) <= most {
		return strings.Join(texts, ", ")
	}
	return fmt.Sprintf("%s and %d more", strings.Join(texts[:most], ", "), len(texts)-most)
}

// lineOf names a line, and its file if that differs from the file of other.
func lineOf(at, other *yaml.Node) string {
	if at.File != other.File {
		return fmt.Sprintf("%s line %d", filepath.Base(at.File), at.Line)
	}
	return fmt.Sprintf("line %d", at.Line)
}

// conflictError returns the error for a conflict, with the lines of its rules. law is the node of the
// sparsity.
func (s *ruleSet) conflictError(c *conflict.Conflict, law *yaml.Node) error {
	place := law
	var lines []string
	for k, r := range c.Rules {
		at := s.problemRules[r].At
		if k == 0 {
			place = at
		}
		lines = append(lines, lineOf(at, law))
	}
	if c.Law {
		lines = append(lines, fmt.Sprintf("the sparsity on line %d", law.Line))
	}
	e := place.Errorf("the rules cannot all hold: %s", c.Cause)
	if len(lines) > 1 {
		e.Message += " (" + strings.Join(lines, ", ") + ")"
	}
	e.Hint, e.Err = c.FixText(), &ConflictError{c, s.Set, s.problemRules}
	return e
}

// placeError places an error about all rules at the first rule.
func (s *ruleSet) placeError(err error) error {
	if errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded) {
		return err
	}
	return s.problemRules[0].At.PlaceError(fmt.Errorf("the rules cannot be counted: %w", err))
}

// warnShares warns about sizes that the law asks for and the rules do not allow, and about shares that
// could not be measured well. some reports whether any size is left.
func (s *loader) warnShares(space *mcmc.Space, law *mcmc.Law) (some bool) {
	_, hi := law.Support()
	masses := make([]float64, hi+1)
	for n := range masses {
		masses[n] = law.P(n)
	}
	warnings, some := shareWarnings(masses, space.LogCounts(hi), space.LawErrors(masses), space.Shares())
	for _, w := range warnings {
		s.Warn(w)
	}
	return some
}

// shareWarnings returns the warnings of warnShares. Its slices are by n from 0 on: the law of n, log |X_n|
// and the errors of the law. shares are the shares of rules that cannot be counted, if there are any.
func shareWarnings(law, logs, errors []float64, shares []mcmc.Share) (warnings []string, some bool) {
	warn := func(format string, args ...any) { warnings = append(warnings, fmt.Sprintf(format, args...)) }
	var none, rough []string
	left := 0.0
	for n, p := range law {
		if p == 0 {
			continue
		}
		if math.IsInf(logs[n], -1) {
			if shares != nil && !shares[n-1].Counted {
				left += p
			} else {
				none = append(none, strconv.Itoa(n))
			}
			continue
		}
		some = true
		if errors[n] > 0.05*p && p > 0.001 {
			rough = append(rough, fmt.Sprintf("n = %d: %.2g ± %.1g", n, p, errors[n]))
		}
	}
	if len(none) > 0 && some {
		warn("No composition was found that keeps the rules with n = %s ingredients, which the sparsity law wants: they are left out of the law.", strings.Join(none, ", "))
	}
	if len(rough) > 0 {
		warn("How many compositions keep the rules that cannot be counted is known roughly only, and the law of n is as far off (%s). Loosen the rules, or leave fewer of them to be measured.", strings.Join(rough, "; "))
	}
	if left > 0 {
		warn("Numbers of ingredients to which the sparsity gives %.1g together are left out, as how many compositions there are would have to be measured.", left)
	}
	return warnings, some
}

// A ConflictError reports that the rules conflict. It has their places, so that a fix can be written into
// the problem file.
type ConflictError struct {
	*conflict.Conflict
	Set rule.Set
	Of  []*Rule // by rule of Set: the problem's rule that it comes from
}

// Unwrap returns the conflict.
func (e *ConflictError) Unwrap() error { return e.Conflict }
