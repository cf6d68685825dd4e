package serve

import (
	"math"
	"net/http"
	"slices"

	"kir/internal/portable"
	"kir/internal/recipemap"
	"kir/internal/report"
	"kir/mcmc"
)

// maxMapDraws is the maximum number of draws that the map shows.
const maxMapDraws = 1500

// A PCAMap shows draws and known recipes as points in a plane; see [recipemap.Place].
type PCAMap struct {
	Points    []Point       `json:"points"`
	Explained report.Number `json:"explained"` // share of the variance that the two axes explain
	Left      []string      `json:"left"`      // names of the ingredients that are most typical of recipes on the left side
	Right     []string      `json:"right"`     // names of the ingredients that are most typical of recipes on the right side
	Lower     []string      `json:"lower"`     // names of the ingredients that are most typical of recipes at the bottom
	Upper     []string      `json:"upper"`     // names of the ingredients that are most typical of recipes at the top

	Conditions []MapCondition `json:"conditions,omitempty"` // conditions that the page offers for colouring the points
}

// A MapCondition is a condition that the page offers for colouring the points of a map.
type MapCondition struct {
	Name   string   `json:"name"`
	Number bool     `json:"number"` // whether the values are numbers
	Texts  []string `json:"texts"`  // item k is value k of the condition as a text
}

// A Point is a recipe on a [PCAMap].
type Point struct {
	X               float64       `json:"x"`             // coordinate on the first principal component
	Y               float64       `json:"y"`             // coordinate on the second principal component
	Score           report.Number `json:"score"`         // score of the recipe divided by the highest score on the map; unknown if the problem forbids the recipe
	Name            string        `json:"name"`          // name of a known recipe; empty for a draw
	Text            string        `json:"text"`          // the recipe in words
	ConditionValues []int32       `json:"set,omitempty"` // item k is the index of the recipe's value of condition k of the map
}

// respondWithMap responds with the [PCAMap] of the current step.
func (s *Session) respondWithMap(r *http.Request) (any, error) {
	_, p, kept, err := s.waitForDraws(r.Context())
	if err != nil {
		return nil, err
	}
	all := slices.Concat(kept...)
	every := max(1, (len(all)+maxMapDraws-1)/maxMapDraws)
	var rows []keptDraw
	for k := 0; k < len(all); k += every {
		rows = append(rows, all[k])
	}
	draws := len(rows)
	known, err := p.KnownRecipes()
	if err != nil {
		return nil, err
	}
	for _, x := range known {
		score, err := p.Target.LogScore(x)
		if err != nil {
			score = math.Inf(-1)
		}
		rows = append(rows, keptDraw{parts: x.Parts(), conditions: x.AppendConditions(nil), logScore: score})
	}
	out := &PCAMap{Points: []Point{}, Explained: report.UnknownNumber()}
	if draws < 3 {
		return out, nil
	}
	top := math.Inf(-1)
	for _, x := range rows {
		top = max(top, x.logScore)
	}
	recipes := make([][]mcmc.Part, len(rows))
	for k, x := range rows {
		recipes[k] = x.parts
	}
	axes, at := recipemap.Place(recipes, draws, len(p.Ingredients))
	if axes == nil {
		return out, nil
	}
	out.Explained = report.Number(axes.ExplainedVariance)
	for k := range p.Conditions {
		of := MapCondition{Name: p.Conditions[k].Name, Number: p.Conditions[k].Numbers != nil}
		for v := range p.Conditions[k].Len() {
			of.Texts = append(of.Texts, p.Conditions[k].Text(v))
		}
		out.Conditions = append(out.Conditions, of)
	}
	for k, x := range rows {
		point := Point{X: at[k][0], Y: at[k][1], Score: report.UnknownNumber(), Text: recipeText(p, x), ConditionValues: x.conditions}
		if x.logScore > math.Inf(-1) {
			point.Score = report.Number(portable.Exp(x.logScore - top))
		}
		if k >= draws {
			point.Name = p.Book.Recipes[k-draws].Name
		}
		out.Points = append(out.Points, point)
	}
	for a, ends := range [2][2]*[]string{{&out.Left, &out.Right}, {&out.Lower, &out.Upper}} {
		for e, to := range ends {
			*to = []string{}
			for _, i := range axes.ExtremeIngredients(a, e == 1) {
				*to = append(*to, p.Ingredients[i])
			}
		}
	}
	return out, nil
}
