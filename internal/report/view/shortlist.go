package view

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"kir/internal/number"
	"kir/internal/report"
	"kir/internal/search"
	"kir/internal/terminal"
)

// maxTextEntries is the largest number of entries of the shortlist in the text report. If one of
// the first maxLongTextEntries entries has many ingredients, maxLongTextEntries is the largest
// number.
const maxTextEntries, maxLongTextEntries = 5, 3

// longEntryParts is the largest number of ingredients of an entry that does not count as long.
const longEntryParts = 6

// writeShortlist writes the best known recipe and the first entries of the shortlist. The parameter
// dir is the location of the run; it may be empty.
func writeShortlist(m *report.Model, p *terminal.Printer, dir string) {
	if len(m.Best) == 0 {
		if m.Problem.Recipes > 0 {
			p.Line("")
			p.Line("Every set of ingredients that was found is one of your recipes.")
		}
		return
	}
	most := maxTextEntries
	if slices.ContainsFunc(m.Best[:min(len(m.Best), maxLongTextEntries)], func(b report.Best) bool { return len(b.Recipe) > longEntryParts }) {
		most = maxLongTextEntries
	}
	shown := m.Best[:min(len(m.Best), most)]
	columns := newRecipeColumns(m, shown).withoutRanges()
	writeKnown(m, p, columns)
	if text := pageTie(m); text != "" {
		p.Line("")
		p.Wrapped(0, text)
	}
	for k, b := range shown {
		p.Line("")
		writeEntry(m, p, columns, k, b)
		if text := notBetterText(m, b); text != "" {
			p.WrappedHanging(4, text)
		}
		if len(b.Nearest) > 0 {
			p.WrappedHanging(4, nearestText(b))
		}
		if b.Extrapolates {
			p.Line("    %s", p.Warn(extrapolatesText))
		}
	}
	if text := shortlistLegend(m, shown); text != "" {
		p.Line("")
		p.Wrapped(0, text)
	}
	if more := len(m.Best) - len(shown); more > 0 {
		p.Line("")
		if dir == "" {
			p.Line("%s more", number.Thousands(more))
		} else {
			p.Line("%s more: kir show %s --best %d", number.Thousands(more), terminal.EscapeControls(terminal.ShellWord(dir)), min(len(m.Best), 20))
		}
	}
}

// shortlistLegend explains the brackets and the scores of the shown entries. It returns "" if there
// are none.
func shortlistLegend(m *report.Model, shown []report.Best) string {
	var texts []string
	if slices.ContainsFunc(shown, hasInterval) {
		texts = append(texts, "In brackets: 90 % intervals of the predictions.")
	}
	if m.HasWeights() && pageTie(m) == "" {
		texts = append(texts, scoreMeaning(m))
	}
	return strings.Join(texts, " ")
}

// scoreMeaning says what a score is. If the scores of the shortlist leave out an estimate of luck
// that its predictions allow for, it says so, too.
func scoreMeaning(m *report.Model) string {
	text := "Score: product of how well each objective is met"
	if !slices.ContainsFunc(m.Best, func(b report.Best) bool { return b.Score > 1 }) {
		text += ", 0 to 1"
	}
	text += " (higher is better)."
	if m.Answer != nil && m.Answer.HasExpectedValues() {
		text += " Predictions allow for luck in choosing; scores do not."
	}
	return text
}

// hasInterval reports whether a prediction of an entry has an interval.
func hasInterval(b report.Best) bool {
	for _, q := range b.Predicted {
		if q.Low.IsKnown() {
			return true
		}
	}
	return false
}

// extrapolatesText is the note on an entry that is far from every known recipe.
const extrapolatesText = "! unlike any recipe that you have: predictions are unreliable"

// writeKnown writes the best known recipe, if there is one.
func writeKnown(m *report.Model, p *terminal.Printer, columns recipeColumns) {
	k := m.BestKnown
	if k == nil {
		return
	}
	p.Line("")
	for _, l := range terminal.Wrap(terminal.EscapeControls("Your best: "+k.Name+", score "+number.Score(k.Score, 1)), terminal.MaxColumns) {
		p.Line("%s", p.Bold(l))
	}
	if texts := knownResultTexts(m); len(texts) > 0 {
		p.Wrapped(4, strings.Join(texts, ", "))
	}
	b := report.Best{Recipe: k.Recipe, Conditions: k.Conditions}
	if texts := m.Problem.ConditionTexts(b); texts != nil {
		p.WrappedHanging(4, strings.Join(texts, ", "))
	}
	columns.write(p, b)
	for _, note := range knownNotes(m) {
		p.WrappedHanging(4, note)
	}
}

