package dataset

import (
	"context"
	"fmt"
	"io"
	"math"
	"slices"
	"strings"

	"kir/internal/inputerr"
	"kir/internal/measure"
	"kir/internal/tablefile"
)

// Ingredients is a list of ingredients. Each has a name and, if the list was read from a file,
// attributes. The list does not change after it has been made.
type Ingredients struct {
	// File is the name of the file that lists the ingredients. It is empty if there is no such
	// file.
	File string

	// Names are the names of the ingredients, which are distinct, in the order of the file.
	Names []string

	// Attributes are the attributes of the ingredients, in the order of the columns.
	Attributes []Attribute

	// Notes are the reader's interpretations of what the file leaves open. Guessed is a layout
	// with those guesses that may well be wrong.
	Notes         []Note
	GuessedLayout Layout

	indexByName map[string]int32 // by name: index into Names
	indexByKey  map[string]int32 // by spellingKey of a name: index into Names
}

// An Attribute is a property that each ingredient has, such as its group or its cost.
type Attribute struct {
	// Name is the name of the attribute's column.
	Name string

	// Values holds one text for each ingredient, empty where the attribute is unknown. Numbers are
	// in plain form, without Affix.
	Values []string

	// Affix is the text that stands beside each number in the file, such as % or €. It is empty if
	// there is none.
	Affix string

	numbers       []float64         // by ingredient: the value as a number, NaN if it is empty or not a number
	notNumberErr  *Error            // error at the first value that is not a number; nil if all values are numbers
	notNumberText string            // text of the first value that is not a number, quoted
	cellPlaces    []tablefile.Place // by ingredient: position of the cell
}

// NewAttribute returns an attribute with the given values, which are numbers in plain form, texts, or empty.
func NewAttribute(name string, values ...string) *Attribute {
	a := &Attribute{Name: name, Values: values}
	for _, value := range values {
		f, ok := measure.ParseNumber(value)
		if value != "" && !ok && a.notNumberErr == nil {
			a.notNumberErr, a.notNumberText = &Error{Message: inputerr.Quote(value) + " is not a number", Hint: "write a number"}, inputerr.Quote(value)
		}
		if !ok {
			f = math.NaN()
		}
		a.numbers = append(a.numbers, f)
	}
	return a
}

// newIngredients returns an empty list of ingredients. The parameter file is the name of its file,
// or empty.
func newIngredients(file string) *Ingredients {
	return &Ingredients{File: file, indexByName: make(map[string]int32), indexByKey: make(map[string]int32)}
}

// NewIngredients returns a list of ingredients without attributes. It returns an error if a name is
// empty or two names are spellings of one ingredient.
func NewIngredients(names ...string) (*Ingredients, error) {
	in := newIngredients("")
	for i, text := range names {
		name := NormalizeName(text)
		if name == "" {
			return nil, fmt.Errorf("ingredient %d has no name", i+1)
		}
		if first, ok := in.find(name); ok {
			return nil, fmt.Errorf("ingredients %d and %d are both called %s: remove one", first+1, i+1, quoteSpellings(in.Names[first], name))
		}
		in.add(name)
	}
	return in, nil
}

// find returns the index of the ingredient with a given name, regardless of case. ok is false if
// there is no such ingredient.
func (in *Ingredients) find(name string) (index int32, ok bool) {
	i, ok := in.indexByName[name]
	if !ok {
		i, ok = in.indexByKey[spellingKey(name)]
	}
	return i, ok
}

// quoteSpellings quotes a name and, if it differs, another spelling of the name.
func quoteSpellings(name, other string) string {
	if name == other {
		return inputerr.Quote(name)
	}
	return inputerr.Quote(name) + " and " + inputerr.Quote(other)
}

// add appends a new ingredient and returns its index.
func (in *Ingredients) add(name string) int32 {
	i := int32(len(in.Names))
	in.indexByName[name], in.indexByKey[spellingKey(name)] = i, i
	in.Names = append(in.Names, name)
	return i
}

