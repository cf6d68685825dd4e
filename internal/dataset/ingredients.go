package dataset

import (
	"context"
	"fmt"
	"io"
	"math"
	"slices"
	"strings"

	"kir/internal/inputerr"
)

// Ingredients is a list of ingredients, each with a name and, if they come from a file, with
// attributes. It does not change after it has been made.
type Ingredients struct {
	// File is the name of their file, or empty.
	File string

	// Names are in the order of the file and distinct.
	Names []string

	// Attributes are in the order of their columns.
	Attributes []Attribute

	// Notes are the reader's interpretations of what the file leaves open. Guessed is the layout
	// that settles those that may well be wrong.
	Notes   []Note
	Guessed Layout

	index  map[string]int32 // by name
	folded map[string]int32 // by the name's key, which foldName returns
}

// An Attribute is a property of each ingredient, such as its group or its cost.
type Attribute struct {
	Name string

	// Values are the cells as text, one for each ingredient, empty where the attribute is unknown.
	Values []string

	// Affix is the text beside each number, such as % or €, which Values leave out.
	Affix string

	numbers   []float64
	notNumber *Error
	oddText   string // text of that cell, quoted
	places    []place
}

func newIngredients(file string) *Ingredients {
	return &Ingredients{File: file, index: make(map[string]int32), folded: make(map[string]int32)}
}

// NewIngredients returns ingredients without attributes. The names must not be
// empty and must differ.
func NewIngredients(names ...string) (*Ingredients, error) {
	in := newIngredients("")
	for i, text := range names {
		name := NormalizeName(text)
		if name == "" {
			return nil, fmt.Errorf("ingredient %d has no name", i+1)
		}
		if first, ok := in.find(name); ok {
			return nil, fmt.Errorf("ingredients %d and %d are both called %s: remove one", first+1, i+1, quoteBoth(in.Names[first], name))
		}
		in.add(name)
	}
	return in, nil
}

// find returns the ingredient of a name, regardless of case.
func (in *Ingredients) find(name string) (int32, bool) {
	i, ok := in.index[name]
	if !ok {
		i, ok = in.folded[foldName(name)]
	}
	return i, ok
}

// quoteBoth quotes a name and another spelling of it.
func quoteBoth(name, other string) string {
	if name == other {
		return inputerr.Quote(name)
	}
	return inputerr.Quote(name) + " and " + inputerr.Quote(other)
}

// add appends a new ingredient.
func (in *Ingredients) add(name string) int32 {
	i := int32(len(in.Names))
	in.index[name], in.folded[foldName(name)] = i, i
	in.Names = append(in.Names, name)
	return i
}

// ReadIngredients reads a list of ingredients from a table: a row for each, the column name, and a
// column for each attribute. An empty cell is an unknown attribute. The file may be CSV or a
// workbook, as for [Read]. All of the layout except Columns applies. file is the name for messages.
// A fault in the file is an [*Error] or a [*inputerr.Errors].
func ReadIngredients(r io.Reader, file string, l Layout) (*Ingredients, error) {
	t, err := newTable(r, file, l, DefaultUnits(), isNameColumn)
	if err != nil {
		return nil, plainError(err)
	}
	return t.readIngredients()
}

// isNameColumn reports whether a header name is that of the ingredients' names.
func isNameColumn(name string) bool { return strings.EqualFold(NormalizeName(name), "name") }

// VisitIngredients opens a workbook and calls visit with each of its sheets, in order, until it
// returns false. read reads the sheet as [ReadIngredients] does.
func VisitIngredients(r io.Reader, file string, visit func(sheet string, read func() (*Ingredients, error)) (more bool)) error {
	w, err := openWorkbook(contextOf(r), r, file)
	if err != nil {
		return err
	}
	for _, name := range w.names {
		l := Layout{Sheet: name}
		read := func() (*Ingredients, error) {
			suits := func(row []string) bool { return slices.ContainsFunc(row, isNameColumn) }
			s, err := w.openSheet(l, suits)
			if err != nil {
				return nil, plainError(err)
			}
			t, err := s.readTable(l, DefaultUnits(), suits)
			if err != nil {
				return nil, plainError(err)
			}
			return t.readIngredients()
		}
		if !visit(name, read) {
			break
		}
	}
	return nil
}

// readIngredients reads the ingredients below the header.
func (t *table) readIngredients() (*Ingredients, error) {
	named, err := t.nameColumn()
	if err != nil {
		return nil, err
	}
	t.dropProfiles()
	t.footnotes = true
	in := newIngredients(t.file)
	for i, name := range t.header {
		if i != named && name != "" {
			in.Attributes = append(in.Attributes, Attribute{Name: name})
		}
	}
	var lines []int
	var faults faults
	err = t.readRows(&faults, func() {
		name := NormalizeName(t.row[named])
		p := t.place(named)
		if t.shortRowErr != nil && !remarkPattern().MatchString(NormalizeName(t.row[0])) {
			faults.add(t.shortRowErr)
			return
		}
		if name == "" && t.hasSingleCell(t.row) && remarkPattern().MatchString(NormalizeName(t.row[0])) {
			name = NormalizeName(t.row[0])
		}
		if name == "" {
			faults.add(t.errorIn(p, "an ingredient without a name", "name it, or remove the row"))
			return
		}
		if t.hasSingleCell(t.row) && remarkPattern().MatchString(name) {
			t.addDoubt(p, fmt.Sprintf(footnoteNote, inputerr.Quote(name)))
			return
		}
		if first, ok := in.find(name); ok {
			as := ""
			if in.Names[first] != name {
				as = " as " + inputerr.Quote(in.Names[first])
			}
			faults.add(t.errorIn(p, fmt.Sprintf("ingredient %s is there twice: first on line %d%s", inputerr.Quote(name), lines[first], as), "remove one of the rows"))
			return
		}
		in.add(strings.Clone(name))
		lines = append(lines, p.line)
		a := 0
		for i, text := range t.row {
			if i == named || t.header[i] == "" {
				continue
			}
			in.Attributes[a].addCell(t, i, text)
			a++
		}
	})
	if err != nil {
		return nil, err
	}
	if len(in.Names) == 0 && len(faults.all) == 0 {
		faults.add(t.errorIn(place{line: 1, column: 1}, "there is no ingredient in the file", "add a row for each ingredient below the header"))
	}
	if err := faults.join(); err != nil {
		return nil, err
	}
	for k := range in.Attributes {
		if a := &in.Attributes[k]; a.notNumber != nil && t.profile[t.byName[a.Name]].isMostlyNumeric() {
			bad := a.notNumber
			t.addDoubt(place{bad.Line, bad.Column, bad.Cell}, a.oddText+" in "+inputerr.Quote(a.Name)+" is not a number, while most others are: the column is read as text")
		}
	}
	in.Notes, in.Guessed = t.notes, t.settling
	return in, nil
}

