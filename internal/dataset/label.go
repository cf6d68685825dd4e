package dataset

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"kir/internal/inputerr"
)

// A Label is a value for every recipe, such as its taste or its score.
type Label struct {
	Name string

	// Classes are the values that occur, sorted by their bytes, without the
	// empty one.
	Classes []string

	// Counts are the numbers of recipes of each class.
	Counts []int

	// ClassOf is the class of each recipe, an index into Classes, or -1 where the
	// label is empty.
	ClassOf []int32

	notNumber   *Error // error at the first value that is not a number
	notMeasured *Error // error at the first value that neither is a number nor marks a failure
	oddCells    []oddCell
}

// An oddCell is a cell in a numeric column that neither is a number nor marks a failure.
type oddCell struct {
	value  string
	recipe string
	place  *Error
}

// Value returns a recipe's value, empty where it has none.
func (l *Label) Value(recipe int) string {
	if class := l.ClassOf[recipe]; class >= 0 {
		return l.Classes[class]
	}
	return ""
}

// Missing returns the number of recipes without a value.
func (l *Label) Missing() int {
	missing := len(l.ClassOf)
	for _, n := range l.Counts {
		missing -= n
	}
	return missing
}

// Numeric reports whether every value is a finite number, and there is one. Otherwise the values
// are classes.
func (l *Label) Numeric() bool { return l.notNumber == nil && len(l.Classes) > 0 }

// Numbers returns the value of each recipe as a number, NaN where it has none. If values are not
// finite numbers, the error is an [*Error] or a [*inputerr.Errors], with their positions in the file.
func (l *Label) Numbers() ([]float64, error) {
	if l.notNumber != nil {
		if err := l.CheckNumbers(); err != nil {
			return nil, err
		}
		return nil, l.notNumber
	}
	numbers := make([]float64, len(l.ClassOf))
	for r := range numbers {
		numbers[r] = math.NaN()
		if class := l.ClassOf[r]; class >= 0 {
			numbers[r], _ = number(l.Classes[class])
		}
	}
	return numbers, nil
}

// notNumberError returns the error that a value is not a number.
func (t *table) notNumberError(field int, value string) *Error {
	return t.errorAt(field, inputerr.Quote(value)+" is not a number, so "+inputerr.Quote(t.header[field])+" cannot be used as one", "write a number, or leave it empty if it is not known")
}

// CheckNumbers returns an error with the positions of the cells that are not numbers in a numeric
// label, at most the first 20. words are further words that mark a failed recipe. It returns nil if
// there are no such cells, and for a label of classes.
func (l *Label) CheckNumbers(words ...string) error {
	all := l.numberErrors(words)
	return inputerr.Join(all[:min(len(all), mostErrors)], len(all) >= mostErrors)
}

func (l *Label) numberErrors(words []string) (all []*Error) {
	numbers := 0
	for k, value := range l.Classes {
		if _, ok := number(value); ok {
			numbers += l.Counts[k]
		}
	}
	for _, cell := range l.oddCells[:min(len(l.oddCells), mostErrors)] {
		if slices.Contains(words, cell.value) {
			continue
		}
		e := *cell.place
		e.Message = fmt.Sprintf("%s in %s is not a number", inputerr.Quote(cell.value), inputerr.Quote(l.Name))
		switch {
		case numbers == 1:
			e.Message += ", while another one is"
		case numbers > 1:
			e.Message += fmt.Sprintf(", while %d others are", numbers)
		}
		e.Hint = fmt.Sprintf("write a number, nothing if it is not known, or failed if the recipe failed; %s leaves the recipe out, and %s the column",
			Layout{Without: []string{cell.recipe}}.YAML(), Layout{Columns: map[string]Role{l.Name: IgnoredColumn}}.YAML())
		all = append(all, &e)
	}
	return all
}

// CheckNumbers returns an error with the cells that are not numbers in all numeric labels: see
// [Label.CheckNumbers].
func (b *Book) CheckNumbers() error {
	var f faults
	for i := range b.Labels {
		f.all = append(f.all, b.Labels[i].numberErrors(nil)...)
	}
	return f.join()
}

// A labelColumn collects a label while a book is read.
type labelColumn struct {
	column int
	Label
	class map[string]int32
}

// add adds the value of a new recipe from the current row.
func (l *labelColumn) add(t *table, recipe string) {
	value := t.labelFigure(l.column, NormalizeName(t.row[l.column]))
	if _, known := l.class[value]; !known {
		value = strings.Clone(value)
	}
	l.addValue(value, func() *Error { return t.notNumberError(l.column, value) })
	if _, ok := number(value); !ok && value != "" && !IsFailure(value) && len(l.oddCells) < mostErrors && t.profile[l.column].isMostlyNumeric() {
		l.oddCells = append(l.oddCells, oddCell{value: value, recipe: strings.Clone(recipe), place: t.errorAt(l.column, "", "")})
	}
}

// addValue adds the value of one more recipe.
func (l *labelColumn) addValue(value string, notNumber func() *Error) {
	if value == "" {
		l.ClassOf = append(l.ClassOf, -1)
		return
	}
	class, ok := l.class[value]
	if !ok {
		class = int32(len(l.Classes))
		l.class[value] = class
		l.Classes = append(l.Classes, value)
		l.Counts = append(l.Counts, 0)
		if _, ok := number(value); !ok && l.notNumber == nil {
			l.notNumber = notNumber()
		}
		if _, ok := number(value); !ok && l.notMeasured == nil && !IsFailure(value) {
			l.notMeasured = notNumber()
		}
	}
	l.Counts[class]++
	l.ClassOf = append(l.ClassOf, class)
}

// finish returns the label with its classes in order, and the words in it that mark an unknown
// class: recipes with them have none. In a numeric label such a word marks a failed measurement,
// and stays.
func (l *labelColumn) finish() (label Label, unknown []string) {
	label = l.Label
	label.Classes, label.Counts = nil, nil
	rank := make([]int32, len(l.Classes))
	numbers, others := 0, 0 // numbers of recipes, without unknown values
	for k, name := range l.Classes {
		if _, ok := number(name); ok {
			numbers += l.Counts[k]
		} else if !isUnknownClass(name) {
			others += l.Counts[k]
		}
	}
	for _, name := range slices.Sorted(slices.Values(l.Classes)) {
		class := l.class[name]
		if rank[class] = -1; others > numbers && isUnknownClass(name) {
			unknown = append(unknown, name)
			continue
		}
		rank[class] = int32(len(label.Classes))
		label.Classes, label.Counts = append(label.Classes, name), append(label.Counts, l.Counts[class])
	}
	for r, class := range label.ClassOf {
		if class >= 0 {
			label.ClassOf[r] = rank[class]
		}
	}
	return label, unknown
}

// isUnknownClass reports whether a text among classes means that the class is unknown. Na may be a
// name.
func isUnknownClass(text string) bool { return isUnknown(text) && text != "Na" }
