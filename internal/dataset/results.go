package dataset

import (
	"bytes"
	"cmp"
	"context"
	"encoding/csv"
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"

	"kir/internal/inputerr"
	"kir/internal/measure"
	"kir/internal/tablefile"
)

// Results is the content of a file of results. Such a file is a table in the long form: a row is an
// ingredient of an entry. Its columns are id, round, recipe, ingredient, amount, unit, then one
// column for each label, then status and time. A label called time has the column time (condition).
// Entries are added to the file and never changed. If several entries have the same id, see
// [IDKey], only the last one counts.
type Results struct {
	File    string   // name of the file
	Labels  []string // names of the labels: the columns between unit and status
	Entries []Result // entries in the order of their creation

	// Ingredients are the ingredients that were given to the reader. If none were given, they are
	// all that the file names.
	Ingredients *Ingredients
}

// A Result is one entry of a file of results: a recipe that was made, and what was measured.
type Result struct {
	ID     string   // id of the recipe, such as B3-1
	Round  int      // number of the batch; 0 for recipes made before the first batch
	Recipe string   // name of the recipe
	Parts  []Part   // amounts that were used; none if the entry is withdrawn
	Values []string // values of the labels, in the order of Results.Labels
	Status Status   // what became of the recipe
	Time   string   // when the entry was recorded, as text; nothing depends on the time

	firstLine int // line of the first row of the entry in the file, from 1
}

// A Status says whether the recipe of an entry was made and measured, failed, or does not count.
type Status string

// The statuses of an entry.
const (
	StatusMade      Status = "made"      // the recipe was made and measured
	StatusFailed    Status = "failed"    // the recipe was tried and could not be measured
	StatusWithdrawn Status = "withdrawn" // the entry does not count
)

// Names of the columns of a file of results before and after the columns of the labels.
var (
	leadingResultColumns  = []string{"id", "round", "recipe", "ingredient", "amount", "unit"}
	trailingResultColumns = []string{"status", "time"}
)

// IsResultColumn reports whether a column with a given name in a file of results is one of the
// fixed columns, such as id or status, and not a label.
func IsResultColumn(name string) bool {
	is := func(other string) bool { return strings.EqualFold(name, other) }
	return slices.ContainsFunc(leadingResultColumns, is) || slices.ContainsFunc(trailingResultColumns, is)
}

// timeLabelColumn is the name of the column of a label called time. The column time itself says
// when an entry was recorded.
const timeLabelColumn = "time (condition)"

// columnOfLabel returns the name of the column that holds a label in a file of results. It differs
// from the name of the label only for a label called time.
func columnOfLabel(name string) string {
	if strings.EqualFold(name, "time") {
		return name + strings.TrimPrefix(timeLabelColumn, "time")
	}
	return name
}

// labelOfColumn returns the name of the label that a column of a file of results holds. It is the
// inverse of columnOfLabel.
func labelOfColumn(name string) string {
	if strings.EqualFold(name, timeLabelColumn) {
		return name[:len("time")]
	}
	return name
}

// isResultsHeader reports whether a header has all the fixed columns of a file of results.
func isResultsHeader(header []string) bool {
	for _, name := range slices.Concat(leadingResultColumns, trailingResultColumns) {
		if !slices.ContainsFunc(header, func(other string) bool { return strings.EqualFold(name, other) }) {
			return false
		}
	}
	return true
}

// ReadResults reads a file of results. Of the options only Units, Ingredients and Layout apply. The
// parameter file is the name of the file in messages. A file with only a header has no entries. A
// fault in the file is an [*Error] or an [*inputerr.Errors].
func ReadResults(r io.Reader, file string, o Options) (*Results, error) {
	units := o.Units
	if units == nil {
		units = measure.DefaultUnits()
	}
	t, err := newTable(r, file, o.Layout, units, IsResultColumn)
	if err != nil {
		return nil, unwrapFatal(err)
	}
	if !isResultsHeader(t.header) {
		return nil, t.errorInHeader(0, "this is no file of results", "it has the columns "+strings.Join(slices.Concat(leadingResultColumns, trailingResultColumns), ", ")+", and one for each label before status")
	}
	return readResults(t, o.Ingredients, units)
}

