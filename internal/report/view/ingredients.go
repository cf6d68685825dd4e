package view

import (
	"cmp"
	"fmt"
	"slices"

	"kir/internal/number"
	"kir/internal/report"
	"kir/internal/run"
	"kir/internal/terminal"
)

// maxTextIngredients is the largest number of ingredients that the text report lists.
const maxTextIngredients = 10

// standardErrorText explains the sign ± of a table.
const standardErrorText = "±: standard error."

// moreText counts the rows that a table leaves out, and names the command that prints them. The
// parameter dir is the location of the run; if it is empty, there is no such command.
func moreText(n int, dir string) string {
	if dir == "" {
		return number.Thousands(n) + " more"
	}
	return fmt.Sprintf("%s more: kir show %s --json", number.Thousands(n), terminal.EscapeControls(terminal.ShellWord(dir)))
}

// writeIngredients writes the most frequent ingredients and the pairs of ingredients. The parameter
// dir is the location of the run; it may be empty.
func writeIngredients(m *report.Model, p *terminal.Printer, dir string) {
	order := m.IndicesByFrequency()
	if len(order) == 0 || !(m.Inclusion[order[0]].Probability > 0) {
		return
	}
	p.Heading("%s", p.Bold("Ingredients: share of draws that use each, and its mean amount in these"))
	headings := []string{"ingredient", "draws, %", "±"}
	book := m.Problem.Recipes > 0
	if book {
		headings = append(headings, "yours, %")
	}
	headings = append(headings, "mean amount, %", "±")
	t := terminal.NewTable(1, headings...)
	t.SetMaxWidth(0, 30)
	total := report.Number(m.Problem.Total)
	unknown := false
	for _, k := range order[:min(len(order), maxTextIngredients)] {
		i := m.Inclusion[k]
		cells := []any{terminal.Pad(terminal.EscapeControls(i.Ingredient), min(30, terminal.Width(terminal.EscapeControls(i.Ingredient)))), number.Fixed(report.Number(100*i.Probability), 1), number.Fixed(report.Number(100*i.MCSE), 2)}
		if book {
			cells = append(cells, number.Fixed(report.Number(100*i.BookShare), 1))
		}
		unknown = unknown || !i.MCSE.IsKnown() || !i.AmountMCSE.IsKnown()
		t.Row(append(cells, number.Fixed(100*i.MeanAmount/total, 1), number.Fixed(100*i.AmountMCSE/total, 2))...)
	}
	p.Table(t)
	if unknown {
		p.Line("±: standard error; ?: unknown, as all draws agree or too few are independent.")
	} else {
		p.Line(standardErrorText)
	}
	if more := len(order) - maxTextIngredients; more > 0 {
		p.Line("%s", moreText(more, dir))
	}
	writeConditions(m, p)
	if m.Pairs == nil || len(m.Pairs.Together)+len(m.Pairs.Apart) == 0 {
		return
	}
	p.Heading("Pairs: how often both are used, relative to independent use (lift)")
	p.Line("Expected: the lift by chance in recipes of these sizes. %s", standardErrorText)
	pairs := terminal.NewTable(1, "", "lift", "±", "expected", "pair")
	pairs.SetMaxWidth(4, 46)
	for _, of := range []struct {
		how  string
		list []report.Pair
	}{{"together", m.Pairs.Together}, {"apart", m.Pairs.Apart}} {
		for _, pair := range of.list[:min(len(of.list), maxTextPairs)] {
			pairs.Row(of.how, number.Fixed(pair.Lift, 2), number.Fixed(pair.MCSE, 2), number.Fixed(pair.Expected, 2), pair.First+" + "+pair.Second)
		}
	}
	p.Table(pairs)
}

// maxTextPairs is the largest number of pairs of ingredients that the text report lists: of pairs
// used together often, and also of pairs used together rarely.
const maxTextPairs = 4

// maxTextValues is the largest number of values of a condition that the text report lists.
const maxTextValues = 6

// writeConditions writes the most frequent values of each condition in the draws.
func writeConditions(m *report.Model, p *terminal.Printer) {
	if len(m.Conditions) == 0 {
		return
	}
	p.Heading("%s", p.Bold("Conditions: how many draws have each value"))
	t := terminal.NewTable(1, "condition", "draws, %", "±")
	t.SetMaxWidth(0, 46)
	more := 0
	for _, c := range m.Conditions {
		values := slices.Clone(c.Values)
		slices.SortStableFunc(values, func(a, b run.ValueShare) int { return cmp.Compare(b.Probability, a.Probability) })
		more += max(len(values)-maxTextValues, 0)
		for _, v := range values[:min(len(values), maxTextValues)] {
			t.Row(terminal.EscapeControls(m.Problem.ConditionText(c.Name, v.Value)), number.Fixed(report.Number(100*v.Probability), 1), number.Fixed(report.Number(100*v.MCSE), 2))
		}
	}
	p.Table(t)
	p.Line(standardErrorText)
	if more > 0 {
		p.Line("%s more values: see --json", number.Thousands(more))
	}
}
