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
	"kir/internal/number"
	"kir/mcmc"
	"kir/rule"
)

// warnRulesNoRecipeKeeps adds a warning for each rule that no known recipe keeps.
func (s *loader) warnRulesNoRecipeKeeps(ctx context.Context, rules []Rule) error {
	if len(s.Recipes) == 0 {
		return nil
	}
	s.reportProgress("checking which rules the known recipes keep")
	for _, r := range rules {
		if err := browsersched.Err(ctx); err != nil {
			return err
		}
		alone := rule.Set{Ingredients: len(s.IngredientNames), Total: s.Total, Rules: r.Rules}
		conditions, err := constraint.FromRules(alone)
		if err != nil {
			return r.Node.PlaceError(err)
		}
		if !slices.ContainsFunc(s.Recipes, conditions.AreKeptBy) {
			s.Warn(fmt.Sprintf("None of your recipes meets the constraint %q (%s:%d:%d). Is that intended?", r.Text, r.Node.File, r.Node.Line, r.Node.Column))
		}
	}
	return nil
}

// A ruleSet has the rules of a problem in the form of package rule. It also has the rules of the problem from
// which they were made, with their positions in the file.
type ruleSet struct {
	rule.Set
	problemRules []*Rule // item k is the rule of the problem from which rule k of Set was made
}

