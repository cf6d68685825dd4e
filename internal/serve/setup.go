package serve

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"kir/internal/compile"
	"kir/internal/config/schema"
	"kir/internal/dataset"
	"kir/internal/inputerr"
	"kir/internal/measure"
)

// SetupOptions say how the setup page begins. The setup page makes a problem from a table.
type SetupOptions struct {
	// Table is the path of a table that is opened at the beginning. If it is empty, the page asks for
	// a table.
	Table string

	// Dir is the directory in which a new directory is created for a problem that is made from an
	// uploaded table. A problem that is made from the file Table is written next to that file.
	Dir string

	// HidePaths says that the page names no paths of files, as where a browser's storage has them.
	HidePaths bool

	// OnWritten is called with the path of the problem file once it is written, before the page of the
	// problem is opened. It may be nil.
	OnWritten func(file string)
}

// A setup is a problem that the user is preparing. It has the tables that the user opened and the
// user's answers to questions about the tables. The page is computed from the tables and the
// answers alone, so closing the page loses nothing.
type setup struct {
	options SetupOptions

	useSemaphore chan struct{}              // channel with space for one value; it is full while a request uses the setup
	tables       map[tableKind]*loadedTable // maps what a table contains to the table
	answers
	answersBySheet map[string]answers  // by name of a sheet of the workbook: the answers about it, while another sheet is shown
	shownSheet     string              // sheet of the workbook that the page shows; empty if there is none
	isWritten      bool                // whether the problem file was written
	modelCache     *compile.ModelCache // models that were learnt to check the problem
}

