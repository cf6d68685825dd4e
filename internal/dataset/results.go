package dataset

import (
	"bytes"
	"cmp"
	"context"
	"encoding/csv"
	"fmt"
	"io"
	"math"
	"math/big"
	"slices"
	"strconv"
	"strings"

	"kir/internal/inputerr"
)

// Results are the entries of a file of results, in the order of their creation. Such a file is in
// the long form: a row is an ingredient of an entry, in the columns id, round, recipe, ingredient,
// amount, unit, a column for each label, status and time. The column of a label called time is
// called time (condition). Entries are added and never changed. Of
// several entries with one id, see [IDKey], the last counts.
type Results struct {
	File    string
	Labels  []string // the columns between unit and status
	Entries []Result

	// Ingredients are those given, or else all that the file names.
	Ingredients *Ingredients
}

// A Result is one entry: a recipe that was made, and its measurements.
type Result struct {
	ID     string
	Round  int
	Recipe string // name of the recipe
	Parts  []Part // as it was made; none if withdrawn
	Values []string
	Status Status
	Time   string // when it was recorded; nothing depends on it

	line int
}

// A Status is the state of a made recipe.
type Status string

// The statuses. A made recipe has its measurements. A failed one was tried and could not be
// measured. A withdrawn one does not count.
const (
	Made      Status = "made"
	Failed    Status = "failed"
	Withdrawn Status = "withdrawn"
)

// Columns of a file of results, before and after those of its labels.
var (
	resultColumns = []string{"id", "round", "recipe", "ingredient", "amount", "unit"}
	resultEnds    = []string{"status", "time"}
)

// IsResultColumn reports whether a column of that name in a file of results is not a label.
func IsResultColumn(name string) bool {
	is := func(other string) bool { return strings.EqualFold(name, other) }
	return slices.ContainsFunc(resultColumns, is) || slices.ContainsFunc(resultEnds, is)
}

// timeColumn is the column of a label called time, as a condition of trials may be: time is when a
// result was recorded.
const timeColumn = "time (condition)"

// columnOfLabel returns the name of the column of a label.
func columnOfLabel(name string) string {
	if strings.EqualFold(name, "time") {
		return name + strings.TrimPrefix(timeColumn, "time")
	}
	return name
}

// labelOfColumn returns the label that a column holds.
func labelOfColumn(name string) string {
	if strings.EqualFold(name, timeColumn) {
		return name[:len("time")]
	}
	return name
}

// isResults reports whether a header is that of a file of results.
func isResults(header []string) bool {
	for _, name := range slices.Concat(resultColumns, resultEnds) {
		if !slices.ContainsFunc(header, func(other string) bool { return strings.EqualFold(name, other) }) {
			return false
		}
	}
	return true
}

// ReadResults reads a file of results. Of the options, Units, Ingredients and Layout apply. A fault
// in it is an [*Error] or a [*inputerr.Errors]. A file with only the header has no entries.
func ReadResults(r io.Reader, file string, o Options) (*Results, error) {
	units := o.Units
	if units == nil {
		units = DefaultUnits()
	}
	t, err := newTable(r, file, o.Layout, units, IsResultColumn)
	if err != nil {
		return nil, plainError(err)
	}
	if !isResults(t.header) {
		return nil, t.errorInHeader(0, "this is no file of results", "it has the columns "+strings.Join(slices.Concat(resultColumns, resultEnds), ", ")+", and one for each label before status")
	}
	return readResults(t, o.Ingredients, units)
}

// readResults reads the entries below the header.
func readResults(t *table, in *Ingredients, units *Units) (*Results, error) {
	t.summed = 0 // no row of a file of results is a sum of others
	t.dropProfiles()
	b := newBuilder(t, nil, true, in, units, Layout{})
	r := &resultReader{builder: b}
	r.results.File = t.file
	for i, name := range t.header {
		if name == "" {
			continue
		}
		if !IsResultColumn(name) {
			r.results.Labels = append(r.results.Labels, labelOfColumn(name))
			r.labels = append(r.labels, i)
		}
	}
	for k, name := range resultColumns {
		i, err := t.findUnique(name)
		if err != nil {
			return nil, err
		}
		r.columns[k] = i
	}
	for k, name := range resultEnds {
		i, err := t.findUnique(name)
		if err != nil {
			return nil, err
		}
		r.ends[k] = i
	}
	b.recipe, b.ingredient, b.amount, b.unit = r.columns[2], r.columns[3], r.columns[4], r.columns[5]
	if err := t.readRows(&b.faults, r.readEntryRow); err != nil {
		return nil, err
	}
	r.closeEntry()
	if err := b.faults.join(); err != nil {
		return nil, err
	}
	r.results.Ingredients = b.book.Ingredients
	return &r.results, nil
}

