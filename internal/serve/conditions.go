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

// A ConditionView is the page's view of a condition.
type ConditionView struct {
	Name   string   `json:"name"`
	Unit   string   `json:"unit"`
	Number bool     `json:"number"`
	Values []any    `json:"values"` // all that the file lists
	Texts  []string `json:"texts"`  // of the values, with the unit
	Given  any      `json:"given"`  // null: chosen with the recipes
}

// newConditionViews returns the page's view of a problem's conditions.
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

// A ConditionRow says which values of a condition the draws have.
type ConditionRow struct {
	Name string `json:"name"`
	Text string `json:"text"` // of a number, the median and what nine in ten draws have; else the shares of the commonest categories
}

// mostCategories is the greatest number of categories whose shares are said.
const mostCategories = 4

// newConditionRows says which values the draws have.
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
			for _, v := range order[:min(len(order), mostCategories)] {
				said = append(said, fmt.Sprintf("%s %s", of.Text(v), number.Percent(float64(counts[v])/float64(n))))
			}
			row.Text = strings.Join(said, ", ")
		}
		rows = append(rows, row)
	}
	return rows
}

// settingText writes the conditions of a draw, such as "temperature 185 °C, oven fan"; "" without conditions.
func settingText(p *compile.Problem, conditions []int32) string {
	var said []string
	for k, v := range conditions {
		said = append(said, p.Conditions[k].Name+" "+p.Conditions[k].Text(int(v)))
	}
	return strings.Join(said, ", ")
}

// moveConditions returns the values of the conditions of a draw of one problem as those of another: the same, or the
// nearest that the other offers.
func moveConditions(from, to []compile.Condition, conditions []int32) []int32 {
	if len(to) == 0 {
		return nil
	}
	moved := make([]int32, len(to))
	for k := range to {
		var value any
		if at := slices.IndexFunc(from, func(c compile.Condition) bool { return c.Name == to[k].Name }); at >= 0 && at < len(conditions) {
			value = from[at].Value(int(conditions[at]))
		}
		moved[k] = to[k].Nearest(value)
	}
	return moved
}