// acquire waits until no other request uses the setup, and then reserves it. It returns an error if
// ctx ends before.
func (b *setup) acquire(ctx context.Context) error {
	select {
	case b.useSemaphore <- struct{}{}:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// release lets the next request use the setup.
func (b *setup) release() { <-b.useSemaphore }

// An answers value has the user's answers to the questions about the tables.
type answers struct {
	tableLayout        dataset.Layout                    // roles of the columns, names of ingredients, and rows that are left out or included
	questions          []tableQuestion                   // questions that the page continues to show after they were answered
	unitSizes          map[string]string                 // maps the name of a unit to its size, such as "5 cl"
	objectives         map[string]compile.DraftObjective // maps the key of a [compile.Target] to the objective that the user chose; nil: the default objectives
	enabledConstraints map[string]bool                   // maps the key of a constraint to whether the constraint is on
	stockBatch         string                            // size of a batch for which the stock must suffice, such as "700 ml"
	noPairObjective    bool                              // whether the problem gets no objective that favours ingredients that occur together in the recipes
	isSetColumn        map[string]bool                   // maps the name of a column to whether the user says that the value is set and not measured
	recipesPerRound    int                               // number of recipes that are made at a time; 0: the default
	ingredientsSheet   string                            // sheet of the workbook that is used as table of ingredients; empty: none
	usesAsides         bool                              // whether what the table says of the ingredients, such as prices, is used as a table of ingredients
	usesDilutions      bool                              // whether a table of constituents is written of the ingredients that are dilutions
}

// A tableQuestion is a question that the page continues to show after it was answered. It is about
// the role of a column, about two spellings of an ingredient, about a row that may not be a recipe,
// about a mark or an encoding of the whole table, or about the size of a unit.
type tableQuestion struct {
	column                string // name of the column; empty if the question is not about a column
	hasBounds             bool   // whether the question is about bounds such as <5 in the column, which are read as numbers
	turned                bool   // whether the column names the ingredients of a table with a column for each recipe
	spelling              string // spelling of an ingredient's name; empty if the question is not about spellings
	otherSpelling         string // another spelling that may mean the same ingredient as spelling
	assumedSameIngredient bool   // whether kir assumes by default that both spellings mean the same ingredient
	row                   string // name of the row; empty if the question is not about a row
	leftOutByDefault      bool   // whether kir leaves the row out unless the user includes it
	setting               string // setting of the whole table: [decimalSetting] or [encodingSetting]; empty if the question is not about one
	place                 string // cell or line of the table that the question is about; may be empty
	unit                  string // name of the unit; empty if the question is not about one
	sizes                 []string
	unknown               string // text that may stand for a value which is not known; empty if the question is not about one
	message               string
}

// Settings of a whole table that the page asks about.
const (
	decimalSetting  = "decimal"
	encodingSetting = "encoding"
)

// A tableKind says what a table contains.
type tableKind string

const (
	recipesTable     tableKind = "recipes"
	ingredientsTable tableKind = "ingredients"
)

// A loadedTable is a table in memory. It was either uploaded or read from a file.
type loadedTable struct {
	name string // name of the table in messages; an uploaded table is written to a file of this name
	data []byte
	path string // path of the file from which the table was read; empty if the table was uploaded
}

// maxUploadBytes is the maximum size, in bytes, of an uploaded table. The same limit holds for
// workbooks that are read from files.
const maxUploadBytes = 32 << 20

// open returns a reader of the table. Reading fails after ctx has ended.
func (u *loadedTable) open(ctx context.Context) io.ReadCloser {
	return dataset.WithContext(ctx, io.NopCloser(bytes.NewReader(u.data)))
}

// newSetup returns a setup. If the options name a table, newSetup reads the table.
func newSetup(ctx context.Context, o SetupOptions) (*setup, error) {
	b := &setup{options: o, modelCache: new(compile.ModelCache), useSemaphore: make(chan struct{}, 1), tables: make(map[tableKind]*loadedTable)}
	var err error
	if b.options.Dir, err = filepath.Abs(o.Dir); err != nil {
		return nil, err
	}
	if o.Table == "" {
		return b, nil
	}
	in, err := dataset.OpenFile(ctx, o.Table)
	if err != nil {
		return nil, err
	}
	data, err := io.ReadAll(io.LimitReader(in, maxUploadBytes+1))
	if err := errors.Join(err, in.Close()); err != nil {
		return nil, fmt.Errorf("%s: %w", o.Table, err)
	}
	if len(data) > maxUploadBytes {
		return nil, &inputerr.Error{File: o.Table, Message: fmt.Sprintf("the table has more than %d MiB", maxUploadBytes>>20), Hint: "use kir init for larger tables, then kir serve with the problem file that it writes"}
	}
	if b.options.Dir, err = filepath.Abs(filepath.Dir(o.Table)); err != nil {
		return nil, err
	}
	b.tables[recipesTable] = &loadedTable{name: filepath.Base(o.Table), data: data, path: o.Table}
	return b, nil
}

// tableExtensions lists the file extensions that tables may have.
var tableExtensions = []string{".xlsx", ".ods", ".fods", ".csv", ".tsv", ".tab", ".txt"}

// IsTable reports whether the name of a file has the extension of a table.
func IsTable(path string) bool {
	return slices.Contains(tableExtensions, strings.ToLower(filepath.Ext(path)))
}

// safeName converts a name that the page sent to a safe file name. It keeps letters, digits,
// hyphens and underscores. It adds the file extension for the format of the data.
func safeName(name string, data []byte) string {
	name = name[strings.LastIndexAny(name, `/\`)+1:]
	ext := strings.ToLower(filepath.Ext(name))
	stem := strings.TrimSuffix(name, filepath.Ext(name))
	switch {
	case bytes.HasPrefix(data, []byte("PK\x03\x04")):
		if ext != ".ods" {
			ext = ".xlsx"
		}
	case !slices.Contains(tableExtensions, ext) || ext == ".xlsx" || ext == ".ods":
		ext = ".csv"
	}
	const longest = 60
	var b strings.Builder
	for _, r := range strings.ToValidUTF8(stem, "") {
		if b.Len() >= longest {
			break
		}
		switch {
		case unicode.IsLetter(r) || unicode.IsDigit(r) || strings.ContainsRune("-_", r):
			b.WriteRune(r)
		case b.Len() > 0 && !strings.HasSuffix(b.String(), "-"):
			b.WriteByte('-')
		}
	}
	if stem = strings.Trim(b.String(), "-"); stem == "" {
		stem = "recipes"
	}
	return stem + ext
}

// addTable adds a table that the page uploaded. A table of recipes replaces all earlier tables and
// answers.
func (b *setup) addTable(kind tableKind, name string, data []byte) error {
	if b.isWritten {
		return errAlreadyMade
	}
	if len(bytes.TrimSpace(data)) == 0 {
		return &inputerr.Error{Message: "there is nothing in the table", Hint: "choose a file with a row of column names and a row for each recipe"}
	}
	u := &loadedTable{name: safeName(name, data), data: data}
	if kind == ingredientsTable {
		if b.tables[recipesTable] == nil {
			return &inputerr.Error{Message: "there are no recipes yet", Hint: "open the table of recipes first"}
		}
		if b.tables[recipesTable].name == u.name {
			u.name = "ingredients-" + u.name
		}
		b.tables[kind] = u
		return nil
	}
	b.dropTablesAndAnswers()
	b.tables[recipesTable] = u
	return nil
}

// dropTablesAndAnswers removes all tables and all answers from the setup.
func (b *setup) dropTablesAndAnswers() {
	b.tables = make(map[tableKind]*loadedTable)
	b.answers, b.answersBySheet, b.shownSheet = answers{}, nil, ""
}

// errAlreadyMade is the error for a request that arrives after the problem file was written.
var errAlreadyMade = &inputerr.Error{Message: "the problem was made already", Hint: "reload the page, which shows it"}

// An answer is the user's answer to a question about the tables, as the page sends it. The field Do
// names the question. Each question uses only some of the other fields.
type answer struct {
	Do        string                 `json:"do"`   // name of the question, such as "column"
	Name      string                 `json:"name"` // name of the column, row, unit or other thing that the answer is about
	Value     string                 `json:"value"`
	On        bool                   `json:"on"` // whether the user switched an option on
	Objective compile.DraftObjective `json:"goal"`
}

// maxAnswers is the maximum number of stored answers. The page for a usual table offers far fewer.
const maxAnswers = 1 << 18

// invalidError returns the error for an answer with an impossible value.
func (a answer) invalidError() error {
	return &inputerr.Error{Message: fmt.Sprintf("%s of %s cannot be %s", inputerr.Quote(a.Do), inputerr.Quote(a.Name), inputerr.Quote(a.Value))}
}

// applyAnswer checks an answer and stores it in the setup.
func (b *setup) applyAnswer(ctx context.Context, a answer) error {
	if b.isWritten {
		return errAlreadyMade
	}
	if len(b.tableLayout.Columns)+len(b.isSetColumn)+len(b.objectives)+len(b.enabledConstraints)+len(b.unitSizes) > maxAnswers {
		return a.invalidError()
	}
	switch a.Do {
	case "column":
		return b.setColumnRole(a)
	case "names":
		return b.setIngredientName(a)
	case "row":
		b.toggleRow(a)
	case "unknown":
		b.toggleUnknown(a)
	case "decimal":
		decimal, err := measure.ParseDecimal(a.Value)
		if err != nil {
			return a.invalidError()
		}
		b.tableLayout.Decimal = decimal
		b.keepQuestion(tableQuestion{setting: decimalSetting, message: "what is the decimal mark?"})
	case "encoding":
		if !slices.Contains(compile.Encodings, a.Value) {
			return a.invalidError()
		}
		b.tableLayout.Encoding = a.Value
	case "sheet":
		b.chooseSheet(a.Value)
	case "size":
		return b.setUnitSize(a)
	case "goal", "bound":
		return b.applyRequirement(ctx, a)
	case "batch":
		b.stockBatch = a.Value
	case "round":
		n, err := strconv.Atoi(a.Value)
		if err != nil || n < 1 || n > 100 {
			return a.invalidError()
		}
		b.recipesPerRound = n
	case "pairs":
		b.noPairObjective = !a.On
	case "set":
		if b.isSetColumn == nil {
			b.isSetColumn = make(map[string]bool)
		}
		b.isSetColumn[dataset.NormalizeName(a.Name)] = a.On
	case "alone":
		b.ingredientsSheet, b.usesAsides = "", false
		delete(b.tables, ingredientsTable)
	case "shelf":
		b.ingredientsSheet = ""
		if a.On {
			b.ingredientsSheet, b.usesAsides = a.Name, false
		}
	case "asides":
		if b.usesAsides = a.On; a.On {
			b.ingredientsSheet = ""
		}
	case "dilutions":
		b.usesDilutions = a.On
	case "anew":
		b.restart()
	default:
		return &inputerr.Error{Message: "an answer cannot be " + inputerr.Quote(a.Do)}
	}
	return nil
}

// setColumnRole stores the role of a column.
func (b *setup) setColumnRole(a answer) error {
	role, err := dataset.ParseRole(a.Value)
	if err != nil {
		return a.invalidError()
	}
	b.tableLayout = b.tableLayout.Merge(dataset.Layout{Columns: map[string]dataset.Role{dataset.NormalizeName(a.Name): role}})
	if role == dataset.RecipeColumn || role == dataset.AmountColumn || role == dataset.UnitColumn {
		for name, other := range b.tableLayout.Columns { // only one column can have this role
			if other == role && name != dataset.NormalizeName(a.Name) {
				delete(b.tableLayout.Columns, name)
			}
		}
	}
	return nil
}

// toggleUnknown stores whether a text among numbers stands for a value that is not known.
func (b *setup) toggleUnknown(a answer) {
	text := dataset.NormalizeName(a.Name)
	b.keepQuestion(tableQuestion{unknown: text, message: fmt.Sprintf("does %s mean not measured?", inputerr.Quote(text))})
	b.tableLayout.Unknown = slices.DeleteFunc(slices.Clone(b.tableLayout.Unknown), func(other string) bool { return other == text })
	if a.On {
		b.tableLayout = b.tableLayout.Merge(dataset.Layout{Unknown: []string{text}})
	}
}

// setIngredientName stores which ingredient a name in the table stands for. If a.On is false, it
// removes this information.
func (b *setup) setIngredientName(a answer) error {
	if a.Value == "" || len(a.Value) > 1<<10 {
		return a.invalidError()
	}
	if a.On && b.tableLayout.Names[dataset.NormalizeName(a.Name)] == "" && a.Value == a.Name+" (2)" {
		b.keepQuestion(tableQuestion{spelling: a.Name, otherSpelling: strings.TrimSuffix(a.Value, " (2)"), assumedSameIngredient: true,
			message: fmt.Sprintf("is %s the ingredient of this name?", inputerr.Quote(a.Name))})
	}
	names := maps.Clone(b.tableLayout.Names)
	delete(names, dataset.NormalizeName(a.Name))
	b.tableLayout.Names = names
	if a.On {
		b.tableLayout = b.tableLayout.Merge(dataset.Layout{Names: map[string]string{dataset.NormalizeName(a.Name): a.Value}})
	}
	return nil
}

// toggleRow leaves a row of the table out if a.On is true, and otherwise includes the row. Only a
// difference from what kir does by default is stored.
func (b *setup) toggleRow(a answer) {
	at := slices.IndexFunc(b.questions, func(o tableQuestion) bool { return o.row != "" && o.row == a.Name })
	not := func(name string) bool { return name == a.Name }
	b.tableLayout.Without = slices.DeleteFunc(slices.Clone(b.tableLayout.Without), not)
	b.tableLayout.Including = slices.DeleteFunc(slices.Clone(b.tableLayout.Including), not)
	switch left := at >= 0 && b.questions[at].leftOutByDefault; {
	case left && !a.On:
		b.tableLayout = b.tableLayout.Merge(dataset.Layout{Including: []string{a.Name}})
	case !left && a.On:
		b.tableLayout = b.tableLayout.Merge(dataset.Layout{Without: []string{a.Name}})
	}
}

// setUnitSize stores the size of a unit that has no fixed size.
func (b *setup) setUnitSize(a answer) error {
	if _, err := measure.DefaultUnits().With(a.Name, a.Value); err != nil {
		return a.invalidError()
	}
	b.unitSizes = maps.Clone(b.unitSizes)
	if b.unitSizes == nil {
		b.unitSizes = make(map[string]string)
	}
	b.unitSizes[dataset.NormalizeName(a.Name)] = a.Value
	b.keepQuestion(tableQuestion{unit: dataset.NormalizeName(a.Name), sizes: fillUpSizes, message: fmt.Sprintf("how much is 1 %s?", dataset.NormalizeName(a.Name))})
	return nil
}

// chooseSheet shows another sheet of the workbook, with the answers that were given about it before.
func (b *setup) chooseSheet(name string) {
	if b.shownSheet != "" && (b.tableLayout.Sheet == "" || b.tableLayout.Sheet == b.shownSheet) {
		if b.answersBySheet == nil || len(b.answersBySheet) >= maxAnswers {
			b.answersBySheet = make(map[string]answers)
		}
		b.answersBySheet[b.shownSheet] = b.answers
	}
	b.answers = b.answersBySheet[name]
	b.tableLayout.Sheet = name
}

// keepQuestion stores a question, which the page then shows with its answer, unless it is stored.
func (b *setup) keepQuestion(q tableQuestion) {
	known := func(o tableQuestion) bool {
		return o.column == q.column && o.hasBounds == q.hasBounds && o.spelling == q.spelling && o.row == q.row && o.setting == q.setting && o.unit == q.unit && o.unknown == q.unknown
	}
	if len(b.questions) < maxShownQuestions && !slices.ContainsFunc(b.questions, known) {
		b.questions = append(slices.Clip(b.questions), q)
	}
}

// fillUpSizes are the offered sizes of a unit that is no measure, such as top.
var fillUpSizes = []string{"1 cl", "3 cl", "6 cl", "9 cl", "12 cl"}

// restart removes all answers and all uploaded tables. A table that the command line names stays
// open.
func (b *setup) restart() {
	if b.options.Table == "" {
		b.dropTablesAndAnswers()
		return
	}
	b.answers, b.answersBySheet = answers{}, nil
	delete(b.tables, ingredientsTable)
}

// applyRequirement stores an answer about an objective or a constraint. After an answer about an
// objective, the default objectives count as if the user had chosen them.
func (b *setup) applyRequirement(ctx context.Context, a answer) error {
	r, err := b.readTables(ctx)
	if ctx.Err() != nil {
		return ctx.Err()
	}
	if err != nil || r.draft == nil {
		return &inputerr.Error{Message: "the table cannot be read yet"}
	}
	if a.Do == "bound" {
		if b.enabledConstraints = maps.Clone(b.enabledConstraints); b.enabledConstraints == nil {
			b.enabledConstraints = make(map[string]bool)
		}
		if !slices.ContainsFunc(r.draft.OfferedBounds(), func(o compile.Bound) bool { return o.Key == a.Name }) {
			return &inputerr.Error{Message: "there is no constraint " + inputerr.Quote(a.Name)}
		}
		b.enabledConstraints[a.Name] = a.On
		return nil
	}
	objectives, found := make(map[string]compile.DraftObjective), false
	for _, t := range r.draft.Targets() {
		objectives[t.Key] = t.Objective
		found = found || t.Key == a.Name
	}
	if !found {
		return &inputerr.Error{Message: "there is no objective " + inputerr.Quote(a.Name)}
	}
	objectives[a.Name] = a.Objective
	b.objectives = objectives
	return nil
}

// A tableReading has the contents of the tables, read in the way that the user's answers say.
type tableReading struct {
	draft          *compile.Draft       // problem drafted from the tables; nil if the table of recipes cannot be read
	ingredients    *dataset.Ingredients // ingredients of the recipes, with their attributes
	sheet          string               // name of the sheet of the workbook that is used as table of ingredients; empty if there is none
	asides         []byte               // text of the table of ingredients that is written of what the table says of them; nil if there is none
	asidesText     string               // what the table says of the ingredients, in words; empty if it says nothing or has a table of ingredients
	constituents   []byte               // text of the table of constituents that is written of dilutions; nil if there is none
	dilutionsText  string               // which ingredients are dilutions, in words; empty if none is
	recipesErr     error                // error in the table of recipes
	ingredientsErr error                // error in the table of ingredients
}

// readTables reads the tables in the way that the user's answers say. Errors in the tables are part
// of the result. The returned error is a failure of the machine or the error of ctx.
func (b *setup) readTables(ctx context.Context) (*tableReading, error) {
	u := b.tables[recipesTable]
	if u == nil {
		return &tableReading{}, nil
	}
	r := &tableReading{}
	d := &compile.Draft{ModelCache: b.modelCache, Table: u.name, Units: b.unitSizes, Objectives: b.objectives, Bounds: b.enabledConstraints, Batch: b.stockBatch, NoPairs: b.noPairObjective, RecipesPerBatch: b.recipesPerRound}
	for _, name := range slices.Sorted(maps.Keys(b.isSetColumn)) {
		if b.isSetColumn[name] {
			d.SetColumns = append(d.SetColumns, name)
		} else {
			d.MeasuredColumns = append(d.MeasuredColumns, name)
		}
	}
	o := dataset.Options{Layout: b.tableLayout, Units: measure.DefaultUnits()}
	for _, name := range slices.Sorted(maps.Keys(b.unitSizes)) {
		with, err := o.Units.With(name, b.unitSizes[name])
		if err != nil {
			return nil, err
		}
		o.Units = with
	}
	table := compile.Table{Name: u.name, Open: func() (io.ReadCloser, error) { return u.open(ctx), nil }}
	if in := b.tables[ingredientsTable]; in != nil {
		list, err := dataset.ReadIngredients(in.open(ctx), in.name, dataset.Layout{})
		if err != nil {
			r.ingredientsErr = err
		} else {
			o.Ingredients, d.Ingredients, d.IngredientsLayout = list, in.name, list.GuessedLayout
		}
	}
	var err error
	if err = d.ReadTable(table, o); ctx.Err() != nil {
		return nil, ctx.Err()
	} else if err != nil {
		if len(inputerr.All(err)) == 0 {
			return nil, err
		}
		r.recipesErr = err
		return r, nil
	}
	if o.Ingredients == nil && d.Book != nil {
		d.FindIngredientsSheets(table)
		r.asidesText = d.AsidesText()
		// Where the sheet does not fit any more, as after another answer, the recipes are read without it.
		if b.ingredientsSheet != "" && d.UseIngredientsSheet(table, o, b.ingredientsSheet) == nil {
			r.sheet = b.ingredientsSheet
		}
		if b.usesAsides && r.asidesText != "" {
			if r.asides, err = d.UseAsides(table, o, b.newTableName("ingredients")); err != nil {
				r.asides = nil
			}
		}
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
	}
	if d.Book != nil {
		r.ingredients, r.dilutionsText = d.Book.Ingredients, d.DilutionsText()
	}
	if b.usesDilutions && r.dilutionsText != "" {
		if r.constituents, err = d.UseDilutions(b.newTableName("constituents")); err != nil {
			return nil, err
		}
	}
	if d.Objectives != nil {
		d.Objectives = keptObjectives(d)
	}
	r.draft = d
	return r, ctx.Err()
}

// keptObjectives returns the objectives that the user chose, or nil if no quantity that the user wants optimised is in the
// tables any more, so that the default objectives count.
func keptObjectives(d *compile.Draft) map[string]compile.DraftObjective {
	wanted, there := false, false
	targets := d.Targets()
	for key, g := range d.Objectives {
		if g.Direction != compile.NoDirection {
			wanted = true
			there = there || slices.ContainsFunc(targets, func(t compile.Target) bool { return t.Key == key && len(t.Directions) > 0 })
		}
	}
	if wanted && !there {
		return nil
	}
	return d.Objectives
}

// newTableName returns the name of the file for a table that is written beside the problem, such as ingredients.csv. Next
// to a table of recipes on the command line the name begins with that of the table.
func (b *setup) newTableName(stem string) string {
	u := b.tables[recipesTable]
	if u.path != "" {
		return unusedName(b.options.Dir, strings.TrimSuffix(u.name, filepath.Ext(u.name))+"-"+stem, ".csv")
	}
	for _, uploaded := range b.tables {
		if strings.EqualFold(uploaded.name, stem+".csv") {
			return stem + "-2.csv"
		}
	}
	return stem + ".csv"
}

// destination returns the directory and the file name to which the problem will be written. There
// is no such file yet. The result isNew is true if the directory does not exist either.
func (b *setup) destination() (dir, problemFile string, isNew bool) {
	u := b.tables[recipesTable]
	stem := strings.TrimSuffix(u.name, filepath.Ext(u.name))
	if u.path != "" {
		return b.options.Dir, unusedName(b.options.Dir, stem, ".yaml"), false
	}
	return filepath.Join(b.options.Dir, unusedName(b.options.Dir, stem, "")), "problem.yaml", true
}

// unusedName returns a file name that does not exist in the directory. The name consists of base, a
// number if necessary, and the extension ext.
func unusedName(dir, base, ext string) string {
	for k := 1; ; k++ {
		name := base + ext
		if k > 1 {
			name = base + "-" + strconv.Itoa(k) + ext
		}
		if _, err := os.Lstat(filepath.Join(dir, name)); errors.Is(err, fs.ErrNotExist) || k == 1000 {
			return name
		}
	}
}

// writeProblem writes the problem file and the uploaded tables. It returns the path of the problem
// file. It does not replace any file. After an error it removes the files that it has written.
func (b *setup) writeProblem(ctx context.Context) (path string, err error) {
	if b.isWritten {
		return "", errAlreadyMade
	}
	if b.tables[recipesTable] == nil {
		return "", &inputerr.Error{Message: "there is no table yet", Hint: "open one first"}
	}
	r, err := b.readTables(ctx)
	if err != nil {
		return "", err
	}
	if r.recipesErr != nil {
		return "", r.recipesErr
	}
	dir, name, fresh := b.destination()
	w := &newFiles{dir: dir, hidesPaths: b.options.HidePaths}
	if fresh {
		if err := w.makeDirectory(); err != nil {
			return "", err
		}
	}
	if err := b.writeFiles(ctx, w, r, name); err != nil {
		return "", errors.Join(err, w.removeAll())
	}
	b.isWritten = true
	return filepath.Join(dir, name), nil
}

// writeFiles writes the uploaded tables, the problem file with the given name and the schema of
// problem files. The parameter created records the files.
func (b *setup) writeFiles(ctx context.Context, created *newFiles, reading *tableReading, name string) error {
	draft := reading.draft
	for _, of := range []tableKind{recipesTable, ingredientsTable} {
		if u := b.tables[of]; u != nil && u.path == "" {
			if of == ingredientsTable && draft.Series != nil {
				continue
			}
			if err := created.createFile(u.name, u.data); err != nil {
				return err
			}
		}
	}
	if reading.asides != nil {
		if err := created.createFile(draft.Ingredients, reading.asides); err != nil {
			return err
		}
	}
	if reading.constituents != nil {
		if err := created.createFile(draft.Constituents, reading.constituents); err != nil {
			return err
		}
	}
	shown := make(map[string]bool) // write exactly the constraints that the page showed as chosen
	for _, o := range draft.OfferedBounds() {
		shown[o.Key] = o.On
	}
	draft.Bounds = shown
	text, err := draft.Finish(ctx, filepath.Join(created.dir, name))
	if err != nil {
		return err
	}
	if err := created.createFile(name, text); err != nil {
		return err
	}
	form, err := compile.Schema().JSON()
	if err != nil {
		return err
	}
	if err := created.createFile(schema.FileName, form); err != nil && !fileExists(created.dir, schema.FileName) {
		return err
	}
	return nil
}

// fileExists reports whether a directory has a file with the given name.
func fileExists(dir, name string) bool {
	_, err := os.Lstat(filepath.Join(dir, name))
	return err == nil
}