// A resultReader assembles entries row by row.
type resultReader struct {
	*builder
	columns   [6]int // indices of resultColumns
	ends      [2]int // indices of resultEnds
	labels    []int
	results   Results
	entryOpen bool // the last entry may have more rows
	entryBad  bool // and it has a fault
}

// readEntryRow reads a row.
func (r *resultReader) readEntryRow() {
	t := r.table
	id, time := NormalizeName(t.row[r.columns[0]]), NormalizeName(t.row[r.ends[1]])
	if id == "" {
		r.addError(r.columns[0], "", "a result without an id", "give it one that no other has, such as B3-1")
		r.entryOpen = false
		return
	}
	ingredient := int32(-1)
	name := NormalizeName(t.row[r.ingredient])
	if name != "" {
		i, known := r.findIngredient(name, func() place { return t.place(r.ingredient) })
		if !known {
			r.refuseIngredient(name, t.place(r.ingredient))
			r.entryOpen = false
			return
		}
		ingredient = i
	}
	last := len(r.results.Entries) - 1
	again := r.entryOpen && r.results.Entries[last].ID == id && r.results.Entries[last].Time == time && ingredient >= 0 &&
		!slices.ContainsFunc(r.results.Entries[last].Parts, func(p Part) bool { return p.Ingredient == ingredient })
	if !again && !r.beginEntry(id, time) {
		return
	}
	e := &r.results.Entries[len(r.results.Entries)-1]
	if again {
		r.checkSameValues(e)
	}
	if ingredient < 0 {
		if e.Status != Withdrawn {
			r.entryBad = true
			r.addError(r.ingredient, "", "an ingredient without a name", "name it, or remove the row")
		}
		return
	}
	part, ok := r.resultPart(ingredient)
	r.entryBad = r.entryBad || !ok
	if !ok || part.Amount.IsZero() {
		return
	}
	if !r.reconcileUnit(e.Parts, &part, r.unit) {
		r.failMixedUnits(&Recipe{Name: e.ID}, &e.Parts[0], &part, r.unit)
		return
	}
	e.Parts = append(e.Parts, part)
}

// beginEntry begins an entry.
func (r *resultReader) beginEntry(id, time string) bool {
	r.closeEntry()
	t := r.table
	e := Result{ID: strings.Clone(id), Time: strings.Clone(time), Recipe: strings.Clone(NormalizeName(t.row[r.recipe])), line: t.place(r.columns[0]).line}
	if text := NormalizeName(t.row[r.columns[1]]); text != "" {
		round, err := strconv.Atoi(text)
		if err != nil || round < 0 || round > math.MaxInt32 {
			r.addError(r.columns[1], "", "the round is "+inputerr.Quote(text), "write a whole number; 0 for what was there before the first batch")
			return false
		}
		e.Round = round
	}
	switch status := Status(strings.ToLower(NormalizeName(t.row[r.ends[0]]))); status {
	case Made, Failed, Withdrawn:
		e.Status = status
	case "":
		e.Status = Made
	default:
		r.addError(r.ends[0], "", "the status is "+inputerr.Quote(string(status)), "write made, failed or withdrawn")
		return false
	}
	for _, i := range r.labels {
		e.Values = append(e.Values, strings.Clone(r.labelValue(i)))
	}
	r.results.Entries = append(r.results.Entries, e)
	r.entryOpen, r.entryBad = true, false
	return true
}

// labelValue returns a label of the current row.
func (r *resultReader) labelValue(column int) string {
	return r.table.plainFigure(column, NormalizeName(r.table.row[column]))
}

// closeEntry ends the last entry.
func (r *resultReader) closeEntry() {
	if !r.entryOpen {
		return
	}
	r.entryOpen = false
	e := &r.results.Entries[len(r.results.Entries)-1]
	if e.Status != Withdrawn && len(e.Parts) == 0 && !r.entryBad {
		r.faults.add(&Error{File: r.table.file, Line: e.line, Message: "the amounts of " + inputerr.Quote(e.ID) + " add up to 0", Hint: "give at least one ingredient an amount above 0, or withdraw it"})
	}
}