// ReadIngredients reads a list of ingredients from a table. The table has a row for each
// ingredient, a column called name, and a column for each attribute. An empty cell is an unknown
// attribute. The file may be CSV or a workbook, as for [Read]. All fields of the layout except
// Columns apply. file is the name of the file in messages. A fault in the file is an [*Error] or an
// [*inputerr.Errors].
func ReadIngredients(r io.Reader, file string, l Layout) (*Ingredients, error) {
	t, err := newTable(r, file, l, measure.DefaultUnits(), isNameColumn)
	if err != nil {
		return nil, unwrapFatal(err)
	}
	return t.readIngredients()
}

// isNameColumn reports whether a column name says that the column holds the names of the
// ingredients.
func isNameColumn(name string) bool { return strings.EqualFold(NormalizeName(name), "name") }

// VisitIngredients opens a workbook and calls visit for each sheet, in order, until visit returns
// false. The first argument of visit is the name of the sheet. The second argument is a function
// that reads the sheet as [ReadIngredients] does.
func VisitIngredients(r io.Reader, file string, visit func(sheet string, read func() (*Ingredients, error)) (more bool)) error {
	w, err := tablefile.OpenWorkbook(contextOf(r), r, file)
	if err != nil {
		return err
	}
	for _, name := range w.Names {
		l := Layout{Sheet: name}
		read := func() (*Ingredients, error) {
			suits := func(row []string) bool { return slices.ContainsFunc(row, isNameColumn) }
			s, err := openSheet(w, l, func(s *tablefile.Sheet) int { return firstWith(s, suits) })
			if err != nil {
				return nil, unwrapFatal(err)
			}
			t, err := s.readTable(l, measure.DefaultUnits(), suits)
			if err != nil {
				return nil, unwrapFatal(err)
			}
			return t.readIngredients()
		}
		if !visit(name, read) {
			break
		}
	}
	return nil
}

// readIngredients reads a list of ingredients from the rows below the header.
func (t *table) readIngredients() (*Ingredients, error) {
	named, err := t.findNameColumn()
	if err != nil {
		return nil, err
	}
	t.dropProfiles()
	t.allowsFootnotes = true
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
			faults.add(t.errorAtPlace(p, "an ingredient without a name", "name it, or remove the row"))
			return
		}
		if t.hasSingleCell(t.row) && remarkPattern().MatchString(name) {
			t.addNote(p, fmt.Sprintf(footnoteFormat, inputerr.Quote(name)), "")
			return
		}
		if first, ok := in.find(name); ok {
			as := ""
			if in.Names[first] != name {
				as = " as " + inputerr.Quote(in.Names[first])
			}
			faults.add(t.errorAtPlace(p, fmt.Sprintf("ingredient %s is there twice: first on line %d%s", inputerr.Quote(name), lines[first], as), "remove one of the rows"))
			return
		}
		in.add(strings.Clone(name))
		lines = append(lines, p.Line)
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
	if len(in.Names) == 0 && len(faults.allErrors) == 0 {
		faults.add(t.errorAtPlace(tablefile.Place{Line: 1, Column: 1}, "there is no ingredient in the file", "add a row for each ingredient below the header"))
	}
	if err := faults.join(); err != nil {
		return nil, err
	}
	for k := range in.Attributes {
		if a := &in.Attributes[k]; a.notNumberErr != nil && t.profiles[t.byName[a.Name]].isMostlyNumeric() {
			bad := a.notNumberErr
			t.addDoubtfulNote(tablefile.Place{Line: bad.Line, Column: bad.Column, Cell: bad.Cell}, a.notNumberText+" in "+inputerr.Quote(a.Name)+" is not a number, while most others are: the column is read as text")
		}
	}
	in.Notes, in.GuessedLayout = t.notes, t.guessedLayout
	return in, nil
}

