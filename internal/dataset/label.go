package dataset

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	"kir/internal/inputerr"
	"kir/internal/measure"
)

// A Label holds one value for each recipe, such as its taste or its score.
type Label struct {
	Name string

	// Heading says whether the heading above the label's column is of what is set or of what is measured.
	Heading Origin

	// Classes are the distinct values, sorted by their bytes. The empty value is not a class.
	Classes []string

	// Counts holds the number of recipes of each class, indexed like Classes.
	Counts []int

	// ClassOf holds, for each recipe, the index of its value in Classes, or -1 if the recipe has no
	// value.
	ClassOf []int32

	notNumberErr   *Error    // error at the first value that is not a number; nil if all values are numbers
	notMeasuredErr *Error    // error at the first value that is neither a number nor a mark of failure, such as failed; nil if there is none
	sourceColumn   string    // name of the column, which differs from Name for the standard deviations in a column of means
	oddCells       []oddCell // first maxErrors cells of a mostly numeric column with neither a number nor a mark of failure
}

// An oddCell is a cell in a mostly numeric column that holds neither a number nor a mark of
// failure.
type oddCell struct {
	value    string // content of the cell
	recipe   string // name of the recipe
	position *Error // error with the position of the cell and no message
}

// Value returns the value of a recipe, or an empty text if the recipe has none. recipe is an index
// into Book.Recipes.
func (l *Label) Value(recipe int) string {
	if class := l.ClassOf[recipe]; class >= 0 {
		return l.Classes[class]
	}
	return ""
}

// MissingCount returns the number of recipes that have no value.
func (l *Label) MissingCount() int {
	missing := len(l.ClassOf)
	for _, n := range l.Counts {
		missing -= n
	}
	return missing
}

// IsNumeric reports whether there are values and every value is a finite number. Otherwise the values
// are names of classes.
func (l *Label) IsNumeric() bool { return l.notNumberErr == nil && len(l.Classes) > 0 }

// Numbers returns the value of each recipe as a number, NaN where the recipe has no value. If some
// values are not finite numbers, the error is an [*Error] or an [*inputerr.Errors] with the
// positions of these values in the file.
func (l *Label) Numbers() ([]float64, error) {
	if l.notNumberErr != nil {
		if err := l.CheckNumbers(); err != nil {
			return nil, err
		}
		return nil, l.notNumberErr
	}
	numbers := make([]float64, len(l.ClassOf))
	for r := range numbers {
		numbers[r] = math.NaN()
		if class := l.ClassOf[r]; class >= 0 {
			numbers[r], _ = measure.ParseNumber(l.Classes[class])
		}
	}
	return numbers, nil
}

// notNumberError returns the error that a value in a field of the current row is not a number.
func (t *table) notNumberError(field int, value string) *Error {
	return t.errorAtField(field, inputerr.Quote(value)+" is not a number, so "+inputerr.Quote(t.header[field])+" cannot be used as one", "write a number, or leave it empty if it is not known")
}

// CheckNumbers returns an error with the positions of the cells that are not numbers in a mostly
// numeric label, at most the first 20. Cells that mark a failed recipe, by [IsFailureMark] or as one of
// words, are no errors. CheckNumbers returns nil if no cell is an error, or if the values of the
// label are names of classes.
func (l *Label) CheckNumbers(words ...string) error {
	all := l.numberErrors(words)
	return inputerr.Join(all[:min(len(all), maxErrors)], len(all) >= maxErrors)
}

// whileOthers begins the part of a message about a cell without a number that counts the cells with one.
const whileOthers = ", while "

