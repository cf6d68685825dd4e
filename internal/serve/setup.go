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
)

// SetupOptions say where a problem that is made from a table starts.
type SetupOptions struct {
	// Table is a file with a table to open at once. If it is empty the page asks for one.
	Table string

	// Dir is the directory in which a new directory is created for an uploaded table. A
	// problem made from Table goes beside that file.
	Dir string
}

// A setup is a problem in the making: its tables and a person's answers about them. The page
// is computed from these alone, so closing the page loses nothing.
type setup struct {
	options SetupOptions

	turn   chan struct{} // lock: full while a request uses the setup
	tables map[tableKind]*upload
	answers
	made bool // the problem has been written
}

// acquire waits until no other request uses the setup, or ctx ends.
func (b *setup) acquire(ctx context.Context) error {
	select {
	case b.turn <- struct{}{}:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// release lets the next request use the setup.
func (b *setup) release() { <-b.turn }

// answers are a person's answers about the tables.
type answers struct {
	layout       dataset.Layout
	questions    []tableQuestion // questions that stay visible after they are answered
	units        map[string]string
	goals        map[string]compile.DraftObjective
	bounds       map[string]bool
	batch        string
	noPairs      bool
	origins      map[string]bool // by column: whether a person says that it is set, and not measured
	round        int
	ignoreSheets bool // the other sheets of the workbook are not tables of ingredients
}

// A tableQuestion is a question that stays visible after it is answered. It is about a column,
// two spellings of an ingredient, or a row that may be no recipe.
type tableQuestion struct {
	column  string
	word    string // a spelling that may mean the same as same
	same    string
	guessed bool // kir assumed that both spellings are the same
	row     string
	leftOut bool // kir leaves the row out unless a person includes it
	message string
}

// A tableKind is the kind of the contents of a table.
type tableKind string

const (
	recipesTable     tableKind = "recipes"
	ingredientsTable tableKind = "ingredients"
)

// An upload is a table in memory.
type upload struct {
	name string // for messages; for an uploaded table also the name of its file
	data []byte
	path string // of an existing file; else empty
}

// mostUpload is the greatest size of an uploaded table, the same as for workbooks on disk.
const mostUpload = 32 << 20

// open returns a reader of the table that fails once ctx has ended.
func (u *upload) open(ctx context.Context) io.ReadCloser {
	return dataset.WithContext(ctx, io.NopCloser(bytes.NewReader(u.data)))
}

// newSetup returns a setup, with its table if o names one.
func newSetup(ctx context.Context, o SetupOptions) (*setup, error) {
	b := &setup{options: o, turn: make(chan struct{}, 1), tables: make(map[tableKind]*upload)}
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
	data, err := io.ReadAll(io.LimitReader(in, mostUpload+1))
	if err := errors.Join(err, in.Close()); err != nil {
		return nil, fmt.Errorf("%s: %w", o.Table, err)
	}
	if len(data) > mostUpload {
		return nil, &inputerr.Error{File: o.Table, Message: fmt.Sprintf("the table has more than %d MiB", mostUpload>>20), Hint: "kir init reads larger ones, and kir serve the problem that it writes"}
	}
	if b.options.Dir, err = filepath.Abs(filepath.Dir(o.Table)); err != nil {
		return nil, err
	}
	b.tables[recipesTable] = &upload{name: filepath.Base(o.Table), data: data, path: o.Table}
	return b, nil
}

// tableExtensions are the file extensions of tables.
var tableExtensions = []string{".xlsx", ".ods", ".fods", ".csv", ".tsv", ".tab", ".txt"}

// IsTable reports whether a file's name has the extension of a table.
func IsTable(path string) bool {
	return slices.Contains(tableExtensions, strings.ToLower(filepath.Ext(path)))
}

// safeName makes a file name from a name that the page sent. It keeps letters, digits and a
// few marks, and adds the extension for the data.
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

// addTable adds an uploaded table.
func (b *setup) addTable(of tableKind, name string, data []byte) error {
	if b.made {
		return errMade
	}
	if len(bytes.TrimSpace(data)) == 0 {
		return &inputerr.Error{Message: "there is nothing in the table", Hint: "choose a file with a header and a row for each recipe"}
	}
	u := &upload{name: safeName(name, data), data: data}
	if of == ingredientsTable {
		if b.tables[recipesTable] == nil {
			return &inputerr.Error{Message: "there are no recipes yet", Hint: "open the table of recipes first"}
		}
		if b.tables[recipesTable].name == u.name {
			u.name = "ingredients-" + u.name
		}
		b.tables[of], b.ignoreSheets = u, false
		b.goals, b.bounds = nil, nil
		return nil
	}
	b.reset()
	b.tables[recipesTable] = u
	return nil
}

// reset drops the tables and answers.
func (b *setup) reset() {
	b.tables = make(map[tableKind]*upload)
	b.answers = answers{}
}

var errMade = &inputerr.Error{Message: "the problem was made already", Hint: "reload the page, which shows it"}

// An answer is a person's answer, as the page sends it. Do says which of its other fields
// count.
type answer struct {
	Do        string                 `json:"do"`
	Name      string                 `json:"name"`
	Value     string                 `json:"value"`
	On        bool                   `json:"on"`
	Objective compile.DraftObjective `json:"goal"`
}

// mostAnswers limits the stored answers of each kind. The page of a table offers far fewer.
const mostAnswers = 1 << 18

// check returns the error for an answer with an impossible value.
func (a answer) check() error {
	return &inputerr.Error{Message: fmt.Sprintf("%s of %s cannot be %s", inputerr.Quote(a.Do), inputerr.Quote(a.Name), inputerr.Quote(a.Value))}
}

// applyAnswer applies an answer to the setup.
func (b *setup) applyAnswer(ctx context.Context, a answer) error {
	if b.made {
		return errMade
	}
	if len(b.layout.Columns)+len(b.origins)+len(b.goals)+len(b.bounds)+len(b.units) > mostAnswers {
		return a.check()
	}
	switch a.Do {
	case "column":
		return b.setColumnRole(a)
	case "names":
		return b.setIngredientName(a)
	case "row":
		b.toggleRow(a)
	case "decimal":
		decimal, err := dataset.ParseDecimal(a.Value)
		if err != nil {
			return a.check()
		}
		b.layout.Decimal = decimal
	case "sheet":
		b.answers = answers{layout: dataset.Layout{Sheet: a.Value}}
	case "size":
		return b.setUnitSize(a)
	case "goal", "bound":
		return b.applyRequirement(ctx, a)
	case "batch":
		b.batch = a.Value
	case "round":
		n, err := strconv.Atoi(a.Value)
		if err != nil || n < 1 || n > 100 {
			return a.check()
		}
		b.round = n
	case "pairs":
		b.noPairs = !a.On
	case "set":
		if b.origins == nil {
			b.origins = make(map[string]bool)
		}
		b.origins[dataset.NormalizeName(a.Name)] = a.On
		b.goals = nil // which depend on the labels
	case "alone":
		b.ignoreSheets = true
		delete(b.tables, ingredientsTable)
		b.goals, b.bounds = nil, nil
	case "anew":
		b.startAnew()
	default:
		return &inputerr.Error{Message: "an answer cannot be " + inputerr.Quote(a.Do)}
	}
	return nil
}

// setColumnRole sets the role of a column. It drops the objectives, which depend on the labels.
func (b *setup) setColumnRole(a answer) error {
	role, err := dataset.ParseRole(a.Value)
	if err != nil {
		return a.check()
	}
	b.layout = b.layout.Merge(dataset.Layout{Columns: map[string]dataset.Role{dataset.NormalizeName(a.Name): role}})
	if role == dataset.RecipeColumn || role == dataset.AmountColumn || role == dataset.UnitColumn {
		for name, other := range b.layout.Columns { // only one column can have this role
			if other == role && name != dataset.NormalizeName(a.Name) {
				delete(b.layout.Columns, name)
			}
		}
	}
	b.goals = nil
	return nil
}

// setIngredientName says which ingredient a name in the table means, or no longer says it.
func (b *setup) setIngredientName(a answer) error {
	if a.Value == "" || len(a.Value) > 1<<10 {
		return a.check()
	}
	names := maps.Clone(b.layout.Names)
	delete(names, dataset.NormalizeName(a.Name))
	b.layout.Names = names
	if a.On {
		b.layout = b.layout.Merge(dataset.Layout{Names: map[string]string{dataset.NormalizeName(a.Name): a.Value}})
	}
	return nil
}

// toggleRow toggles a row. A row that kir leaves out is included or left to kir again. Any other row
// is left out or no longer left out.
func (b *setup) toggleRow(a answer) {
	at := slices.IndexFunc(b.questions, func(o tableQuestion) bool { return o.row != "" && o.row == a.Name })
	not := func(name string) bool { return name == a.Name }
	b.layout.Without = slices.DeleteFunc(slices.Clone(b.layout.Without), not)
	b.layout.Including = slices.DeleteFunc(slices.Clone(b.layout.Including), not)
	switch left := at >= 0 && b.questions[at].leftOut; {
	case left && !a.On:
		b.layout = b.layout.Merge(dataset.Layout{Including: []string{a.Name}})
	case !left && a.On:
		b.layout = b.layout.Merge(dataset.Layout{Without: []string{a.Name}})
	}
}

// setUnitSize sets the size of a unit.
func (b *setup) setUnitSize(a answer) error {
	if _, err := dataset.DefaultUnits().With(a.Name, a.Value); err != nil {
		return a.check()
	}
	b.units = maps.Clone(b.units)
	if b.units == nil {
		b.units = make(map[string]string)
	}
	b.units[dataset.NormalizeName(a.Name)] = a.Value
	return nil
}

// startAnew drops all answers, and the tables but one given on the command line.
func (b *setup) startAnew() {
	if b.options.Table == "" {
		b.reset()
		return
	}
	b.answers = answers{}
	delete(b.tables, ingredientsTable)
}

// applyRequirement applies an answer about an objective or a constraint. From then on kir's
// own earlier choices of objectives count as the person's.
func (b *setup) applyRequirement(ctx context.Context, a answer) error {
	r, err := b.read(ctx)
	if ctx.Err() != nil {
		return ctx.Err()
	}
	if err != nil || r.draft == nil {
		return &inputerr.Error{Message: "the table cannot be read yet"}
	}
	if a.Do == "bound" {
		if b.bounds = maps.Clone(b.bounds); b.bounds == nil {
			b.bounds = make(map[string]bool)
		}
		if !slices.ContainsFunc(r.draft.OfferedBounds(), func(o compile.Bound) bool { return o.Key == a.Name }) {
			return &inputerr.Error{Message: "there is no constraint " + inputerr.Quote(a.Name)}
		}
		b.bounds[a.Name] = a.On
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
	b.goals = objectives
	return nil
}

// A tableReading is the contents of the tables, interpreted with the answers.
type tableReading struct {
	draft          *compile.Draft
	ingredients    *dataset.Ingredients
	sheet          string // sheet of the workbook with the ingredients
	lacking        []string
	err            error // error in the table of recipes
	ingredientsErr error // error in the table of ingredients
}

// read reads the tables. The reading has the errors in the tables. read itself returns only
// errors of the machine and that of ctx.
func (b *setup) read(ctx context.Context) (*tableReading, error) {
	u := b.tables[recipesTable]
	if u == nil {
		return &tableReading{}, nil
	}
	r := &tableReading{}
	d := &compile.Draft{Table: u.name, Units: b.units, Objectives: b.goals, Bounds: b.bounds, Batch: b.batch, NoPairs: b.noPairs, Round: b.round}
	for _, name := range slices.Sorted(maps.Keys(b.origins)) {
		if b.origins[name] {
			d.SetColumns = append(d.SetColumns, name)
		} else {
			d.MeasuredColumns = append(d.MeasuredColumns, name)
		}
	}
	o := dataset.Options{Layout: b.layout, Units: dataset.DefaultUnits()}
	for _, name := range slices.Sorted(maps.Keys(b.units)) {
		with, err := o.Units.With(name, b.units[name])
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
			o.Ingredients, d.Ingredients, d.IngredientsLayout = list, in.name, list.Guessed
		}
	}
	if err := d.ReadTable(table, o); ctx.Err() != nil {
		return nil, ctx.Err()
	} else if err != nil {
		if len(inputerr.All(err)) == 0 {
			return nil, err
		}
		r.err = err
		return r, nil
	}
	if o.Ingredients == nil && !b.ignoreSheets {
		r.sheet, r.lacking = d.ReadIngredientsSheet(table, o)
		d.Ingredients = ""
		if r.sheet != "" && len(r.lacking) == 0 {
			d.Ingredients = u.name
		}
	}
	if d.Book != nil {
		r.ingredients = d.Book.Ingredients
	}
	r.draft = d
	return r, ctx.Err()
}

// destination returns where the problem will be written: the directory and an unused file
// name. fresh says that the directory is new.
func (b *setup) destination() (dir, problemFile string, fresh bool) {
	u := b.tables[recipesTable]
	stem := strings.TrimSuffix(u.name, filepath.Ext(u.name))
	if u.path != "" {
		return b.options.Dir, freeName(b.options.Dir, stem, ".yaml"), false
	}
	return filepath.Join(b.options.Dir, freeName(b.options.Dir, stem, "")), "problem.yaml", true
}

// freeName returns a name that no file in a directory has.
func freeName(dir, stem, ext string) string {
	for k := 1; ; k++ {
		name := stem + ext
		if k > 1 {
			name = stem + "-" + strconv.Itoa(k) + ext
		}
		if _, err := os.Lstat(filepath.Join(dir, name)); errors.Is(err, fs.ErrNotExist) || k == 1000 {
			return name
		}
	}
}

// write writes the problem and any uploaded tables, and returns the problem's file. It
// overwrites nothing. If it fails, it removes the files that it wrote.
func (b *setup) write(ctx context.Context) (path string, err error) {
	if b.made {
		return "", errMade
	}
	if b.tables[recipesTable] == nil {
		return "", &inputerr.Error{Message: "there is no table yet", Hint: "open one first"}
	}
	r, err := b.read(ctx)
	if err != nil {
		return "", err
	}
	if r.err != nil {
		return "", r.err
	}
	dir, name, fresh := b.destination()
	w := &newFiles{dir: dir}
	if fresh {
		if err := w.makeDirectory(); err != nil {
			return "", err
		}
	}
	if err := b.writeFiles(ctx, w, r.draft, name); err != nil {
		return "", errors.Join(err, w.remove())
	}
	b.made = true
	return filepath.Join(dir, name), nil
}

// writeFiles writes the uploaded tables, the problem and the schema.
func (b *setup) writeFiles(ctx context.Context, w *newFiles, d *compile.Draft, name string) error {
	for _, of := range []tableKind{recipesTable, ingredientsTable} {
		if u := b.tables[of]; u != nil && u.path == "" {
			if of == ingredientsTable && d.Series != nil {
				continue
			}
			if err := w.create(u.name, u.data); err != nil {
				return err
			}
		}
	}
	shown := make(map[string]bool) // write exactly the constraints that the page showed as chosen
	for _, o := range d.OfferedBounds() {
		shown[o.Key] = o.On
	}
	d.Bounds = shown
	text, err := d.Finish(ctx, filepath.Join(w.dir, name))
	if err != nil {
		return err
	}
	if err := w.create(name, text); err != nil {
		return err
	}
	form, err := compile.Schema().JSON()
	if err != nil {
		return err
	}
	if err := w.create(schema.FileName, form); err != nil && !isTaken(w.dir, schema.FileName) {
		return err
	}
	return nil
}

// isTaken reports whether a directory has a file of a name.
func isTaken(dir, name string) bool {
	_, err := os.Lstat(filepath.Join(dir, name))
	return err == nil
}

// unwritableError returns the error for a file that cannot be written. It says that nothing
// was changed.
func unwritableError(path string, err error) error {
	return &inputerr.Error{Message: inputerr.Quote(path) + " cannot be written: " + err.Error(), Hint: "nothing was made; make room, or start kir serve in a directory that can be written", Err: err}
}