// Shortlist writes entries of the shortlist as text.
func Shortlist(w io.Writer, list []report.Best, m *report.Model, style terminal.Style) error {
	var b strings.Builder
	p := terminal.NewPrinter(&b, style)
	writeEntries(m, p, list)
	if p.Err != nil {
		return p.Err
	}
	_, err := io.WriteString(w, strings.TrimLeft(b.String(), "\n"))
	return err
}

// shortlistTitle returns the title of the shortlist.
func shortlistTitle(m *report.Model) string {
	if !m.HasWeights() {
		return "Suggestions that differ"
	}
	return "Suggestions, best first"
}

// writeEntries writes entries of the shortlist with all that is known of them. The list must begin
// with the first entry of the shortlist.
func writeEntries(m *report.Model, p *terminal.Printer, list []report.Best) {
	columns := newRecipeColumns(m, list)
	if columns.ranges > 0 {
		p.Wrapped(0, "Brackets: the amount can vary this much, in percent, and lose under 1 % of the score.")
	}
	for k, b := range list {
		p.Line("")
		writeEntry(m, p, columns, k, b)
		if text := notBetterText(m, b); text != "" {
			p.WrappedHanging(4, text)
		}
		for _, v := range b.Variants[:min(len(b.Variants), maxVariants)] {
			p.WrappedHanging(4, variantText(v, m.Problem.Total))
		}
		if len(b.Nearest) > 0 {
			p.WrappedHanging(4, nearestText(b))
		}
		if b.Extrapolates {
			p.Line("    %s", p.Warn(extrapolatesText))
		}
		for _, s := range b.Slack {
			p.WrappedHanging(4, m.Problem.Rules[s.Rule]+", here: "+slackText(s, m.Problem.Total))
		}
	}
}

// writeEntry writes an entry of the shortlist: its heading, what it achieves, its conditions and its
// amounts.
func writeEntry(m *report.Model, p *terminal.Printer, columns recipeColumns, place int, b report.Best) {
	p.Line("%s", p.Bold(entryHeading(m, place, b)))
	sound, weak := objectiveTexts(m, b)
	if sound != "" {
		p.Wrapped(4, sound)
	}
	if weak != "" {
		for _, l := range terminal.Wrap(terminal.EscapeControls(weak), terminal.MaxColumns-4) {
			p.Line("    %s", p.Faint(l))
		}
	}
	for _, l := range b.Sure {
		p.WrappedHanging(4, limitProbabilityText(l))
	}
	if texts := m.Problem.ConditionTexts(b); texts != nil {
		p.WrappedHanging(4, strings.Join(texts, ", "))
	}
	columns.write(p, b)
}

// entryHeading returns the heading of an entry of the shortlist: its number, which is place+1, and
// its score unless all entries are tied.
func entryHeading(m *report.Model, place int, b report.Best) string {
	if !m.HasWeights() || pageTie(m) != "" {
		return fmt.Sprintf("%2d", place+1)
	}
	return fmt.Sprintf("%2d  score %s", place+1, number.Score(b.Score, 1))
}

// objectiveTexts describes what an entry of the shortlist achieves for each property. The result
// weak has the predictions of weak models, and sound has everything else.
func objectiveTexts(m *report.Model, b report.Best) (sound, weak string) {
	var of [2][]string
	for _, w := range m.Properties {
		if text := objectiveText(m, w, b); text != "" {
			k := 0
			if b.Predicted[w.Name].Weak {
				k = 1
			}
			of[k] = append(of[k], propertyPrefix(w)+text)
		}
	}
	return strings.Join(of[0], ", "), strings.Join(of[1], ", ")
}

// objectiveText describes what an entry of the shortlist achieves for a property: the prediction,
// the values that the property computes, or the score. It returns "" if the score of the property
// is the total score of the entry.
func objectiveText(m *report.Model, w report.Property, b report.Best) string {
	if q, ok := b.Predicted[w.Name]; ok {
		plain := func(_ string, text string) string { return text }
		return predictionText(q, plain)
	}
	if len(w.Values) > 0 {
		return valuesText(w, b)
	}
	if !m.HasWeights() || !m.NeedsScoreOfEach() {
		return ""
	}
	return number.Score(b.Scores[w.Name], w.Weight)
}