// numberErrors returns the errors that [Label.CheckNumbers] joins.
func (l *Label) numberErrors(words []string) (all []*Error) {
	numbers := 0
	for k, value := range l.Classes {
		if _, ok := measure.ParseNumber(value); ok {
			numbers += l.Counts[k]
		}
	}
	for _, cell := range l.oddCells[:min(len(l.oddCells), maxErrors)] {
		if slices.Contains(words, cell.value) {
			continue
		}
		e := *cell.position
		e.Message = fmt.Sprintf("%s in %s is not a number", inputerr.Quote(cell.value), inputerr.Quote(l.Name))
		switch {
		case numbers == 1:
			e.Message += whileOthers + "another one is"
		case numbers > 1:
			e.Message += fmt.Sprintf(whileOthers+"%d others are", numbers)
		}
		e.Hint = "write a number, nothing if it is not known, or the word failed if the recipe could not be made"
		all = append(all, withFixes(&e, numberStage, unknownFix(cell.value), withoutFix(cell.recipe, "recipe"), roleFix(cmp.Or(l.sourceColumn, l.Name), IgnoredColumn)))
	}
	return all
}

// CheckNumbers returns an error with the cells that are not numbers in the mostly numeric labels of
// the book. See [Label.CheckNumbers].
func (b *Book) CheckNumbers() error {
	var f faults
	for i := range b.Labels {
		f.allErrors = append(f.allErrors, b.Labels[i].numberErrors(nil)...)
	}
	return f.join()
}

// A labelColumn collects the values of a label while a book is read.
type labelColumn struct {
	column       int  // index of the column in the table
	holdsSpreads bool // the label is the standard deviations that stand in the column's cells
	Label
	classByValue map[string]int32 // by value: index into Classes

	bounds, spreads, marks noteCounter // cells with a number and a mark, see [markedNumber]
}

// addCurrentRow adds the value of a new recipe from the current row of t. recipe is the name of the
// recipe.
func (l *labelColumn) addCurrentRow(t *table, recipe string) {
	value := l.cell(t)
	l.countMark(t)
	if _, known := l.classByValue[value]; !known {
		value = strings.Clone(value)
	}
	l.addValue(value, func() *Error { return t.notNumberError(l.column, value) })
	if _, ok := measure.ParseNumber(value); !ok && value != "" && !IsFailureMark(value) && len(l.oddCells) < maxErrors && t.profiles[l.column].isMostlyNumeric() {
		l.oddCells = append(l.oddCells, oddCell{value: value, recipe: strings.Clone(recipe), position: t.errorAtField(l.column, "", "")})
	}
}

// addValue adds the value of one more recipe. notNumber returns the error that the value is not a
// number.
func (l *labelColumn) addValue(value string, notNumber func() *Error) {
	if value == "" {
		l.ClassOf = append(l.ClassOf, -1)
		return
	}
	class, ok := l.classByValue[value]
	if !ok {
		class = int32(len(l.Classes))
		l.classByValue[value] = class
		l.Classes = append(l.Classes, value)
		l.Counts = append(l.Counts, 0)
		if _, ok := measure.ParseNumber(value); !ok && l.notNumberErr == nil {
			l.notNumberErr = notNumber()
		}
		if _, ok := measure.ParseNumber(value); !ok && l.notMeasuredErr == nil && !IsFailureMark(value) {
			l.notMeasuredErr = notNumber()
		}
	}
	l.Counts[class]++
	l.ClassOf = append(l.ClassOf, class)
}

// finish returns the label with sorted classes. If most values are names of classes, values such as
// n/a mean that the class is unknown: their recipes get no value, and unknown lists these values.
// In a numeric label, values such as n/a mark failed measurements and stay.
func (l *labelColumn) finish() (label Label, unknown []string) {
	label = l.Label
	label.Classes, label.Counts = nil, nil
	rank := make([]int32, len(l.Classes))
	numbers, others := 0, 0 // numbers of recipes, without unknown values
	for k, name := range l.Classes {
		if _, ok := measure.ParseNumber(name); ok {
			numbers += l.Counts[k]
		} else if !isUnknownClass(name) {
			others += l.Counts[k]
		}
	}
	for _, name := range slices.Sorted(slices.Values(l.Classes)) {
		class := l.classByValue[name]
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

// isUnknownClass reports whether a value among names of classes means that the class is unknown,
// such as n/a. The text Na may be a name and does not.
func isUnknownClass(text string) bool { return isUnknownMark(text) && text != "Na" }