// checkSameValues verifies that a row agrees with the earlier rows of its entry.
func (r *resultReader) checkSameValues(e *Result) {
	t := r.table
	for k, i := range r.labels {
		if is := r.labelValue(i); is != e.Values[k] {
			r.addError(i, "", fmt.Sprintf("%s of %s changes from %s on line %d to %s", inputerr.Quote(t.header[i]), inputerr.Quote(e.ID), inputerr.Quote(e.Values[k]), e.line, inputerr.Quote(is)),
				"write the same in all rows of an entry; one that is added later replaces it")
		}
	}
	if status := Status(strings.ToLower(NormalizeName(t.row[r.ends[0]]))); status != e.Status {
		r.addError(r.ends[0], "", fmt.Sprintf("the status of %s changes from %s on line %d", inputerr.Quote(e.ID), e.Status, e.line), "write the same in all rows of an entry")
	}
}

// resultPart parses the amount and unit of the current row.
func (r *resultReader) resultPart(ingredient int32) (part Part, ok bool) {
	t := r.table
	part.Ingredient, part.Line = ingredient, int32(min(t.rows.line(r.recipe), math.MaxInt32))
	unit, message, hint := r.findUnit(t.row[r.unit])
	if message != "" {
		r.addError(r.unit, "unit "+NormalizeName(t.row[r.unit]), message, hint)
		return part, false
	}
	q, message, hint := r.readQuantity(r.amount, strings.TrimSpace(t.row[r.amount]))
	if message == "" && q.isRest {
		message, hint = "unreadable amount "+inputerr.Quote(t.row[r.amount]), "write a number such as 4.5"
	}
	if message != "" {
		r.addError(r.amount, "", message, hint)
		return part, false
	}
	part.Amount, part.Unit = q.amount, unit
	if q.unit != "" {
		part.Unit, _ = r.units.Lookup(q.unit)
	}
	return part, true
}

// Current returns the entries that count: the last of each id, in the order in which the ids first
// occur, without withdrawn ones.
func (r *Results) Current() []Result {
	last := r.lastByID()
	var current []Result
	seen := make(map[string]bool, len(last))
	for _, e := range r.Entries {
		key := IDKey(e.ID)
		if seen[key] {
			continue
		}
		seen[key] = true
		if e := r.Entries[last[key]]; e.Status != Withdrawn {
			current = append(current, e)
		}
	}
	return current
}

// lastByID returns the last entry of each id, by its key.
func (r *Results) lastByID() map[string]int {
	last := make(map[string]int)
	for k, e := range r.Entries {
		last[IDKey(e.ID)] = k
	}
	return last
}

// Last returns the last entry of an id, and whether there is one.
func (r *Results) Last(id string) (Result, bool) {
	key := IDKey(id)
	for _, e := range slices.Backward(r.Entries) {
		if IDKey(e.ID) == key {
			return e, true
		}
	}
	return Result{}, false
}

// Value returns an entry's value of a label, or an empty text.
func (r *Results) Value(e *Result, label string) string {
	if k := slices.Index(r.Labels, NormalizeName(label)); k >= 0 {
		return e.Values[k]
	}
	return ""
}

// Book returns the entries that count as recipes, which are named by their ids. The label of a
// failed recipe is what was recorded, usually nothing.
func (r *Results) Book() *Book {
	b := &Book{File: r.File, Ingredients: r.Ingredients, Long: true, Results: r}
	current := r.Current()
	for _, e := range current {
		b.Recipes = append(b.Recipes, Recipe{Name: e.ID, Parts: e.Parts, Line: e.line, Column: 1, file: r.File})
	}
	for k, name := range r.Labels {
		l := labelColumn{Label: Label{Name: name}, class: make(map[string]int32)}
		for _, e := range current {
			l.addValue(e.Values[k], func() *Error {
				return &Error{File: r.File, Line: e.line, Message: inputerr.Quote(e.Values[k]) + " is not a number, so " + inputerr.Quote(name) + " cannot be used as one", Hint: "correct it with kir record --correct"}
			})
		}
		label, _ := l.finish()
		b.Labels = append(b.Labels, label)
	}
	return b
}

