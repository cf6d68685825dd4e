package book

import (
	"math"
	"slices"
	"strings"

	"kir/internal/fault"
)

// A Label says something of every recipe: its taste, its score.
type Label struct {
	Name string

	// Classes are the values that occur, sorted by their bytes, without the
	// empty one.
	Classes []string

	// Counts are how many recipes have each class.
	Counts []int

	// Of is the class of each recipe, an index into Classes, or -1 where the
	// label is empty.
	Of []int32

	notNumber   *Error // where the first value stands that is no number
	notMeasured *Error // where the first stands that does not say that it failed, either
}

// Value returns a recipe's value, which is empty where it has none.
func (l *Label) Value(recipe int) string {
	if class := l.Of[recipe]; class >= 0 {
		return l.Classes[class]
	}
	return ""
}

// Missing returns how many recipes have no value.
func (l *Label) Missing() int {
	missing := len(l.Of)
	for _, n := range l.Counts {
		missing -= n
	}
	return missing
}

// Numeric reports whether every value is a finite number, and there is one: such
// a label is a number, and any other one a class.
func (l *Label) Numeric() bool { return l.notNumber == nil && len(l.Classes) > 0 }

// Numbers returns the value of each recipe as a number, NaN where it has none.
// A value that is no finite number is an [*Error] with its place in the file.
func (l *Label) Numbers() ([]float64, error) {
	if l.notNumber != nil {
		return nil, l.notNumber
	}
	numbers := make([]float64, len(l.Of))
	for r := range numbers {
		numbers[r] = math.NaN()
		if class := l.Of[r]; class >= 0 {
			numbers[r], _ = number(l.Classes[class])
		}
	}
	return numbers, nil
}

// notNumber says that a value is none.
func (t *table) notNumber(field int, value string) *Error {
	return t.errorAt(field, fault.Quote(value)+" is not a number, so "+fault.Quote(t.header[field])+" cannot be used as one", "write a number, or leave it empty if it is not known")
}

// A labelColumn collects a label while a book is read.
type labelColumn struct {
	column int
	Label
	class map[string]int32
}

// add takes the value of a new recipe from the current row.
func (l *labelColumn) add(t *table) {
	value := t.plainFigure(l.column, Name(t.row[l.column]))
	if _, known := l.class[value]; !known {
		value = strings.Clone(value)
	}
	l.put(value, func() *Error { return t.notNumber(l.column, value) })
}

// put takes the value of one more recipe.
func (l *labelColumn) put(value string, notNumber func() *Error) {
	if value == "" {
		l.Of = append(l.Of, -1)
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
		if _, ok := number(value); !ok && l.notMeasured == nil && !Fails(value) {
			l.notMeasured = notNumber()
		}
	}
	l.Counts[class]++
	l.Of = append(l.Of, class)
}

// sorted returns the label with its classes in order, and the words in it that say that a
// class is not known: recipes with them have none. Among numbers such a word says that a
// measurement failed, and stays.
func (l *labelColumn) sorted() (label Label, unknown []string) {
	label = l.Label
	label.Classes, label.Counts = nil, nil
	rank := make([]int32, len(l.Classes))
	numbers, others := 0, 0 // recipes, without those of which nothing is known
	for k, name := range l.Classes {
		if _, ok := number(name); ok {
			numbers += l.Counts[k]
		} else if !unknownClass(name) {
			others += l.Counts[k]
		}
	}
	for _, name := range slices.Sorted(slices.Values(l.Classes)) {
		class := l.class[name]
		if rank[class] = -1; others > numbers && unknownClass(name) {
			unknown = append(unknown, name)
			continue
		}
		rank[class] = int32(len(label.Classes))
		label.Classes, label.Counts = append(label.Classes, name), append(label.Counts, l.Counts[class])
	}
	for r, class := range label.Of {
		if class >= 0 {
			label.Of[r] = rank[class]
		}
	}
	return label, unknown
}

// unknownClass is whether a text among classes says that nothing is known. Na may be a name.
func unknownClass(text string) bool { return isUnknown(text) && text != "Na" }
