package compile

import (
	"context"
	"fmt"
	"math"
	"slices"

	"kir/internal/config"
	"kir/internal/constraint"
	"kir/internal/dataset"
	"kir/internal/inputerr"
	"kir/internal/portable"
	"kir/mcmc"
	"kir/rule"
)

// ReadTable reads a table of recipes of the problem's ingredients, in the units of the problem.
func (p *Problem) ReadTable(ctx context.Context, path string, layout dataset.Layout) (*dataset.Book, error) {
	o, err := p.BookOptions()
	if err != nil {
		return nil, err
	}
	o.Layout = layout
	return dataset.ReadFile(ctx, path, o)
}

// BookOptions returns the options for reading a table of recipes of the problem's ingredients.
func (p *Problem) BookOptions() (dataset.Options, error) {
	in := p.attributes
	if in == nil {
		var err error
		if in, err = dataset.NewIngredients(p.Ingredients...); err != nil {
			return dataset.Options{}, err
		}
	}
	o := dataset.Options{Ingredients: in, Units: p.units, LabelsOptional: true}
	for _, c := range p.Conditions {
		o.Labels, o.Conditions = append(o.Labels, c.Name), append(o.Conditions, c.Name)
	}
	return o, nil
}

// BrokenRules returns the rules that a recipe breaks, in the order of the file. After them it lists the
// conditions whose value in the setting under is outside the offered values.
func (p *Problem) BrokenRules(parts []mcmc.Part, under Setting) ([]Breach, error) {
	one := []ScoredRecipe{{Parts: parts, Conditions: under.OfferedIndices}}
	if err := p.findBreaches(one); err != nil {
		return nil, err
	}
	for k, v := range under.Values {
		if c := &p.Conditions[k]; v != nil && !c.Allows(v) {
			one[0].Broken = append(one[0].Broken, Breach{Text: fmt.Sprintf("%s: %s", c.Name, c.OfferedText())})
		}
	}
	return one[0].Broken, nil
}

// A ScoredRecipe is a recipe with its scores and with the rules that it breaks.
type ScoredRecipe struct {
	Parts      []mcmc.Part // amounts of the recipe, scaled to the total in whole units
	Conditions []int32     // item k is the index of the offered value of condition k that is nearest to the value in the recipe; nil without conditions
	KnownIndex int         // index of the known recipe with the same amounts and conditions; −1 if there is none
	Scores     []float64   // item k is the score y_k by property k; NaN if every model may have learnt from the recipe
	Score      float64     // product of the scores y_k of the properties with a positive weight; exponents are not applied
	Broken     []Breach    // rules that the recipe breaks, in the order of the file
}

// A Breach is a rule that a recipe breaks.
type Breach struct {
	Text        string            // text of the rule
	LimitedName string            // name of the limited value, such as "cost", if the rule limits a prediction; otherwise empty
	Slack       *constraint.Slack // the value that is outside its bounds, together with the bounds; nil if the rule has no such value
}

// Score scores all recipes of the book, even recipes that break rules. A known recipe is scored by models that
// have not learnt from that recipe.
func (p *Problem) Score(book *dataset.Book) ([]ScoredRecipe, error) {
	known, err := p.KnownRecipes()
	if err != nil {
		return nil, err
	}
	conditions, err := p.nearestOfferedByRecipe(book)
	if err != nil {
		return nil, err
	}
	out := make([]ScoredRecipe, len(book.Recipes))
	of := make([]*mcmc.Composition, len(out))
	for r := range out {
		amounts, err := book.Closure(r, p.Total)
		if err != nil {
			return nil, err
		}
		for k, part := range book.Recipes[r].Parts {
			out[r].Parts = append(out[r].Parts, mcmc.Part{Ingredient: int(part.Ingredient), Amount: amounts[k]})
		}
		slices.SortFunc(out[r].Parts, func(a, b mcmc.Part) int { return a.Ingredient - b.Ingredient })
		out[r].Conditions = conditions[r]
		if of[r], err = p.Target.Space().Composition(out[r].Parts, out[r].Conditions); err != nil {
			return nil, fmt.Errorf("recipe %d: %w", r, err)
		}
		out[r].KnownIndex = slices.IndexFunc(known, of[r].Equal)
		out[r].Score = 1
	}
	for k := range p.Properties {
		w := &p.Properties[k]
		var fair []float64
		if p.Book != nil && w.learntModel != nil {
			if fair, err = w.knownScores(p, known); err != nil {
				return nil, err
			}
		}
		for r, log := range (mcmc.Objective{Property: w.mcmcProperty}).LogScores(of) {
			y := portable.Exp(log)
			if b := out[r].KnownIndex; b >= 0 && fair != nil && !w.wasNotTrainedOn(p, b) {
				y = fair[b]
			}
			out[r].Scores = append(out[r].Scores, y)
			if w.Weight > 0 {
				out[r].Score = float64(out[r].Score * y)
			}
		}
	}
	return out, p.findBreaches(out)
}

