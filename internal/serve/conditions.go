package serve

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"kir/internal/compile"
	"kir/internal/config"
	"kir/internal/number"
)

// A ConditionView is what the page shows of a condition under which recipes are made, such as a
// temperature.
type ConditionView struct {
	Name   string   `json:"name"`
	Unit   string   `json:"unit"`
	Number bool     `json:"number"` // whether the values are numbers
	Values []any    `json:"values"` // all values that the problem file lists
	Texts  []string `json:"texts"`  // item k is Values[k] as a text, with the unit
	Given  any      `json:"given"`  // value that the user has fixed; nil if the value is chosen together with the recipes
}

// newConditionViews returns what the page shows of each condition of a problem.
func newConditionViews(all []config.Condition) []ConditionView {
	views := []ConditionView{}
	for k := range all {
		of := &all[k]
		v := ConditionView{Name: of.Name, Unit: of.Unit, Number: of.IsNumeric()}
		for at := range of.Len() {
			if of.IsNumeric() {
				v.Values = append(v.Values, of.Numbers[at])
			} else {
				v.Values = append(v.Values, of.Categories[at])
			}
			v.Texts = append(v.Texts, of.ValueText(at))
		}
		switch {
		case of.Given && of.IsNumeric():
			v.Given = of.GivenNumber
		case of.Given:
			v.Given = of.GivenCategory
		}
		views = append(views, v)
	}
	return views
}

// A ConditionRow is a summary of the values that one condition has in the draws.
type ConditionRow struct {
	Name string `json:"name"`
	Text string `json:"text"` // for a numeric condition, the median and the range of nine in ten draws; for categories, the shares of the most frequent categories
}

// maxCategories is the maximum number of categories in [ConditionRow.Text].
const maxCategories = 4

// newConditionRows returns a summary of the values of each condition in the draws, which are
// indexed by chain.
func newConditionRows(p *compile.Problem, kept [][]keptDraw) []ConditionRow {
	rows := []ConditionRow{}
	draws := slices.Concat(kept...)
	for k := range p.Conditions {
		of := &p.Conditions[k]
		values := make([]int, 0, len(draws))
		counts := make([]int, of.Len())
		for _, x := range draws {
			values = append(values, int(x.conditions[k]))
			counts[x.conditions[k]]++
		}
		slices.Sort(values)
		row := ConditionRow{Name: of.Name}
		switch n := len(values); {
		case n == 0:
		case of.Numbers != nil:
			row.Text = fmt.Sprintf("%s (%s to %s)", of.Text(values[n/2]), number.RoundTrip(of.Numbers[values[n/20]]), of.Text(values[n-1-n/20]))
		default:
			order := make([]int, of.Len())
			for v := range order {
				order[v] = v
			}
			slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(counts[b], counts[a]) })
			var said []string
			for _, v := range order[:min(len(order), maxCategories)] {
				said = append(said, fmt.Sprintf("%s %s", of.Text(v), number.Percent(float64(counts[v])/float64(n))))
			}
			row.Text = strings.Join(said, ", ")
		}
		rows = append(rows, row)
	}
	return rows
}

// conditionsText formats the conditions of a draw, such as "temperature 185 °C, oven fan". The text
// is empty without conditions.
func conditionsText(p *compile.Problem, conditions []int32) string {
	var said []string
	for k, v := range conditions {
		said = append(said, p.Conditions[k].Name+" "+p.Conditions[k].Text(int(v)))
	}
	return strings.Join(said, ", ")
}

// convertConditions converts the condition values of a draw from one problem to another. Item k of
// values is an index into the list of values of condition from[k]. The result has indices into the
// lists of the conditions to. A value that the other problem does not offer becomes the nearest
// value that it offers.
func convertConditions(from, to []compile.Condition, values []int32) []int32 {
	if len(to) == 0 {
		return nil
	}
	moved := make([]int32, len(to))
	for k := range to {
		var value any
		if at := slices.IndexFunc(from, func(c compile.Condition) bool { return c.Name == to[k].Name }); at >= 0 && at < len(values) {
			value = from[at].Value(int(values[at]))
		}
		moved[k] = to[k].Nearest(value)
	}
	return moved
}