// Write returns the content of a file with the results.
func (r *Results) Write() ([]byte, error) {
	var b bytes.Buffer
	w := csv.NewWriter(&b)
	header := slices.Clone(resultColumns)
	for _, name := range r.Labels {
		header = append(header, EscapeCell(columnOfLabel(name)))
	}
	if err := w.Write(append(header, resultEnds...)); err != nil {
		return nil, err
	}
	for k := range r.Entries {
		e := &r.Entries[k]
		parts := e.Parts
		if len(parts) == 0 {
			parts = []Part{{Ingredient: -1}}
		}
		for _, p := range parts {
			name, amount, unit := "", "", ""
			if p.Ingredient >= 0 {
				name, amount = EscapeCell(r.Ingredients.Names[p.Ingredient]), p.Amount.String()
			}
			if p.Unit != nil {
				unit = EscapeCell(p.Unit.Name)
			}
			row := []string{EscapeCell(e.ID), strconv.Itoa(e.Round), EscapeCell(e.Recipe), name, amount, unit}
			for _, v := range e.Values {
				row = append(row, EscapeCell(v))
			}
			row = append(row, string(e.Status), EscapeCell(e.Time))
			if err := w.Write(row); err != nil {
				return nil, err
			}
		}
	}
	w.Flush()
	return b.Bytes(), w.Error()
}

// AddLabel adds a column unless there is one of that name.
func (r *Results) AddLabel(name string) {
	if slices.Contains(r.Labels, name) {
		return
	}
	r.Labels = append(r.Labels, name)
	for k := range r.Entries {
		r.Entries[k].Values = append(slices.Clip(r.Entries[k].Values), "")
	}
}

// ReadHeader returns the names of a table's columns, empty for columns without content.
func ReadHeader(r io.Reader, file string, l Layout) ([]string, error) {
	t, err := newTable(r, file, l, DefaultUnits(), func(name string) bool { return isRecipeHeader(name) || IsResultColumn(name) })
	if err != nil {
		return nil, plainError(err)
	}
	return t.header, nil
}

// ReadHeaderFile is [ReadHeader] for a file.
func ReadHeaderFile(ctx context.Context, path string, l Layout) ([]string, error) {
	return readFile(ctx, path, func(r io.Reader) ([]string, error) { return ReadHeader(r, path, l) })
}

// NearestAmount returns the amount nearest to a number of at least 0.
func NearestAmount(r *big.Rat) (Amount, error) { return nearestAmount(r) }

// Join joins books, with their recipes in the order of the books. A label that only some books have
// is unknown for the recipes of the others. Books with the same ingredients keep them. Otherwise
// the ingredients are all that any book names, in the order in which they first occur.
func Join(books ...*Book) *Book {
	out := &Book{File: books[0].File, Ingredients: books[0].Ingredients, Long: books[0].Long}
	same := !slices.ContainsFunc(books, func(b *Book) bool { return b.Ingredients != out.Ingredients })
	if !same {
		out.Ingredients = newIngredients("")
	}
	for _, b := range books {
		to := make([]int32, b.Ingredients.Len())
		for i, name := range b.Ingredients.Names {
			at, ok := out.Ingredients.find(name)
			if !ok {
				at = out.Ingredients.add(name)
			}
			to[i] = at
		}
		for _, r := range b.Recipes {
			r.file = cmp.Or(r.file, b.File)
			r.Parts = slices.Clone(r.Parts)
			for k := range r.Parts {
				r.Parts[k].Ingredient = to[r.Parts[k].Ingredient]
			}
			out.Recipes = append(out.Recipes, r)
		}
		out.Notes = append(out.Notes, b.Notes...)
		if b.Results != nil {
			out.Results = b.Results
		}
	}
	for _, b := range books {
		for k := range b.Labels {
			if name := b.Labels[k].Name; !slices.ContainsFunc(out.Labels, func(l Label) bool { return l.Name == name }) {
				out.Labels = append(out.Labels, joinLabel(name, books))
			}
		}
	}
	return out
}

// joinLabel returns a label of the joined books.
func joinLabel(name string, books []*Book) Label {
	l := labelColumn{Label: Label{Name: name}, class: make(map[string]int32)}
	for _, b := range books {
		of, ok := b.Label(name)
		for r := range b.Recipes {
			if !ok {
				l.ClassOf = append(l.ClassOf, -1)
				continue
			}
			l.addValue(of.Value(r), func() *Error { return of.notNumber })
		}
		if ok {
			l.oddCells = append(l.oddCells, of.oddCells...)
		}
	}
	label, _ := l.finish()
	return label
}