// ScoreByResults scores the known recipes by what was measured of them. The score y_k of a property
// that was learnt from a label is that of the recipe's own label: 1 for a wanted class and 0 for
// another, and [model.Want.Desirability] of a number. A recipe without the label has the score by
// models that have not learnt from it, as in [Problem.Score]. The field KnownIndex of recipe r is r.
func (p *Problem) ScoreByResults() ([]ScoredRecipe, error) {
	known, err := p.KnownRecipes()
	if err != nil {
		return nil, err
	}
	out := make([]ScoredRecipe, len(known))
	for r, x := range known {
		out[r] = ScoredRecipe{Parts: x.Parts(), Conditions: x.AppendConditions(nil), KnownIndex: r, Score: 1}
	}
	for k := range p.Properties {
		w := &p.Properties[k]
		scores, err := w.knownScores(p, known)
		if err != nil {
			return nil, err
		}
		for r, measured := range w.measuredScores(p.Book) {
			if !math.IsNaN(measured) {
				scores[r] = measured
			}
		}
		for r := range out {
			out[r].Scores = append(out[r].Scores, scores[r])
			if w.Weight > 0 {
				out[r].Score = float64(out[r].Score * scores[r])
			}
		}
	}
	return out, p.findBreaches(out)
}

// measuredScores returns the score of each known recipe by its own label; see
// [Problem.ScoreByResults]. A score is NaN if the recipe has no such label. The result is nil if the
// property was not learnt from the recipes.
func (w *Property) measuredScores(b *dataset.Book) []float64 {
	if !w.ScoresByHeldOut() || b == nil {
		return nil
	}
	scores := make([]float64, len(b.Recipes))
	for r := range scores {
		scores[r] = math.NaN()
	}
	if w.Class == "" {
		least, greatest := w.Model.Range()
		for r, v := range w.MeasuredNumbers() {
			scores[r] = w.learntModel.wantedValues.Desirability(v, least, greatest)
		}
	} else if label, ok := b.Label(w.Model.Label()); ok {
		for r := range scores {
			scores[r] = w.ClassMembership(label, r)
		}
	}
	return scores
}

// wasNotTrainedOn reports whether the model of the property has not learnt from the known recipe with the given
// index, because that recipe has no value of the label.
func (w *Property) wasNotTrainedOn(p *Problem, recipe int) bool {
	if w.learntModel.trainingData == nil {
		return false
	}
	return !slices.Contains(w.learntModel.recipeByRow, recipe)
}

// findBreaches adds to each recipe the rules that it breaks. If the sparsity law excludes the recipe's number
// of ingredients, this counts as a broken rule.
func (p *Problem) findBreaches(all []ScoredRecipe) error {
	for s := range all {
		if n := len(all[s].Parts); p.Target.Law().P(n) == 0 {
			all[s].Broken = append(all[s].Broken, Breach{Text: "sparsity: compositions of " + inputerr.Count(n, "ingredient") + " are never drawn"})
		}
	}
	for k, b := range p.Target.Bounds() {
		for s := range all {
			x, err := p.Target.Space().Composition(all[s].Parts, all[s].Conditions)
			if err != nil {
				return err
			}
			if math.IsInf(b.Property.LogScore(x), -1) {
				breach := Breach{Text: b.Name}
				if k < len(p.shownLimits) {
					breach.LimitedName, breach.Slack = p.shownLimits[k].subject, p.shownLimits[k].slackOf(x)
				}
				all[s].Broken = append(all[s].Broken, breach)
			}
		}
	}
	for _, r := range p.Rules {
		for k, one := range r.Rules {
			alone := rule.Set{Ingredients: len(p.Ingredients), Total: p.Total, Rules: []rule.Rule{one}}
			conditions, err := constraint.FromRules(alone)
			if err != nil {
				return r.Node.PlaceError(err)
			}
			text := r.Text
			if r.RuleTexts != nil {
				text = r.RuleTexts[k]
			}
			for s := range all {
				if conditions.AreKeptBy(all[s].Parts) {
					continue
				}
				b := Breach{Text: text}
				for _, slack := range constraint.Slacks(one, all[s].Parts, p.Total) {
					if slack.Room() < 0 && (b.Slack == nil || slack.Room() < b.Slack.Room()) {
						b.Slack = &slack
					}
				}
				all[s].Broken = append(all[s].Broken, b)
			}
		}
	}
	return p.addTiedBreaches(all)
}

// addTiedBreaches adds to each recipe those broken rules that hold only for some values of conditions.
func (p *Problem) addTiedBreaches(all []ScoredRecipe) error {
	for _, r := range p.TiedRules {
		conditions, err := constraint.FromRules(rule.Set{Ingredients: len(p.Ingredients), Total: p.Total, Rules: r.Rules})
		if err != nil {
			return r.Node.PlaceError(err)
		}
		for s := range all {
			applies := all[s].Conditions != nil && !slices.ContainsFunc(r.ConditionValues, func(w config.ConditionValues) bool {
				return !w.Allowed[p.Conditions[w.Condition].listedIndices[all[s].Conditions[w.Condition]]]
			})
			if applies && (r.Forbids || !conditions.AreKeptBy(all[s].Parts)) {
				all[s].Broken = append(all[s].Broken, Breach{Text: r.Text})
			}
		}
	}
	return nil
}