// newRuleSet returns the rules of a problem as a ruleSet. It leaves out rules that limit the prediction of a
// property.
func newRuleSet(s *readContext, rules []Rule) *ruleSet {
	set := &ruleSet{Set: rule.Set{Ingredients: len(s.IngredientNames), Total: s.Total}}
	var texts []string
	for k := range rules {
		r := &rules[k]
		if r.Predicted != nil {
			continue
		}
		set.Rules = append(set.Rules, r.Rules...)
		if r.RuleTexts != nil {
			texts = append(texts, r.RuleTexts...)
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
	set.Amount = func(units int) string { return number.ShortShare(units, s.Total) }
	set.Name = func(i int) string { return s.IngredientNames[i] }
	set.Text = func(k int) string {
		if same[texts[k]] > 1 {
			return fmt.Sprintf("%s (%s)", inputerr.QuoteSentence(texts[k]), lineReference(set.problemRules[k].Node, set.problemRules[0].Node))
		}
		return inputerr.QuoteSentence(texts[k])
	}
	return set
}

// A pendingCount is an unfinished count of the compositions that keep the rules.
type pendingCount struct {
	unfinishedCount    *mcmc.RuledSpaceCounting
	ruleSet            *ruleSet
	ingredientCountLaw *mcmc.Law // distribution of the number of ingredients
	rules              []Rule
	sparsityNode       *yaml.Node // YAML node of the sparsity law, that is, of the distribution of the number of ingredients
}

// beginCount begins to count the compositions that keep the rules. It counts them for every number of
// ingredients that has a positive probability. The node law has the sparsity law, which is the distribution of
// the number of ingredients.
func (s *loader) beginCount(ctx context.Context, rules []Rule, plain *mcmc.Space, counting mcmc.CountingOptions, law *yaml.Node) (*pendingCount, error) {
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
	return &pendingCount{count, set, sizes, rules, law}, nil
}

// finishCount finishes the count and returns the space of the compositions that keep the rules.
func (s *loader) finishCount(ctx context.Context, c *pendingCount) (*mcmc.Space, error) {
	space, err := c.unfinishedCount.Finish(ctx)
	if err != nil {
		return nil, c.ruleSet.placeError(err)
	}
	if space.UsedCache() && s.notify != nil {
		s.notify("the number of recipes that meet the constraints comes from " + cacheDirName + "; --no-cache counts again")
	}
	if s.warnIngredientCounts(space, c.ingredientCountLaw) {
		return space, nil
	}
	conditions, err := constraint.FromRules(c.ruleSet.Set)
	if err != nil {
		return nil, c.ruleSet.placeError(err)
	}
	var measured []string
	for _, k := range conditions.UncountedRules() {
		measured = append(measured, c.ruleSet.Text(k))
	}
	return nil, yaml.Hint(c.rules[0].Node.Errorf("the search found no recipe that meets every constraint; that does not prove that there is none"), "loosen %s, or the sparsity on line %d", joinFirstTexts(measured, 4), c.sparsityNode.Line)
}

// joinFirstTexts joins texts by commas. If there are more than limit texts, it joins the first limit texts, and
// tells how many are left.
func joinFirstTexts(texts []string, limit int) string {
	if len(texts) <= limit {
		return strings.Join(texts, ", ")
	}
	return fmt.Sprintf("%s and %d more", strings.Join(texts[:limit], ", "), len(texts)-limit)
}

// lineReference returns the line number of the node at, as text. It adds the file name if the node other is in
// another file.
func lineReference(at, other *yaml.Node) string {
	if at.File != other.File {
		return fmt.Sprintf("%s line %d", filepath.Base(at.File), at.Line)
	}
	return fmt.Sprintf("line %d", at.Line)
}

// conflictError returns the error that the rules in c exclude one another. The error has the lines of the
// rules. The node law has the distribution of the number of ingredients.
func (s *ruleSet) conflictError(c *conflict.Conflict, law *yaml.Node) error {
	place := law
	var lines []string
	for k, r := range c.Rules {
		at := s.problemRules[r].Node
		if k == 0 {
			place = at
		}
		lines = append(lines, lineReference(at, law))
	}
	if c.InvolvesUsedCounts {
		lines = append(lines, fmt.Sprintf("the sparsity on line %d", law.Line))
	}
	e := place.Errorf("these constraints cannot all hold: %s", c.Cause)
	if len(lines) > 1 {
		e.Message += " (" + strings.Join(lines, ", ") + ")"
	}
	e.Hint, e.Err = c.FixText(), &ConflictError{c, s.Set, s.problemRules}
	return e
}

// placeError adds the position of the first rule to an error that concerns all rules.
func (s *ruleSet) placeError(err error) error {
	if errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded) {
		return err
	}
	return s.problemRules[0].Node.PlaceError(fmt.Errorf("the rules cannot be counted: %w", err))
}

// warnIngredientCounts adds a warning if the rules do not allow some numbers of ingredients that the sparsity
// law wants. It also adds a warning if the number of compositions is known only roughly. The result some
// reports whether any number of ingredients remains.
func (s *loader) warnIngredientCounts(space *mcmc.Space, law *mcmc.Law) (some bool) {
	_, hi := law.Support()
	masses := make([]float64, hi+1)
	for n := range masses {
		masses[n] = law.P(n)
	}
	warnings, some := ingredientCountWarnings(masses, space.LogCounts(hi), space.LawStandardErrors(masses), space.UncountedRuleShares())
	for _, w := range warnings {
		s.Warn(w)
	}
	return some
}

// ingredientCountWarnings returns the warnings of warnIngredientCounts. In all slices but shares, item n is for
// n ingredients: law[n] is the probability of n, logs[n] is the logarithm of the number of compositions, and
// errors[n] is the standard error of the probability. Item n − 1 of shares has the measured shares of rules
// that cannot be counted, for n ingredients; shares may be nil.
func ingredientCountWarnings(law, logs, errors []float64, shares []mcmc.UncountedRuleShare) (warnings []string, some bool) {
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
			rough = append(rough, fmt.Sprintf("%s: %.2g ± %.1g %%", number.CountWithNoun(n, "ingredient"), 100*p, 100*errors[n]))
		}
	}
	if len(none) > 0 && some {
		noun := "ingredients"
		if len(none) == 1 && none[0] == "1" {
			noun = "ingredient"
		}
		warn("Sparsity asks for recipes of %s %s, but kir found none that meets the constraints: it leaves them out.", number.JoinOr(none), noun)
	}
	if len(rough) > 0 {
		warn("kir could only estimate how many recipes meet some constraints, so the shares of the numbers of ingredients are uncertain (%s). Loosen or remove such constraints.", strings.Join(rough, "; "))
	}
	if left > 0 {
		warn("kir leaves out numbers of ingredients that make up %.1g %% of sparsity, because it has not estimated how many recipes have them.", 100*left)
	}
	return warnings, some
}

// A ConflictError reports that rules exclude one another. It has the positions of the rules, so that a program
// can write a correction into the problem file.
type ConflictError struct {
	*conflict.Conflict
	Set          rule.Set
	ProblemRules []*Rule // item k is the rule of the problem from which rule k of Set was made
}

// Unwrap returns the conflict as an error.
func (e *ConflictError) Unwrap() error { return e.Conflict }
