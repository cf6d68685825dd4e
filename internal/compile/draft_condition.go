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

// A DraftCondition is a column of what a trial sets beside its recipe, as a draft offers it.
type DraftCondition struct {
	Name string // of the column

	Numbers    []float64 // different ones, ascending; nil for categories
	Categories []string  // nil for numbers
}

const (
	draftValues = 12 // the most numbers that a draft lists one by one
	draftSteps  = 40 // the most steps from the least to the greatest number otherwise
)

// findConditions returns the columns of a book that are set, as the draft names them or as their names tell, and notes
// about those that may be set or measured. Labels that the user named are measured.
func (d *Draft) findConditions(measured []string) (found []string, notes []dataset.Note) {
	for i := range d.Book.Labels {
		l := &d.Book.Labels[i]
		if slices.Contains(measured, l.Name) || slices.Contains(d.MeasuredColumns, l.Name) || d.isCondition(l.Name) || len(l.Classes) == 0 {
			continue
		}
		_, err := l.Numbers()
		switch dataset.OriginOf(l.Name, err != nil) {
		case dataset.Set:
			found = append(found, l.Name)
		case dataset.SetOrMeasured:
			notes = append(notes, dataset.Note{File: d.Book.File, Doubtful: true, Origin: true, Message: fmt.Sprintf(
				"column %s: Did you set it, or measure it? It is taken as measured; if you set it, write it under conditions, or kir init --conditions %s", inputerr.Quote(l.Name), inputerr.Quote(l.Name))})
		}
	}
	return found, notes
}

// misreadConditions returns the columns that were read as ingredients and are quantities beside a recipe, such as a
// time, as their names tell.
func (d *Draft) misreadConditions() (columns []string) {
	if d.Book.Long || d.Book.Transposed {
		return nil
	}
	for _, name := range d.Book.Ingredients.Names {
		if o := dataset.OriginOf(name, false); o == dataset.Set || o == dataset.SetOrMeasured {
			columns = append(columns, name)
		}
	}
	return columns
}

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

// noteConditions replaces the notes about columns that are conditions by one that names all of those that were found.
func (d *Draft) noteConditions(found []string) {
	if len(found) == 0 {
		return
	}
	d.Book.Notes = slices.DeleteFunc(d.Book.Notes, func(n dataset.Note) bool {
		return slices.ContainsFunc(found, func(name string) bool { return strings.HasPrefix(n.Message, "column "+inputerr.Quote(name)) })
	})
	are, them := "column %s is taken as a condition, which a trial sets", "it was"
	if len(found) > 1 {
		are, them = "columns %s are taken as conditions, which a trial sets", "one was"
	}
	d.Book.Notes = append(d.Book.Notes, dataset.Note{File: d.Book.File, Doubtful: true, Origin: true, Message: fmt.Sprintf(are+". If "+them+" measured, take it out of conditions, or kir init --labels %s", inputerr.List(found, 12), inputerr.Quote(found[0]))})
}

// An OriginQuestion asks of a column whether it is set or measured.
type OriginQuestion struct {
	Column string
	Set    bool // as it is taken
}

// OriginQuestions returns the columns that may be conditions: those that are, those that the user says are not, and
// those whose names do not tell.
func (d *Draft) OriginQuestions() (all []OriginQuestion) {
	if d.Book == nil {
		return nil
	}
	for i := range d.Book.Labels {
		l := &d.Book.Labels[i]
		_, err := l.Numbers()
		origin := dataset.OriginOf(l.Name, err != nil)
		if set := d.isCondition(l.Name); set || slices.Contains(d.MeasuredColumns, l.Name) || origin == dataset.Set || origin == dataset.SetOrMeasured {
			all = append(all, OriginQuestion{l.Name, set})
		}
	}
	return all
}

// isCondition reports whether a label is a condition of the draft.
func (d *Draft) isCondition(label string) bool {
	return slices.Contains(d.SetColumns, label) || slices.Contains(d.foundConditions, label)
}

// yaml returns the values of a condition as a problem file has them: the values that trials had if they are few, else
// steps from the least to the greatest.
func (c *DraftCondition) yaml() string {
	var values []string
	switch {
	case c.Categories != nil:
		for _, category := range c.Categories {
			values = append(values, dataset.YAMLText(category))
		}
	case len(c.Numbers) <= draftValues:
		for _, v := range c.Numbers {
			values = append(values, number.RoundTrip(v))
		}
	default:
		least, greatest := c.Numbers[0], c.Numbers[len(c.Numbers)-1]
		step := roundStep((greatest - least) / draftSteps)
		from, to := float64(math.Ceil(least/step)*step), float64(math.Floor(greatest/step)*step)
		digits := max(0, -int(math.Floor(portable.Log10(step))))
		return fmt.Sprintf("{from: %s, to: %s, step: %s}", number.Trim(number.Fixed(from, digits)), number.Trim(number.Fixed(to, digits)), number.Trim(number.Fixed(step, digits)))
	}
	return "{values: [" + strings.Join(values, ", ") + "]}"
}

// roundStep returns the least of 1, 2 and 5 times a power of ten that is at least v.
func roundStep(v float64) float64 {
	power := portable.Pow(10, math.Floor(portable.Log10(v)))
	for _, by := range []float64{1, 2, 5} {
		if step := float64(by * power); step >= v*(1-1e-9) {
			return step
		}
	}
	return float64(10 * power)
}

// writeConditions writes the conditions.
func (w *draftWriter) writeConditions() {
	all := w.Conditions()
	if len(all) == 0 {
		return
	}
	w.writeLine("# What a trial sets beside the recipe: models learn from it, and the search chooses it.")
	w.writeLine("conditions:")
	for _, c := range all {
		w.writeLine("  %s: %s", dataset.YAMLText(c.Name), c.yaml())
	}
}
