package compile

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"

	"kir/internal/config/yaml"
	"kir/internal/inputerr"
	"kir/mcmc"
	"kir/property"
)

// Explain rewrites the text of a [mcmc.ScoreError] or a [mcmc.NoStartError] for users. It adds the position of
// the property in the problem file and the names of the ingredients. It returns other errors unchanged.
func (p *Problem) Explain(err error) error {
	var score *mcmc.ScoreError
	var none *mcmc.NoStartError
	switch {
	case errors.As(err, &score) && len(score.Parts) > 0:
		recipe := p.recipeText(score.Parts)
		w := p.propertyNamed(score.Objective)
		if w == nil || w.node == nil {
			return &explainedError{strings.Replace(err.Error(), score.Composition, recipe, 1), err}
		}
		e := p.invalidScoreError(w, score, recipe)
		if w.Kind == "program" { // the program failed, so the file has no error
			return &explainedError{e.Error(), err}
		}
		e.Err = err
		return e
	case errors.As(err, &none):
		w := p.propertyNamed(none.Objective)
		if w == nil || w.node == nil {
			return err
		}
		e := w.node.Errorf("no recipe was found to start from, among %d drawn at random: %s is 0 for %.3g %% of them, such as %s", none.Tries, inputerr.Quote(w.Name), 100*none.ZeroShare, p.recipeText(none.ExampleParts))
		e.Hint, e.Err = "a score of 0 forbids a recipe, so give what is only unwanted a small score, such as 0.01", err
		if none.ZeroShare < 1 {
			e.Hint += ", here or in the properties that are 0 for the others"
		}
		return e
	}
	return err
}

// invalidScoreError returns the error for a score that is negative, infinite or not a number. The property w
// gave the score to the composition whose text is recipe.
func (p *Problem) invalidScoreError(w *Property, score *mcmc.ScoreError, recipe string) *inputerr.Error {
	rule := "a score is at least 0 and finite"
	if e, ok := w.mcmcProperty.(*property.Expression); ok && !e.IsScore() {
		rule = "it must be a finite number"
	}
	if e, ok := w.mcmcProperty.(*property.Expression); ok {
		if x, err := p.Target.Space().Composition(score.Parts, nil); err == nil {
			switch y := e.Value(x); {
			case math.IsNaN(y):
				return yaml.Hint(w.node.Errorf("%s is not a number for %s", inputerr.Quote(w.Name), recipe), "%s; keep what log and sqrt are of, and what is divided by, above 0, such as log(max(…, 0.01))", rule)
			case y < 0 && e.IsScore():
				return yaml.Hint(w.node.Errorf("%s is %.4g for %s", inputerr.Quote(w.Name), y, recipe), "%s; write max(…, 0) for 0 instead, or exp(…) for a score that only falls", rule)
			case math.IsInf(y, 1):
				return yaml.Hint(w.node.Errorf("%s is infinite for %s", inputerr.Quote(w.Name), recipe), "%s; keep what is divided by above 0, such as 1 / max(…, 0.01), and exponents small", rule)
			}
		}
	}
	if score.Err != nil {
		return w.node.Errorf("%s failed for %s: %v", inputerr.Quote(w.Name), recipe, score.Err)
	}
	if math.IsNaN(score.Value) {
		return yaml.Hint(w.node.Errorf("%s is negative or not a number for %s", inputerr.Quote(w.Name), recipe), "%s", rule)
	}
	return yaml.Hint(w.node.Errorf("%s, to the power of its weight %v, is infinite for %s", inputerr.Quote(w.Name), w.Weight, recipe), "%s", rule)
}

// propertyNamed returns the property with a name, or nil if there is none.
func (p *Problem) propertyNamed(name string) *Property {
	k := slices.IndexFunc(p.Properties, func(w Property) bool { return w.Name == name })
	if k < 0 {
		return nil
	}
	return &p.Properties[k]
}

// recipeText returns the amounts of a composition as text, with the names of the ingredients.
func (p *Problem) recipeText(parts []mcmc.Part) string {
	const shown = 12
	var b strings.Builder
	for k, part := range parts {
		if k == shown {
			fmt.Fprintf(&b, " and %d more", len(parts)-shown)
			break
		}
		if k > 0 {
			b.WriteString(", ")
		}
		fmt.Fprintf(&b, "%d %s", part.Amount, inputerr.Quote(p.Ingredients[part.Ingredient]))
	}
	return b.String()
}

// An explainedError is an error whose text was rewritten for users.
type explainedError struct {
	text string
	err  error
}

func (e *explainedError) Error() string { return e.text }
func (e *explainedError) Unwrap() error { return e.err }