// findNameColumn returns the index of the column that holds the names of the ingredients. If no
// column is called name, it guesses. It returns an error if no column qualifies.
func (t *table) findNameColumn() (int, error) {
	named, err := t.findUniqueColumn("name")
	if err != nil || named >= 0 {
		return named, err
	}
	for _, word := range append([]string{string(IngredientColumn)}, roleWords[IngredientColumn]...) {
		if i := t.findColumn(word); i >= 0 {
			t.addNote(t.headerPlaces[i], "column "+inputerr.Quote(t.header[i])+" is taken as the name", "")
			return i, nil
		}
	}
	hint := "name the column of the ingredients' names so"
	if mean, ok := inputerr.Nearest("name", t.header); ok {
		hint += "; is it " + inputerr.Quote(mean) + "?"
	} else if p := &t.profiles[0]; t.header[0] != "" && p.numberCount == 0 && p.filledCount > 1 && p.allDistinct {
		// A wrong guess is noticed: recipes have ingredients that the list does not.
		t.addNote(t.headerPlaces[0], "column "+inputerr.Quote(t.header[0])+", the first, is taken as the name", "")
		return 0, nil
	}
	return 0, t.errorInHeader(0, "no column is called \"name\"", hint)
}

// addCell adds the value of one more ingredient. field is the index of the cell in the current row,
// and text is the content of the cell.
func (a *Attribute) addCell(t *table, field int, text string) {
	value := strings.Clone(t.plainCell(field, NormalizeName(text)))
	if p := &t.profiles[field]; p.isNumeric() {
		a.Affix = p.firstAffix
	}
	a.Values = append(a.Values, value)
	a.cellPlaces = append(a.cellPlaces, t.place(field))
	f := math.NaN()
	if value != "" {
		var ok bool
		if f, ok = measure.ParseNumber(value); !ok && a.notNumberErr == nil {
			a.notNumberErr, a.notNumberText = t.notNumberError(field, value), inputerr.Quote(value)
		}
	}
	a.numbers = append(a.numbers, f)
}

// ReadIngredientsFile reads a list of ingredients from the file at path, as [ReadIngredients] does.
func ReadIngredientsFile(ctx context.Context, path string, l Layout) (*Ingredients, error) {
	return readFile(ctx, path, func(r io.Reader) (*Ingredients, error) { return ReadIngredients(r, path, l) })
}

// Len returns the number of ingredients.
func (in *Ingredients) Len() int { return len(in.Names) }

// Index returns the index of the ingredient with a name, regardless of case. ok is false if there
// is no such ingredient.
func (in *Ingredients) Index(name string) (index int, ok bool) {
	i, ok := in.find(NormalizeName(name))
	return int(i), ok
}

// Attribute returns the attribute with a name. The name may omit the unit that the column's name
// ends with, unless two attributes differ only in that unit. ok is false if there is no such
// attribute.
func (in *Ingredients) Attribute(name string) (attribute *Attribute, ok bool) {
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

// Numbers returns the attribute of each ingredient as a number, NaN where the attribute is unknown.
// If a value is not a finite number, the error is an [*Error] with the position of the first such
// value.
func (a *Attribute) Numbers() ([]float64, error) {
	if a.notNumberErr != nil {
		return nil, a.notNumberErr
	}
	return slices.Clone(a.numbers), nil
}

// CellPosition returns the line and the column in the file, counted from 1, of an ingredient's cell.
// ingredient is an index into Ingredients.Names.
func (a *Attribute) CellPosition(ingredient int) (line, column int) {
	p := a.cellPlaces[ingredient]
	return p.Line, p.Column
}

// CellAddress returns the address of an ingredient's cell in a workbook, such as Sheet1!C4. The address is
// empty for other files. ingredient is an index into Ingredients.Names.
func (a *Attribute) CellAddress(ingredient int) string { return a.cellPlaces[ingredient].Cell }

// Grouping returns the attribute that divides the ingredients into groups. It is the attribute with
// the given name or, if the name is empty, the first attribute of text with at most two distinct
// values for every three ingredients. It returns nil if there is no such attribute.
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