// readResults reads the entries below the header of a table. in holds the only allowed ingredients;
// nil allows any.
func readResults(t *table, in *Ingredients, units *measure.Units) (*Results, error) {
	t.totalRowLine = 0 // no row of a file of results is a sum of others
	t.dropProfiles()
	b := newBuilder(t, nil, true, in, units, Layout{})
	r := &resultReader{bookBuilder: b}
	r.results.File = t.file
	for i, name := range t.header {
		if name == "" {
			continue
		}
		if !IsResultColumn(name) {
			r.results.Labels = append(r.results.Labels, labelOfColumn(name))
			r.labelIndices = append(r.labelIndices, i)
		}
	}
	for k, name := range leadingResultColumns {
		i, err := t.findUniqueColumn(name)
		if err != nil {
			return nil, err
		}
		r.leadingIndices[k] = i
	}
	for k, name := range trailingResultColumns {
		i, err := t.findUniqueColumn(name)
		if err != nil {
			return nil, err
		}
		r.trailingIndices[k] = i
	}
	b.recipeColumn, b.ingredientColumn, b.amountColumn, b.unitColumn = r.leadingIndices[2], r.leadingIndices[3], r.leadingIndices[4], r.leadingIndices[5]
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

// A resultReader assembles the entries of a file of results, row by row.
type resultReader struct {
	*bookBuilder
	leadingIndices  [6]int  // by element of leadingResultColumns: index in the table of that column
	trailingIndices [2]int  // by element of trailingResultColumns: index in the table of that column
	labelIndices    []int   // by label: index in the table of its column
	results         Results // the results so far
	entryOpen       bool    // whether the next row may belong to the last entry
	entryFaulty     bool    // whether the last entry has a fault
}

// readEntryRow adds the current row to the last entry if id and time are equal and the ingredient
// is new. Otherwise the row begins a new entry.
func (r *resultReader) readEntryRow() {
	t := r.table
	id, time := NormalizeName(t.row[r.leadingIndices[0]]), NormalizeName(t.row[r.trailingIndices[1]])
	if id == "" {
		r.addError(r.leadingIndices[0], "", "a result without an id", "give it one that no other has, such as B3-1")
		r.entryOpen = false
		return
	}
	ingredient := int32(-1)
	name := NormalizeName(t.row[r.ingredientColumn])
	if name != "" {
		i, known := r.findOrAddIngredient(name, func() tablefile.Place { return t.place(r.ingredientColumn) })
		if !known {
			r.reportUnknownIngredient(name, "", t.place(r.ingredientColumn))
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
		if e.Status != StatusWithdrawn {
			r.entryFaulty = true
			r.addError(r.ingredientColumn, "", "an ingredient without a name", "name it, or remove the row")
		}
		return
	}
	part, ok := r.parseResultPart(ingredient)
	r.entryFaulty = r.entryFaulty || !ok
	if !ok || part.Amount.IsZero() {
		return
	}
	if !r.reconcileUnit(e.Parts, &part, r.unitColumn) {
		r.reportMixedUnits(&Recipe{Name: e.ID}, e.Parts, []placedPart{{part, t.place(r.unitColumn)}})
		return
	}
	e.Parts = append(e.Parts, part)
}

// beginEntry closes the last entry and begins a new one with the values of the current row. It
// returns false if it recorded an error instead.
func (r *resultReader) beginEntry(id, time string) bool {
	r.closeEntry()
	t := r.table
	e := Result{ID: strings.Clone(id), Time: strings.Clone(time), Recipe: strings.Clone(NormalizeName(t.row[r.recipeColumn])), firstLine: t.place(r.leadingIndices[0]).Line}
	if text := NormalizeName(t.row[r.leadingIndices[1]]); text != "" {
		round, err := strconv.Atoi(text)
		if err != nil || round < 0 || round > math.MaxInt32 {
			r.addError(r.leadingIndices[1], "", "the round is "+inputerr.Quote(text), "write a whole number; 0 for what was there before the first batch")
			return false
		}
		e.Round = round
	}
	switch status := Status(strings.ToLower(NormalizeName(t.row[r.trailingIndices[0]]))); status {
	case StatusMade, StatusFailed, StatusWithdrawn:
		e.Status = status
	case "":
		e.Status = StatusMade
	default:
		r.addError(r.trailingIndices[0], "", "the status is "+inputerr.Quote(string(status)), "write made, failed or withdrawn")
		return false
	}
	for _, i := range r.labelIndices {
		e.Values = append(e.Values, strings.Clone(r.labelValue(i)))
	}
	r.results.Entries = append(r.results.Entries, e)
	r.entryOpen, r.entryFaulty = true, false
	return true
}

// labelValue returns the value of a label in the current row, given the index of its column.
func (r *resultReader) labelValue(column int) string {
	return r.table.plainCell(column, NormalizeName(r.table.row[column]))
}

// closeEntry ends the last entry. It records an error if the entry has no amounts but should have
// some.
func (r *resultReader) closeEntry() {
	if !r.entryOpen {
		return
	}
	r.entryOpen = false
	e := &r.results.Entries[len(r.results.Entries)-1]
	if e.Status != StatusWithdrawn && len(e.Parts) == 0 && !r.entryFaulty {
		r.faults.add(&Error{File: r.table.file, Line: e.firstLine, Message: "the amounts of " + inputerr.Quote(e.ID) + " add up to 0", Hint: "give at least one ingredient an amount above 0, or withdraw it"})
	}
}

// checkSameValues records an error for each label, and for the status, if the current row differs
// from the earlier rows of its entry.
func (r *resultReader) checkSameValues(e *Result) {
	t := r.table
	for k, i := range r.labelIndices {
		if is := r.labelValue(i); is != e.Values[k] {
			r.addError(i, "", fmt.Sprintf("%s of %s changes from %s on line %d to %s", inputerr.Quote(t.header[i]), inputerr.Quote(e.ID), inputerr.Quote(e.Values[k]), e.firstLine, inputerr.Quote(is)),
				"write the same in all rows of an entry; one that is added later replaces it")
		}
	}
	if status := Status(strings.ToLower(NormalizeName(t.row[r.trailingIndices[0]]))); status != e.Status {
		r.addError(r.trailingIndices[0], "", fmt.Sprintf("the status of %s changes from %s on line %d", inputerr.Quote(e.ID), e.Status, e.firstLine), "write the same in all rows of an entry")
	}
}

// parseResultPart parses the amount and the unit of an ingredient in the current row. ok is false
// if it recorded an error.
func (r *resultReader) parseResultPart(ingredient int32) (part Part, ok bool) {
	t := r.table
	part.Ingredient, part.Line = ingredient, int32(min(t.rows.Line(r.recipeColumn), math.MaxInt32))
	unit, message, hint := r.findUnit(t.row[r.unitColumn])
	if message != "" {
		r.addError(r.unitColumn, "unit "+NormalizeName(t.row[r.unitColumn]), message, hint)
		return part, false
	}
	q, message, hint := r.readQuantity(r.amountColumn, strings.TrimSpace(t.row[r.amountColumn]))
	if message == "" && q.IsRemainder {
		message, hint = "unreadable amount "+inputerr.Quote(t.row[r.amountColumn]), "write a number such as 4.5"
	}
	if message != "" {
		r.addError(r.amountColumn, "", message, hint)
		return part, false
	}
	part.Amount, part.Unit = q.Amount, unit
	if q.Unit != "" {
		part.Unit, _ = r.units.Lookup(q.Unit)
	}
	return part, true
}

// CurrentEntries returns the entries that count: the last entry of each id, unless that entry is
// withdrawn. They are in the order in which the ids first occur.
func (r *Results) CurrentEntries() []Result {
	last := r.lastByID()
	var current []Result
	seen := make(map[string]bool, len(last))
	for _, e := range r.Entries {
		key := IDKey(e.ID)
		if seen[key] {
			continue
		}
		seen[key] = true
		if e := r.Entries[last[key]]; e.Status != StatusWithdrawn {
			current = append(current, e)
		}
	}
	return current
}

// lastByID maps the key of each id, see [IDKey], to the index of the last entry with this id.
func (r *Results) lastByID() map[string]int {
	last := make(map[string]int)
	for k, e := range r.Entries {
		last[IDKey(e.ID)] = k
	}
	return last
}

// LastEntry returns the last entry with a given id, which may be withdrawn. ok is false if there is no
// such entry.
func (r *Results) LastEntry(id string) (entry Result, ok bool) {
	key := IDKey(id)
	for _, e := range slices.Backward(r.Entries) {
		if IDKey(e.ID) == key {
			return e, true
		}
	}
	return Result{}, false
}

// Value returns the value of a label in an entry. It is empty if there is no such label.
func (r *Results) Value(e *Result, label string) string {
	if k := slices.Index(r.Labels, NormalizeName(label)); k >= 0 {
		return e.Values[k]
	}
	return ""
}

// Book returns a book whose recipes are the entries that count, named by their ids. The labels of a
// failed recipe have the recorded values, which are usually empty.
func (r *Results) Book() *Book {
	b := &Book{File: r.File, Ingredients: r.Ingredients, LongForm: true, Results: r}
	current := r.CurrentEntries()
	for _, e := range current {
		b.Recipes = append(b.Recipes, Recipe{Name: e.ID, Parts: e.Parts, Line: e.firstLine, Column: 1, sourceFile: r.File})
	}
	for k, name := range r.Labels {
		l := labelColumn{Label: Label{Name: name}, classByValue: make(map[string]int32)}
		for _, e := range current {
			l.addValue(e.Values[k], func() *Error {
				return &Error{File: r.File, Line: e.firstLine, Message: inputerr.Quote(e.Values[k]) + " is not a number, so " + inputerr.Quote(name) + " cannot be used as one", Hint: "correct it with kir record --correct"}
			})
		}
		label, _ := l.finish()
		b.Labels = append(b.Labels, label)
	}
	return b
}

// EncodeCSV returns the results as the content of a CSV file.
func (r *Results) EncodeCSV() ([]byte, error) {
	var b bytes.Buffer
	w := csv.NewWriter(&b)
	header := slices.Clone(leadingResultColumns)
	for _, name := range r.Labels {
		header = append(header, EscapeCell(columnOfLabel(name)))
	}
	if err := w.Write(append(header, trailingResultColumns...)); err != nil {
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

// AddLabel adds a label with empty values in all entries, unless there is a label with this name.
func (r *Results) AddLabel(name string) {
	if slices.Contains(r.Labels, name) {
		return
	}
	r.Labels = append(r.Labels, name)
	for k := range r.Entries {
		r.Entries[k].Values = append(slices.Clip(r.Entries[k].Values), "")
	}
}

// ReadHeader returns the names of the columns of a table. The name of a column without content may
// be empty.
func ReadHeader(r io.Reader, file string, l Layout) ([]string, error) {
	t, err := newTable(r, file, l, measure.DefaultUnits(), func(name string) bool { return isRecipeHeader(name) || IsResultColumn(name) })
	if err != nil {
		return nil, unwrapFatal(err)
	}
	return t.header, nil
}

// ReadHeaderFile returns the names of the columns of the table in the file at path, as [ReadHeader]
// does.
func ReadHeaderFile(ctx context.Context, path string, l Layout) ([]string, error) {
	return readFile(ctx, path, func(r io.Reader) ([]string, error) { return ReadHeader(r, path, l) })
}

// Join returns one book with the recipes of several books, in the order of the books. A recipe has
// no value of a label that its book lacks. If all books share one list of ingredients, the result
// has the same list. Otherwise its ingredients are all that any book lists, in the order in which
// they first occur.
func Join(books ...*Book) *Book {
	out := &Book{File: books[0].File, Ingredients: books[0].Ingredients, LongForm: books[0].LongForm}
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
			r.sourceFile = cmp.Or(r.sourceFile, b.File)
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

// joinLabel returns the label with a given name for the recipes of all books together.
func joinLabel(name string, books []*Book) Label {
	l := labelColumn{Label: Label{Name: name}, classByValue: make(map[string]int32)}
	for _, b := range books {
		of, ok := b.Label(name)
		for r := range b.Recipes {
			if !ok {
				l.ClassOf = append(l.ClassOf, -1)
				continue
			}
			l.addValue(of.Value(r), func() *Error { return of.notNumberErr })
		}
		if ok {
			l.oddCells = append(l.oddCells, of.oddCells...)
		}
	}
	label, _ := l.finish()
	return label
}
