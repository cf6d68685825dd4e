package compile

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"kir/internal/dataset"
	"kir/internal/inputerr"
	"kir/internal/number"
	"kir/internal/portable"
)

// A DraftCondition is a column of a draft whose values a trial sets in addition to the recipe.
type DraftCondition struct {
	Name string // name of the column

	Numbers    []float64 // distinct numbers, ascending; nil for categories
	Categories []string  // distinct categories; nil for numbers
}

const (
	maxDraftValues = 12 // maximum number of values of a numeric condition that a draft lists one by one
	maxDraftSteps  = 40 // maximum number of steps from the least to the greatest number, if the numbers are not listed
)

// findConditionColumns returns the columns whose names tell that a trial sets their values. It returns notes
// about columns that may be set or measured. It skips the columns in measured, and columns that the user has
// declared to be set or measured.
func (d *Draft) findConditionColumns(measured []string) (found []string, notes []dataset.Note) {
	for i := range d.Book.Labels {
		l := &d.Book.Labels[i]
		if slices.Contains(measured, l.Name) || slices.Contains(d.MeasuredColumns, l.Name) || d.isCondition(l.Name) || len(l.Classes) == 0 {
			continue
		}
		switch originOf(l) {
		case dataset.SetInTrial:
			found = append(found, l.Name)
		case dataset.SetOrMeasured:
			notes = append(notes, dataset.Note{File: d.Book.File, Doubtful: true, AboutOrigin: true, Message: fmt.Sprintf(
				"column %s: Did you set it, or measure it? kir takes it as measured; if you set it, list it under the key conditions", inputerr.Quote(l.Name))})
		}
	}
	return found, notes
}

// originOf guesses whether the values of a label are set or measured. Categories whose name does not tell may be either,
// if several recipes share one, and so may numbers of a few levels.
func originOf(l *dataset.Label) dataset.Origin {
	_, err := l.Numbers()
	origin := dataset.GuessOrigin(l.Name, err != nil)
	if l.Heading != dataset.UnknownOrigin && (origin == dataset.UnknownOrigin || origin == dataset.SetOrMeasured) {
		return l.Heading
	}
	known := 0
	for _, n := range l.Counts {
		known += n
	}
	if err != nil && origin == dataset.UnknownOrigin && len(l.Classes) > 1 && 2*len(l.Classes) <= known && dataset.RankResult(l.Name, l.Classes) <= dataset.UnnamedNumber {
		return dataset.SetOrMeasured
	}
	if err == nil && origin == dataset.UnknownOrigin && len(l.Classes) > 1 && len(l.Classes) <= maxLevels && 2*len(l.Classes) <= known+1 && dataset.RankResult(l.Name, nil) == dataset.UnnamedNumber {
		return dataset.SetOrMeasured
	}
	return origin
}

// maxLevels is the maximum number of different numbers of a quantity that may be set, if its name does not tell.
const maxLevels = 6

// Conditions returns the conditions of the draft, in the order of the table's columns.
func (d *Draft) Conditions() (all []DraftCondition) {
	if d.Series != nil {
		return nil
	}
	for i := range d.Book.Labels {
		l := &d.Book.Labels[i]
		if !d.isCondition(l.Name) {
			continue
		}
		c := DraftCondition{Name: l.Name}
		if numbers, err := l.Numbers(); err == nil {
			for _, v := range numbers {
				if !math.IsNaN(v) && !slices.Contains(c.Numbers, v) {
					c.Numbers = append(c.Numbers, v)
				}
			}
			slices.Sort(c.Numbers)
		} else {
			c.Categories = l.Classes
		}
		if len(c.Numbers)+len(c.Categories) > 0 {
			all = append(all, c)
		}
	}
	return all
}

// noteFoundConditions replaces the notes about the columns in found by one note. The note says that the
// columns are taken as conditions.
func (d *Draft) noteFoundConditions(found []string) {
	if len(found) == 0 {
		return
	}
	d.Book.Notes = slices.DeleteFunc(d.Book.Notes, func(n dataset.Note) bool {
		return slices.ContainsFunc(found, func(name string) bool { return strings.HasPrefix(n.Message, "column "+inputerr.Quote(name)) })
	})
	are, them := "column %s is taken as a condition, which you set for each trial", "it was"
	if len(found) > 1 {
		are, them = "columns %s are taken as conditions, which you set for each trial", "one was"
	}
	d.Book.Notes = append(d.Book.Notes, dataset.Note{File: d.Book.File, Doubtful: true, AboutOrigin: true, Message: fmt.Sprintf(are+". If "+them+" measured, take it out of conditions", inputerr.List(found, 12))})
}

// An OriginQuestion asks whether the values of a column are set by a trial or measured.
type OriginQuestion struct {
	Column string
	Set    bool // whether the draft now takes the column as set
}

// OriginQuestions returns a question for each column that may be a condition. These are the conditions of the
// draft, the columns that the user declared to be measured, and the columns whose names do not tell.
func (d *Draft) OriginQuestions() (all []OriginQuestion) {
	if d.Book == nil {
		return nil
	}
	for i := range d.Book.Labels {
		l := &d.Book.Labels[i]
		origin := originOf(l)
		if set := d.isCondition(l.Name); set || slices.Contains(d.MeasuredColumns, l.Name) || origin == dataset.SetInTrial || origin == dataset.SetOrMeasured {
			all = append(all, OriginQuestion{l.Name, set})
		}
	}
	return all
}

// isCondition reports whether the draft takes a label as a condition.
func (d *Draft) isCondition(label string) bool {
	return slices.Contains(d.SetColumns, label) || slices.Contains(d.foundConditionColumns, label)
}

// valuesYAML returns the values of the condition as text of a problem file. A few values are listed one by
// one. Many numbers become steps from the least to the greatest number.
func (c *DraftCondition) valuesYAML() string {
	var values []string
	switch {
	case c.Categories != nil:
		for _, category := range c.Categories {
			values = append(values, dataset.YAMLText(category))
		}
	case len(c.Numbers) <= maxDraftValues:
		for _, v := range c.Numbers {
			values = append(values, number.RoundTrip(v))
		}
	default:
		least, greatest := c.Numbers[0], c.Numbers[len(c.Numbers)-1]
		step := roundUpStep((greatest - least) / maxDraftSteps)
		from, to := float64(math.Ceil(least/step)*step), float64(math.Floor(greatest/step)*step)
		digits := max(0, -int(math.Floor(portable.Log10(step))))
		return fmt.Sprintf("{from: %s, to: %s, step: %s}", number.Trim(number.Fixed(from, digits)), number.Trim(number.Fixed(to, digits)), number.Trim(number.Fixed(step, digits)))
	}
	return "{values: [" + strings.Join(values, ", ") + "]}"
}

// roundUpStep returns the least number of the form 1, 2 or 5 times a power of ten that is at least v.
func roundUpStep(v float64) float64 {
	power := portable.Pow(10, math.Floor(portable.Log10(v)))
	for _, by := range []float64{1, 2, 5} {
		if step := float64(by * power); step >= v*(1-1e-9) {
			return step
		}
	}
	return float64(10 * power)
}

// writeConditions writes the conditions of the draft.
func (w *draftWriter) writeConditions() {
	all := w.Conditions()
	if len(all) == 0 {
		return
	}
	w.writeLine("# Conditions are settings of a trial: kir learns from them, and chooses them with each recipe.")
	w.writeLine("conditions:")
	for _, c := range all {
		w.writeLine("  %s: %s", dataset.YAMLText(c.Name), c.valuesYAML())
	}
}