// propertyPrefix returns the text to put before an entry's values of a property: the name of the
// property, or "" if the values have names of their own.
func propertyPrefix(w report.Property) string {
	if len(w.Values) > 1 || len(w.Values) == 1 && w.Values[0] != w.Name {
		return ""
	}
	return w.Name + " "
}

// valuesText lists the values of an entry that a property computes. A name stands before a value
// unless it is the name of the property.
func valuesText(w report.Property, b report.Best) string {
	var list []string
	for _, name := range w.Values {
		text := valueText(b.Values[name])
		if name != w.Name {
			text = name + " " + text
		}
		list = append(list, text)
	}
	return strings.Join(list, ", ")
}

// valueText returns a value as text with its unit.
func valueText(v report.Value) string {
	if !v.Value.IsKnown() {
		return "unknown"
	}
	return strings.TrimSpace(number.Value(v.Value) + " " + v.Unit)
}

// valueHeading returns the heading of a column: a name with its unit.
func valueHeading(name, unit string) string {
	if unit == "" {
		return name
	}
	return name + ", " + unit
}

// predictionText writes a prediction with its interval and with notes. The function writeNumber
// receives each number as text, with the name of its field in the JSON of [report.Prediction]; it
// returns the text to write.
func predictionText(q report.Prediction, writeNumber func(name, text string) string) string {
	write, unit, text := number.Value[report.Number], "", ""
	if q.Class != "" {
		write, unit, text = number.WholePercent[report.Number], " %", q.Class+" chance "
	}
	name := "value"
	if q.Expected != nil && !q.Limited {
		name = "expected"
	}
	text += writeNumber(name, write(q.Shown()))
	if q.Unit != "" {
		text += " " + q.Unit
	}
	var notes []string
	if q.Expected != nil && q.Limited {
		notes = append(notes, "expected "+writeNumber("expected", write(*q.Expected)))
	}
	if q.Low.IsKnown() {
		notes = append(notes, writeNumber("low", strings.TrimSuffix(write(q.Low), unit))+" to "+writeNumber("high", write(q.High)))
	}
	if q.Unchecked {
		notes = append(notes, "not checked")
	}
	if q.Weak {
		notes = append(notes, "weak model")
	}
	if len(notes) > 0 {
		text += " (" + strings.Join(notes, ", ") + ")"
	}
	return text
}

// limitProbabilityText writes the probability that a measurement keeps a limit.
func limitProbabilityText(l report.LimitProbability) string {
	return fmt.Sprintf("%s: %s chance of keeping it", l.Limit, number.Percent(l.Probability))
}

// rangeText writes a range of units in brackets, as percentages of the total.
func rangeText(r search.Range, total int) string {
	a := number.Percentages(total)
	digits := a.Digits([]int{r.Low}, []int{r.High})
	return "(" + a.WriteTo(digits, []int{r.Low})[0] + "–" + a.WriteTo(digits, []int{r.High})[0] + ")"
}

// maxVariants is the largest number of variants that are displayed for an entry of the shortlist.
const maxVariants = 3

// variantText describes how a variant, a similar composition, differs from its entry of the
// shortlist. Ingredients with larger amounts come first.
func variantText(v report.Variant, total int) string {
	var with []string
	for _, part := range (report.Best{Recipe: v.With}).Parts() {
		with = append(with, fmt.Sprintf("%s (%s)", part.Ingredient, number.Share(part.Amount, total)))
	}
	text := ""
	switch {
	case len(with) > 0 && len(v.Without) > 0:
		text = "or with " + strings.Join(with, ", ") + " instead of " + strings.Join(v.Without, ", ")
	case len(with) > 0:
		text = "or with " + strings.Join(with, ", ")
	default:
		text = "or without " + strings.Join(v.Without, ", ")
	}
	return text + ": " + number.Score(v.Score, 1)
}

// nearestPrefix begins the line that names the nearest known recipes.
const nearestPrefix = "your nearest: "

// nearestText names the known recipes that are nearest to an entry, in one line. For the first of
// them it also names the ingredients shared with the entry.
func nearestText(b report.Best) string {
	var names []string
	for k, n := range b.Nearest {
		name := shortenName(n.Recipe)
		if common := sharedIngredients(b, n); k == 0 && len(common) > 0 {
			name += " (shares " + strings.Join(common, ", ") + ")"
		}
		if k == 1 {
			name = "then " + name
		}
		names = append(names, name)
	}
	return nearestPrefix + strings.Join(names, "; ")
}
