package assemble

import (
	"math"

	"kir/internal/compile"
	"kir/internal/dataset"
	"kir/internal/report"
)

// Scorecard scores the recipes of a table for a problem.
func Scorecard(p *compile.Problem, book *dataset.Book) (*report.Scorecard, error) {
	scored, err := p.Score(book)
	if err != nil {
		return nil, p.Explain(err)
	}
	models, err := newPredictors(p)
	if err != nil {
		return nil, err
	}
	card := &report.Scorecard{Problem: newReportProblem(p), Properties: newReportProperties(p)}
	if card.Warnings, err = p.ConditionWarnings(book); err != nil {
		return nil, err
	}
	values := newNamedValues(p)
	for r, s := range scored {
		out := report.ScoredRecipe{
			Recipe: book.Recipes[r].Name, Used: len(s.Parts), Conditions: conditionValues(p, s.Conditions), Score: report.Number(s.Score), Scores: make(map[string]report.Number), Broken: []report.Breach{},
		}
		if s.KnownIndex >= 0 {
			out.Book = p.Book.Recipes[s.KnownIndex].Name
		}
		x, err := p.Target.Space().Composition(s.Parts, s.Conditions)
		if err != nil {
			return nil, err
		}
		for k, w := range p.Properties {
			out.Scores[w.Name] = report.Number(s.Scores[k])
			out.OutOfBag = out.OutOfBag || s.KnownIndex >= 0 && w.ScoresByHeldOut()
		}
		for k := range models {
			w := &models[k]
			q, known := report.Prediction{}, true
			if s.KnownIndex < 0 || w.Model == nil {
				q = w.predict(x)
			} else {
				q, known = w.predictHeldOut(s.KnownIndex) // what has seen a recipe says nothing of how it predicts it
			}
			if known {
				if out.Predicted == nil {
					out.Predicted = make(map[string]report.Prediction)
				}
				out.Predicted[w.Name] = q
			}
		}
		out.Values = compositionValues(values, x, out.Predicted)
		for _, b := range s.Broken {
			breach := report.Breach{Rule: b.Text, What: b.LimitedName, Value: report.UnknownNumber(), Bound: report.UnknownNumber()}
			if b.Slack != nil {
				breach.Unit, breach.Value, breach.Bound = b.Slack.Unit, report.Number(b.Slack.Value), report.Number(b.Slack.Max)
				if b.Slack.Value < b.Slack.Min || math.IsInf(b.Slack.Max, 1) {
					breach.Bound = report.Number(b.Slack.Min)
				}
				if b.Slack.Ingredient >= 0 {
					breach.Ingredient = p.Ingredients[b.Slack.Ingredient]
				}
			}
			out.Broken = append(out.Broken, breach)
		}
		card.Recipes = append(card.Recipes, out)
	}
	return card, nil
}
