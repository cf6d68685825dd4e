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

// ReadTable reads a table of recipes of the problem's ingredients, with its units.
func (p *Problem) ReadTable(ctx context.Context, path string, layout dataset.Layout) (*dataset.Book, error) {
	o, err := p.BookOptions()
	if err != nil {
		return nil, err
	}
	o.Layout = layout
	return dataset.ReadFile(ctx, path, o)
}

// BookOptions returns the options for reading tables of the problem's ingredients.
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

// BrokenRules returns the rules that a recipe breaks, in the file's order, and behind them the conditions that are
// beyond the values that may be offered.
func (p *Problem) BrokenRules(parts []mcmc.Part, under Setting) ([]Breach, error) {
	one := []Scored{{Parts: parts, Conditions: under.Offered}}
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

// A Scored is a recipe with its scores and the rules that it breaks.
type Scored struct {
	Parts      []mcmc.Part // closed to the total
	Conditions []int32     // by condition: the index of the offered value nearest to the table's; nil without conditions
	Book       int         // index of the recipe of the book with the same amounts; −1 if there is none
	Scores     []float64   // y_k by property; NaN if no model can score it without having seen it
	Score      float64     // Π y_k over the properties that count, each with weight 1
	Broken     []Breach    // rules that it breaks, in the file's order
}

// A Breach is a rule that a recipe breaks.
type Breach struct {
	Text  string
	What  string            // for a limit of a property, the name of the figure, such as "cost"; else empty
	Slack *constraint.Slack // the figure outside its bounds; nil if there is none
}

// Score scores all recipes, even those that break rules. Recipes of the book are scored by models that have
// not seen them.
func (p *Problem) Score(book *dataset.Book) ([]Scored, error) {
	known, err := p.KnownRecipes()
	if err != nil {
		return nil, err
	}
	conditions, err := p.conditionsOf(book)
	if err != nil {
		return nil, err
	}
	out := make([]Scored, len(book.Recipes))
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
		out[r].Book = slices.IndexFunc(known, of[r].Equal)
		out[r].Score = 1
	}
	for k := range p.Properties {
		w := &p.Properties[k]
		var fair []float64
		if p.Book != nil && w.learnt != nil {
			if fair, err = w.knownScores(p, known); err != nil {
				return nil, err
			}
		}
		for r := range out {
			y := portable.Exp(w.property.LogScore(of[r]))
			if b := out[r].Book; b >= 0 && fair != nil && !w.isUnlabelled(p, b) {
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

// isUnlabelled reports whether a model was learnt from the book without one of its recipes, because that
// has no label.
func (w *Property) isUnlabelled(p *Problem, recipe int) bool {
	if w.learnt.data == nil {
		return false
	}
	return !slices.Contains(w.learnt.recipes, recipe)
}

// findBreaches finds the rules that recipes break, including the law of n.
func (p *Problem) findBreaches(all []Scored) error {
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
				if k < len(p.limits) {
					breach.What, breach.Slack = p.limits[k].subject, p.limits[k].slackOf(x)
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
				return r.At.PlaceError(err)
			}
			text := r.Text
			if r.Texts != nil {
				text = r.Texts[k]
			}
			for s := range all {
				if conditions.Keeps(all[s].Parts) {
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
	return p.findTiedBreaches(all)
}

// findTiedBreaches adds the rules that depend on conditions and that the recipes break.
func (p *Problem) findTiedBreaches(all []Scored) error {
	for _, r := range p.TiedRules {
		conditions, err := constraint.FromRules(rule.Set{Ingredients: len(p.Ingredients), Total: p.Total, Rules: r.Rules})
		if err != nil {
			return r.At.PlaceError(err)
		}
		for s := range all {
			applies := all[s].Conditions != nil && !slices.ContainsFunc(r.When, func(w config.ConditionValues) bool {
				return !w.Allowed[p.Conditions[w.Condition].listed[all[s].Conditions[w.Condition]]]
			})
			if applies && (r.Forbids || !conditions.Keeps(all[s].Parts)) {
				all[s].Broken = append(all[s].Broken, Breach{Text: r.Text})
			}
		}
	}
	return nil
}