// nameColumn returns the column of the ingredients' names.
func (t *table) nameColumn() (int, error) {
	named, err := t.findUnique("name")
	if err != nil || named >= 0 {
		return named, err
	}
	for _, word := range append([]string{string(IngredientColumn)}, roleWords[IngredientColumn]...) {
		if i := t.find(word); i >= 0 {
			t.addNote(t.places[i], "column "+inputerr.Quote(t.header[i])+" is taken as the name", "")
			return i, nil
		}
	}
	hint := "name the column of the ingredients' names so"
	if mean, ok := inputerr.Nearest("name", t.header); ok {
		hint += "; is it " + inputerr.Quote(mean) + "?"
	} else if p := &t.profile[0]; t.header[0] != "" && p.numbers == 0 && p.filled > 1 && p.allDistinct {
		t.notes = append(t.notes, Note{File: t.file, Line: t.places[0].line, Column: t.places[0].column, Cell: t.places[0].cell, Doubtful: true,
			Message: "column " + inputerr.Quote(t.header[0]) + ", the first, is taken as the name"})
		return 0, nil
	}
	return 0, t.errorInHeader(0, "no column is called \"name\"", hint)
}

// addCell adds the next ingredient's value from the current row.
func (a *Attribute) addCell(t *table, field int, text string) {
	value := strings.Clone(t.plainFigure(field, NormalizeName(text)))
	if p := &t.profile[field]; p.isNumeric() {
		a.Affix = p.affix
	}
	a.Values = append(a.Values, value)
	a.places = append(a.places, t.place(field))
	f := math.NaN()
	if value != "" {
		var ok bool
		if f, ok = number(value); !ok && a.notNumber == nil {
			a.notNumber, a.oddText = t.notNumberError(field, value), inputerr.Quote(value)
		}
	}
	a.numbers = append(a.numbers, f)
}

// ReadIngredientsFile reads a list of ingredients from a file; see [ReadIngredients].
func ReadIngredientsFile(ctx context.Context, path string, l Layout) (*Ingredients, error) {
	return readFile(ctx, path, func(r io.Reader) (*Ingredients, error) { return ReadIngredients(r, path, l) })
}

// Len returns the number of ingredients.
func (in *Ingredients) Len() int { return len(in.Names) }

// Index returns the index of an ingredient by its name, regardless of case, and whether there is
// such an ingredient.
func (in *Ingredients) Index(name string) (int, bool) {
	i, ok := in.find(NormalizeName(name))
	return int(i), ok
}

// Attribute returns the attribute of that name, with or without the unit in its header, and
// whether there is one.
func (in *Ingredients) Attribute(name string) (*Attribute, bool) {
	name = NormalizeName(name)
	i := slices.IndexFunc(in.Attributes, func(a Attribute) bool { return a.Name == name })
	if i < 0 {
		for k := range in.Attributes {
			if plain, unit := SplitHeaderUnit(in.Attributes[k].Name); unit != "" && plain == name {
				if i >= 0 {
					return nil, false // the name matches attributes of two units
				}
				i = k
			}
		}
	}
	if i < 0 {
		return nil, false
	}
	return &in.Attributes[i], true
}

// Numbers returns the attribute of each ingredient as a number, NaN where it is unknown. If a cell
// is not a finite number, the error is an [*Error] with its position.
func (a *Attribute) Numbers() ([]float64, error) {
	if a.notNumber != nil {
		return nil, a.notNumber
	}
	return slices.Clone(a.numbers), nil
}

// Place returns the line and column of an ingredient's cell in the file.
func (a *Attribute) Place(ingredient int) (line, column int) {
	p := a.places[ingredient]
	return p.line, p.column
}

// Cell returns the address of an ingredient's cell in a workbook, such as
// Sheet1!C4; it is empty for other files.
func (a *Attribute) Cell(ingredient int) string { return a.places[ingredient].cell }

// Grouping returns the attribute that divides the ingredients into groups: the named one. For an
// empty name, it is the first whose values are text, at most two for three ingredients, or nil if
// there is none.
func (in *Ingredients) Grouping(name string) *Attribute {
	if name != "" {
		a, _ := in.Attribute(name)
		return a
	}
	for k := range in.Attributes {
		a := &in.Attributes[k]
		if _, err := a.Numbers(); err == nil {
			continue
		}
		distinct := make(map[string]bool)
		for _, v := range a.Values {
			distinct[v] = true
		}
		if 3*len(distinct) <= 2*len(a.Values) {
			return a
		}
	}
	return nil
}
